"""Two instruments' figures agree, differ, or cannot be compared, and each says why."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from msgspec import structs

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.engine.arbiters import read_times
from flashscope.profiles.plan.plan import Point
from flashscope.profiles.results.findings.selfcheck import Check, checks
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.wire.measurement import Figure, Measurement, Sample

OURS = {
    "dram_read_bytes": 900.0,
    "dram_write_bytes": 60.0,
    "dram_writeback_bytes": 40.0,
    "l2_bytes": 5000.0,
}
NCU = "Nsight Compute, 3 runs"
COUNTED = {"dram_bytes": Figure(value=1000.0, source=NCU), "l2_bytes": Figure(value=5000.0, source=NCU)}
ENERGY = {"energy_mj": 300.0, "energy_by_power_mj": 300.0}
LEDGER = {"input_bytes": 1000, "output_bytes": 2000, "workspace_bytes": 0, "peak_bytes": 3000}


def row(**changed: float) -> PointRow:
    values = OURS | LEDGER | ENERGY | changed
    figures = {key: Figure(value=value, source="read") for key, value in values.items()}
    measured = Measurement(timer="CUDA events", cold=True, figures=figures, samples=(Sample(2.0),))
    problem = Problem(seqlen_q=64, seqlen_k=64)
    return PointRow(Point(index=0, kernel="flash2", problem=problem), "cuda", "done", "", 0, 0, measured)


def verdicts(made: list[Check]) -> dict[str, str]:
    return {one.what: one.verdict for one in made}


def test_figures_that_are_alike_agree() -> None:
    made = checks([row()], lambda _: COUNTED, lambda _: [1.9, 2.0, 5.0])
    assert set(verdicts(made).values()) == {"agrees"}
    assert [one.ratio for one in made] == [1.0] * 5


@pytest.mark.parametrize(
    ("changed", "differs"),
    [
        ({"dram_read_bytes": 930.0}, {"dram_bytes"}),
        ({"dram_read_bytes": 915.0}, set()),
        ({"dram_writeback_bytes": 70.0}, {"dram_bytes"}),
        ({"dram_write_bytes": 100.0, "dram_writeback_bytes": 0.0}, set()),  # written sooner
        ({"l2_bytes": 5600.0}, {"l2_bytes"}),
        ({"energy_mj": 316.0}, {"energy_mj"}),
        ({"energy_mj": 314.0}, set()),
        ({"peak_bytes": 3000 + 17 * 512}, {"footprint"}),
        ({"peak_bytes": 3000 + 15 * 512}, set()),
    ],
)
def test_beyond_its_tolerance_a_figure_differs_and_no_other_does(
    changed: dict[str, float], differs: set[str]
) -> None:
    made = checks([row(**changed)], lambda _: COUNTED, lambda _: [2.0])
    assert {what for what, verdict in verdicts(made).items() if verdict == "differs"} == differs


def test_a_runtime_beside_a_profiler_s() -> None:
    for theirs, verdict in ((1.95, "agrees"), (1.8, "differs")):
        made = checks([row()], lambda _: COUNTED, lambda _, theirs=theirs: [theirs])  # type: ignore[misc]
        assert verdicts(made)["runtime"] == verdict


def test_what_another_instrument_cannot_say_is_not_tested_and_says_why() -> None:
    made = checks([row()], lambda _: "ncu is not installed", lambda _: "PyTorch is not installed")
    told = {one.what: (one.verdict, one.missing) for one in made if one.arbiter != "read"}
    assert told == {
        "dram_bytes": ("not tested", "ncu is not installed"),
        "l2_bytes": ("not tested", "ncu is not installed"),
        "runtime": ("not tested", "PyTorch is not installed"),
    }


def test_a_point_that_is_not_done_is_not_asked_about() -> None:
    assert checks([replace(row(), status="failed")], lambda _: COUNTED, lambda _: [2.0]) == []


def test_times_are_read_from_the_last_line_or_their_lack_is_told() -> None:
    assert read_times("a warning\n[1.5, 2.0]\n") == [1.5, 2.0]
    assert "Out of memory" in read_times("", "Traceback\nOut of memory")
    assert read_times("[0.0]") == "PyTorch's profiler saw no kernel"
    assert "no times" in read_times("{}x")


def _always(answer: dict[str, Figure]) -> Callable[[PointRow], dict[str, Figure]]:
    return lambda _: answer


def test_of_runs_that_differ_here_and_there_the_nearest_count() -> None:
    known = row().measurement
    assert known is not None
    spreads = {"dram_read_bytes": (890, 990), "dram_write_bytes": (60, 60), "dram_writeback_bytes": (40, 40)}
    counted = {
        key: Figure(value=OURS[key], low=low, high=high, source="PM sampling, 5 runs")
        for key, (low, high) in spreads.items()
    }
    changed = row().with_measurement(structs.replace(known, figures=known.figures | counted))
    for theirs, low, verdict in [(1100, None, "agrees"), (1150, None, "differs"), (1150, 1100, "agrees")]:
        answer = COUNTED | {"dram_bytes": Figure(value=theirs, low=low, source=NCU)}
        made = checks([changed], _always(answer), lambda _: [2.0])
        assert verdicts(made)["dram_bytes"] == verdict


def test_energy_is_not_checked_where_nothing_else_tells_the_power() -> None:
    known = row().measurement
    assert known is not None
    figures = {key: figure for key, figure in known.figures.items() if key != "energy_by_power_mj"}
    silent = row().with_measurement(structs.replace(known, figures=figures))
    assert "energy_mj" not in verdicts(checks([silent], lambda _: COUNTED, lambda _: [2.0]))
