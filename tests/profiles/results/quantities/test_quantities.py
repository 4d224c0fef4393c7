"""Every quantity's figure of one point by hand: a new quantity fails here until its own is written down."""

import math
from dataclasses import replace
from typing import Any

import pytest
from msgspec.structs import replace as changed

from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Point
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.results.theory.bytes_moved import ONCE
from flashscope.profiles.wire.measurement import Correctness, Figure, Measurement, OutputError, Sample

CORNERS = BlockMask.of([[True, False], [False, True]], 64, 64)
PROBLEM = Problem(seqlen_q=128, seqlen_k=128, heads=2, head_dim=64, block_mask=CORNERS)
KEPT_FLOPS = 4 * 64 * (2 * 64 * 64) * 2  # 4 d for each kept pair of each head
TILED = 2 * (2 * 128 * 64 * 4 + 128 * 4 + 2 * 128 * 64 * 4)  # Q, O and LSE once, K and V for one query block
CLOCKS = {1.0: 1000.0, 2.0: 1100.0, 4.0: 1300.0, 9.0: 1800.0, 30.0: 1810.0}  # MHz by ms; quartiles 2, 4, 9
SAMPLES = tuple(Sample(ms, sm_clock_mhz=mhz) for ms, mhz in CLOCKS.items())
REJECTED = Sample(1e-3, "throttled", sm_clock_mhz=10.0)
READ = {
    "input_bytes": Figure(value=10, source="shapes"),
    "output_bytes": Figure(value=20, source="shapes"),
    "workspace_bytes": Figure(value=5, source="shapes"),
    "kept_bytes": Figure(value=6, source="shapes"),
    "peak_bytes": Figure(value=44, source="an allocator"),
    "device_delta_bytes": Figure(value=3, source="NVML"),
    "prepare_ms": Figure(value=7.0, source="perf_counter"),
    "first_run_ms": Figure(value=8.0, source="CUDA events"),
    "sustained_ms": Figure(value=5.0, low=4.5, high=6.0, source="CUDA events over runs back to back"),
    "sustained_mhz": Figure(
        value=1500.0, low=1400.0, high=1550.0, source="CUDA events over runs back to back"
    ),
    "energy_mj": Figure(value=2000.0, low=1600.0, high=2560.0, source="a counter"),
    "power_w": Figure(value=400.0, low=390.0, high=420.0, source="a counter"),
    "power_limit_w": Figure(value=700.0, source="NVML"),
    "temperature_c": Figure(value=50.0, low=45.0, high=60.0, source="NVML"),
    "slowed": Figure(value=0.25, source="NVML: hardware slowdown 1 of 4"),
    "capped": Figure(value=0.5, source="NVML: software power cap 2 of 4"),
    "other_processes": Figure(value=1, source="NVML"),
    "host_ms": Figure(value=0.5, low=0.25, high=0.75, source="perf_counter around the launch"),
    "dram_read_bytes": Figure(value=900, low=890, high=1000, source="PM sampling, 5 runs"),
    "dram_write_bytes": Figure(value=100, low=90, high=110, source="PM sampling, 5 runs"),
    "dram_writeback_bytes": Figure(value=40, low=30, high=50, source="PM sampling, 5 runs"),
    "l2_bytes": Figure(value=5000, low=4900, high=5100, source="PM sampling, 5 runs"),
    "copy_gbs": Figure(value=4000.0, low=3900.0, high=4100.0, source="CUDA events around a copy of 1024 MiB"),
}
OUTPUTS = (
    OutputError(output="O", error=0.25, bound=0.5),
    OutputError(output="LSE", error=0.125, bound=2.0),
    OutputError(output="O of a row", error=0.0625, bound=0.25, place=(0, 1, 5)),
    *(
        one
        for name in ("dQ", "dK", "dV")
        for one in (
            OutputError(output=name, error=0.75, bound=1.5),
            OutputError(output=f"{name} of a row", error=0.375, bound=1.0, place=(1, 0, 7)),
        )
    ),
)
ORACLE = "float64 oracle"
EXPECTED: dict[str, tuple[Any, ...]] = {  # value, low, high, source
    "runtime": (4.0, 2.0, 9.0, "CUDA events"),
    "speed-up": (3.0, None, None, "standard / flash2"),
    "throughput": (KEPT_FLOPS / 4e9, None, None, "FLOPs of the kept pairs / median"),
    "kept": (0.5, None, None, "counted"),
    "dense-throughput": (2 * KEPT_FLOPS / 4e9, None, None, "FLOPs without the block mask / median"),
    "sustained-throughput": (
        KEPT_FLOPS / 5e9,
        None,
        None,
        "FLOPs of the kept pairs / sustained runtime",
    ),
    "sustained-share": (0.8, None, None, "median of the samples / sustained runtime"),
    "efficiency": (64.0, 50.0, 80.0, "query tokens over the energy of a call"),
    "dram_bytes": (1040, 1010, 1160, "PM sampling, 5 runs, written back with it"),
    "tile_io_bytes": (TILED, None, None, "loads and stores of the algorithm's loops, tiles of 128 × 64"),
    "compulsory_dram_bytes": (
        2 * (4 * 128 * 64 * 4 + 128 * 4),
        None,
        None,
        ONCE,
    ),
    "footprint": (35, None, None, "inputs + outputs + workspace"),
    "predicted": (77, None, None, "shapes and dtypes"),
    "max-error": (0.25, None, None, ORACLE),
    "sm_clock_mhz": (1300.0, 1100.0, 1800.0, "cycles over time on one multiprocessor"),
    "samples": (5, None, None, "counted"),
    "error-bound": (0.5, None, None, "FlashAttention's criterion"),
    "lse-error": (0.125, None, None, ORACLE),
    "row-error": (0.0625, None, None, f"{ORACLE}: sequence 0, head 1, query row 5"),
    **dict.fromkeys(("dq-error", "dk-error", "dv-error"), (0.75, None, None, ORACLE)),
    **dict.fromkeys(("dq-bound", "dk-bound", "dv-bound"), (1.5, None, None, "FlashAttention's criterion")),
    "dq-row-error": (0.375, None, None, f"{ORACLE}: sequence 1, head 0, query row 7"),
    "dk-row-error": (0.375, None, None, f"{ORACLE}: sequence 1, head 0, key row 7"),
    "dv-row-error": (0.375, None, None, f"{ORACLE}: sequence 1, head 0, key row 7"),
    **{key: (figure.value, figure.low, figure.high, figure.source) for key, figure in READ.items()},
}
of_each_quantity = pytest.mark.parametrize("quantity", QUANTITIES.values(), ids=QUANTITIES)


def row_of(kernel: str, **changes: Any) -> PointRow:
    measurement = Measurement(
        timer="CUDA events",
        cold=True,
        figures=READ,
        correctness=Correctness(outputs=OUTPUTS, rows=9, passed=True),
        samples=(*SAMPLES, REJECTED),
    )
    return PointRow(
        point=Point(index=0, kernel=kernel, problem=PROBLEM),
        backend="cuda",
        status="done",
        reason="",
        predicted_bytes=77,
        sampling_ns=None,
        cache_bytes=60 << 20,
        measurement=changed(measurement, **changes),
    )


BASELINE = row_of("standard", samples=(Sample(12.0),))


@of_each_quantity
def test_the_figure_is_that_worked_out_by_hand(quantity: Quantity) -> None:
    figure = quantity.figure(row_of("flash2"), BASELINE)
    assert figure is not None
    assert (figure.value, figure.low, figure.high, figure.source) == EXPECTED[quantity.key]
    assert figure.missing == ""
    assert quantity.relative or quantity.says(row_of("flash2"))


@of_each_quantity
def test_a_point_that_was_not_measured_has_no_figure_but_what_follows_from_its_problem(
    quantity: Quantity,
) -> None:
    figure = quantity.figure(replace(row_of("flash2"), status="pending", measurement=None), BASELINE)
    known = {"kept": 0.5, "predicted": 77, "samples": 0, "tile_io_bytes": TILED}
    known["compulsory_dram_bytes"] = EXPECTED["compulsory_dram_bytes"][0]
    assert (figure.value if figure else None) == known.get(quantity.key)


@of_each_quantity
@pytest.mark.parametrize("absurd", [math.nan, math.inf, -math.inf, 0.0])
def test_no_figure_is_nan_or_infinite_whatever_was_read(quantity: Quantity, absurd: float) -> None:
    figures = {key: Figure(value=absurd, low=absurd, high=absurd) for key in READ}
    row = row_of("flash2", figures=figures, samples=(Sample(absurd, sm_clock_mhz=absurd),))
    for baseline in (BASELINE, row, None):
        figure = quantity.figure(row, baseline)
        for value in (figure.value, figure.low, figure.high) if figure else ():
            assert value is None or math.isfinite(value)


def test_only_a_relative_quantity_asks_for_a_baseline() -> None:
    row = row_of("flash2")
    differing = [q.key for q in QUANTITIES.values() if q.figure(row, None) != q.figure(row, BASELINE)]
    assert differing == [q.key for q in QUANTITIES.values() if q.relative] == ["speed-up"]


def test_an_error_that_is_nan_stays_one() -> None:
    nan = (OutputError(output="O", error=math.nan, bound=1.0),)
    row = row_of("flash2", correctness=Correctness(outputs=nan, rows=9, passed=False))
    figure = QUANTITIES["max-error"].figure(row)
    assert figure is not None
    assert figure.value is not None
    assert math.isnan(figure.value)


def test_a_point_whose_traffic_nobody_counted_says_why_and_has_no_value() -> None:
    uncounted = row_of("flash2", figures={})
    for key in ("dram_bytes", "dram_read_bytes", "dram_write_bytes", "l2_bytes"):
        figure = QUANTITIES[key].figure(uncounted)
        assert figure is not None
        assert (figure.value, figure.missing) == (None, "not counted: the sweep ran without --counters")
        assert not QUANTITIES[key].says(uncounted)


def test_a_counter_that_could_not_be_read_gives_its_reason_for_the_sum_too() -> None:
    missing = Figure(missing="no permission")
    row = row_of("flash2", figures=dict.fromkeys(("dram_read_bytes", "dram_write_bytes"), missing))
    assert QUANTITIES["dram_bytes"].figure(row) == missing


@pytest.mark.parametrize(
    ("energy", "why"), [(Figure(value=0.0), "no energy"), (Figure(missing="no GPU"), "no GPU")]
)
def test_tokens_per_joule_of_no_energy_say_why_there_are_none(energy: Figure, why: str) -> None:
    figure = QUANTITIES["efficiency"].figure(row_of("flash2", figures={"energy_mj": energy}))
    assert figure is not None
    assert figure.value is None
    assert why in figure.missing


def test_what_an_older_version_counted_is_read_and_written_alone() -> None:
    older = {key: figure for key, figure in READ.items() if key != "dram_writeback_bytes"}
    row = row_of("flash2", figures=older)
    total, back = (QUANTITIES[key].figure(row) for key in ("dram_bytes", "dram_writeback_bytes"))
    assert total is not None
    assert (total.value, total.source) == (1000, "PM sampling, 5 runs")
    assert back is not None
    assert "did not look beyond the end of a run" in back.missing


def test_without_a_formula_or_the_size_of_the_cache_the_model_is_missing_with_its_reason() -> None:
    library = QUANTITIES["tile_io_bytes"].figure(row_of("torch-flash"))
    unknown = QUANTITIES["compulsory_dram_bytes"].figure(replace(row_of("flash2"), cache_bytes=None))
    assert library is not None
    assert "no formula for torch-flash" in library.missing
    assert unknown is not None
    assert "cache is not known" in unknown.missing


def test_each_quantity_is_in_one_of_five_groups_and_each_group_has_some() -> None:
    assert {one.group for one in QUANTITIES.values()} == {"Time", "Memory", "Accuracy", "Traffic", "Device"}
    assert all(one.group == "Memory" for one in QUANTITIES.values() if one.title.endswith("footprint"))


def test_a_heading_keeps_the_capitals_of_abbreviations() -> None:
    assert QUANTITIES["lse-error"].short == "largest error of LSE"
    titles = {one.title: one.short for one in QUANTITIES.values() if not one.heading}
    assert {title[1:] for title in titles} == {short[1:] for short in titles.values()}
    assert titles["SM clock"] == "SM clock"
