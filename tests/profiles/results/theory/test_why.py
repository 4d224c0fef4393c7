"""Why a point takes as long as it does, held against points whose bound is known."""

import dataclasses
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Point
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.theory.bytes_moved import LEAST, shared_bytes
from flashscope.profiles.results.theory.why import (
    CERTAIN,
    EXPLAINS,
    REFUTED,
    Load,
    LoadShare,
    Why,
    why,
    whys,
)
from flashscope.profiles.store import load
from flashscope.profiles.wire.ceilings import (
    COPY,
    EXPONENTIALS,
    L2_READS,
    LAST_CACHE,
    SHARED_READS,
    Ceiling,
    Ceilings,
    matmul_key,
)
from flashscope.profiles.wire.measurement import Figure, Measurement, Sample

SESSIONS = Path(__file__).parents[4] / "assets" / "sessions"
DEVICE_L2 = 50 << 20
PROBLEM = Problem(seqlen_q=8192, seqlen_k=8192, heads=16, head_dim=128, dtype="bfloat16")
PAIRS = 16 * 8192**2
FLOPS = 4 * 128 * PAIRS  # 0.55e12
MOVED = 8 * PAIRS + PROBLEM.input_bytes + PROBLEM.output_bytes  # S and P, each written and read


def ceiling(value: float | None, mhz: float | None = None) -> Ceiling:
    figure = Figure(missing="no cuBLAS") if value is None else Figure(value=value, source="a load")
    return Ceiling(figure=figure, sm_clock_mhz=mhz)


CEILINGS = Ceilings(
    rates={
        COPY: ceiling(4000.0, 1900.0),
        matmul_key("bfloat16"): ceiling(800.0, 1600.0),
        matmul_key("float32"): ceiling(50.0, 1600.0),
        EXPONENTIALS: ceiling(4000.0, 2000.0),
    }
)


WITH_LEVELS = Ceilings(
    rates={**CEILINGS.rates, L2_READS: ceiling(7500.0), SHARED_READS: ceiling(32_000.0, 1980.0)}
)


def point(
    kernel: str,
    ms: float,
    problem: Problem = PROBLEM,
    mhz: float | None = None,
    **figures: float,
) -> PointRow:
    return PointRow(
        point=Point(index=0, kernel=kernel, problem=problem),
        backend="cuda",
        status="done",
        reason="",
        predicted_bytes=0,
        sampling_ns=None,
        measurement=Measurement(
            timer="CUDA events",
            cold=True,
            samples=(Sample(ms, sm_clock_mhz=mhz),) * 3,
            figures={key: Figure(value=value, source="counters") for key, value in figures.items()},
        ),
        part=1,
        cache_bytes=DEVICE_L2,
        memory="HBM",
    )


def told(row: PointRow, ceilings: Ceilings | None = CEILINGS) -> Why:
    found = why(row, ceilings)
    assert found is not None
    return found


def part(found: Why, name: Load) -> LoadShare:
    return next(one for one in found.parts if one.load == name)


def test_standard_is_bound_by_the_bytes_of_s_and_p() -> None:
    found = told(point("standard", MOVED / 4e9 / 0.92))
    assert found.binds == "bytes"
    assert found.share == pytest.approx(0.92)
    assert found.sentence == "Bound by HBM: it moves 8.7 GB (by formula) and reaches 92% of the copy rate."
    assert part(found, "bytes").ms == pytest.approx(MOVED / 4e9)


def test_counted_bytes_take_the_place_of_the_formula() -> None:
    found = told(point("standard", 2.5, dram_read_bytes=5e9, dram_write_bytes=4e9))
    assert part(found, "bytes").amount == 9e9
    assert found.sentence == "Bound by HBM: it moves 9 GB (by counters) and reaches 90% of the copy rate."


def test_one_counter_without_the_other_is_no_count() -> None:
    assert part(told(point("standard", 2.5, dram_read_bytes=5e9)), "bytes").amount == MOVED


def test_a_tiled_kernel_with_a_wide_head_is_bound_by_products() -> None:
    found = told(point("flash3", FLOPS / 800e9 / 0.9))
    assert found.binds == "products"
    assert found.share == pytest.approx(0.9)
    assert found.sentence == "Bound by products: it does 550 GFLOP and reaches 90% of the matmul rate."


def test_a_narrow_head_is_bound_by_exponentials() -> None:
    narrow = Problem(seqlen_q=8192, seqlen_k=8192, heads=16, head_dim=32, dtype="bfloat16")
    found = told(point("flash2", PAIRS / 4e9 / 0.71, narrow))
    assert found.binds == "exponentials"
    assert found.share == pytest.approx(0.71)
    assert found.sentence == "Bound by exponentials: it takes 1.1 G of them and reaches 71% of their rate."


def test_loads_that_come_close_to_the_one_that_binds_are_named() -> None:
    alike = Problem(seqlen_q=8192, seqlen_k=8192, heads=16, head_dim=64, dtype="bfloat16")
    found = told(point("flash3", 256 * PAIRS / 800e9 / 0.8, alike, mhz=1600.0))
    assert found.sentence.endswith("reaches 80% of the matmul rate; exponentials come close (78%).")
    assert "come close" not in told(point("flash3", 256 * PAIRS / 800e9 / 0.8, alike)).sentence


def test_a_kernel_that_reads_its_tiles_again_and_again_is_bound_by_the_cache() -> None:
    found = told(point("flash1", 1.0, l2_bytes=6.6e9), WITH_LEVELS)
    assert found.binds == "cache"
    assert found.sentence == (
        "Bound by L2: it moves 6.6 GB between it and the tiles (by counters) "
        "and reaches 88% of the cache's rate."
    )
    assert part(found, "cache").name == "bytes of L2"


def test_on_a_cpu_the_cache_is_the_last_one() -> None:
    row = dataclasses.replace(point("flash2", 1000.0), backend="cpu")
    rates = Ceilings(rates={**CEILINGS.rates, LAST_CACHE: ceiling(100.0)})
    assert part(told(row, rates), "cache").name == "bytes of the last cache"
    assert part(told(row, rates), "cache").rate == 100.0


def test_a_recording_without_the_rate_of_its_cache_has_three_loads_as_before() -> None:
    assert [one.load for one in told(point("flash2", 1.0)).parts] == ["products", "bytes", "exponentials"]
    assert len(told(point("torch-flash", 1.0), WITH_LEVELS).parts) == 3  # nothing tells its bytes
    slow = told(point("flash2", 10 * FLOPS / 800e9), WITH_LEVELS)
    assert slow.sentence.startswith("None of the five explains it: alone, products would take 10%, ")
    assert "bytes of L2" in slow.sentence
    assert "bytes of shared memory" in slow.sentence


def test_a_kernel_whose_warps_each_read_all_keys_is_bound_by_shared_memory() -> None:
    moved = shared_bytes(point("flash2", 1.0))
    assert moved is not None
    found = told(point("flash2", moved.nbytes / 32e9 / 0.65, mhz=1980.0), WITH_LEVELS)
    assert found.binds == "shared"
    assert found.sentence.startswith("Bound by shared memory: its tiles move 26 GB there (by formula) and ")
    slower = told(point("flash2", moved.nbytes / 32e9 / 0.65, mhz=1485.0), WITH_LEVELS)
    assert part(slower, "shared").rate == pytest.approx(32_000 * 0.75)


@pytest.mark.parametrize(
    "other",
    [
        *({"dtype": "float32"}, {"passes": "backward"}, {"batch": 2, "key_lengths": (5, 8192)}),
        *({"page_size": 64}, {"softcap": 50.0}, {"alibi": True}, {"head_dim_v": 64}),
    ],
)
def test_what_no_formula_counts_has_no_bytes_of_shared_memory(other: dict[str, Any]) -> None:
    problem = structs.replace(PROBLEM, **other)
    assert shared_bytes(point("flash2", 1.0, problem)) is None
    assert shared_bytes(point("torch-flash", 1.0)) is None


def test_a_run_far_below_every_rate_is_explained_by_none_of_them() -> None:
    found = told(point("flash2", 10 * FLOPS / 800e9))
    assert (found.binds, found.share) == (None, None)
    assert found.sentence.startswith(
        "None of the three explains it: alone, products would take 10%, bytes under 1% and "
    )
    assert found.sentence.endswith("the rest is latency, launches, occupancy or other work.")


def test_what_multiprocessors_do_is_brought_to_the_points_clock_and_what_memory_does_is_not() -> None:
    found = told(point("flash3", 1.0, mhz=1000.0))
    assert part(found, "products").rate == pytest.approx(500.0)
    assert part(found, "exponentials").rate == pytest.approx(2000.0)
    assert part(found, "bytes").rate == 4000.0
    assert part(found, "products").rate_source == "a load, from 1600 to the point's 1000 MHz"


def test_a_kernel_without_tensor_cores_is_held_against_the_rate_of_float32() -> None:
    assert part(told(point("simt", 100.0)), "products").rate == 50.0


def test_products_in_8_bits_have_no_rate_and_say_so() -> None:
    found = told(point("flash3-fp8", 0.5))
    assert part(found, "products").missing == "it multiplies in 8 bits, of which no rate was measured"
    assert found.binds is None
    assert "What binds it is not known: alone, " in found.sentence


def test_without_ceilings_the_copy_rate_beside_the_point_still_tells_what_is_bound_by_bytes() -> None:
    slow, fast = (
        told(point(kernel, ms, copy_gbs=4000.0), None) for kernel, ms in (("standard", 2.4), ("flash3", 0.8))
    )
    assert slow.binds == "bytes"
    assert fast.binds is None
    words = "alone, bytes would take 4% of its time; no ceilings were measured with it."
    assert fast.sentence == f"What binds it is not known: {words}"
    nothing = told(point("flash3", 0.8), None)
    assert nothing.sentence == "What binds it is not known: no ceilings were measured with it."


def test_a_rate_that_could_not_be_measured_gives_its_reason() -> None:
    ceilings = Ceilings(rates=CEILINGS.rates | {matmul_key("bfloat16"): ceiling(None)})
    found = told(point("flash3", 5.0), ceilings)
    assert part(found, "products").missing == "no cuBLAS"
    assert found.sentence.endswith("; no cuBLAS.")


def test_a_formula_that_the_run_refutes_binds_nothing() -> None:
    found = told(point("standard", MOVED / 4e9 / 1.6))
    assert found.binds is None
    assert "the formula counts more bytes than it had time to move" in found.sentence
    counted = told(point("standard", 1.0, dram_read_bytes=4e9, dram_write_bytes=1e8))
    assert counted.binds == "bytes"


def test_of_a_causal_run_of_standard_the_bytes_of_the_tiles_it_visits_are_what_binds_it() -> None:
    causal = Problem(seqlen_q=8192, seqlen_k=8192, heads=16, head_dim=128, dtype="bfloat16", causal=True)
    found = told(point("standard", 1.3, causal))
    assert found.sentence == "Bound by HBM: it moves 4.5 GB (by formula) and reaches 86% of the copy rate."


def libraries(*names: str) -> list[PointRow]:
    return [point(name, 2.0) for name in names]


@pytest.mark.parametrize("row", libraries("torch-flash", "torch-cudnn", "flash-attn-4", "flash1"))
def test_bytes_that_a_formula_gives_the_least_of_explain_nothing_by_being_few(row: PointRow) -> None:
    found = told(row)
    assert part(found, "bytes").amount_source == "by formula, at least"
    assert found.sentence.endswith("; it may move more bytes than the formula's.")
    assert found.sentence.startswith("What binds it is not known: alone, products would take 34%, bytes ")
    fast = told(point(row.kernel, FLOPS / 800e9 / 0.9))
    assert fast.binds == "products"
    assert fast.share == pytest.approx(0.9)


def test_a_library_that_keeps_s_and_p_in_memory_has_no_formula_of_its_bytes() -> None:
    found = told(point("torch-math", 70.0))
    assert (
        part(found, "bytes").missing
        == "there is no formula for torch-math, which passes S and P through memory"
    )
    counted = told(point("torch-math", 70.0, dram_read_bytes=1e11, dram_write_bytes=1e11))
    assert counted.sentence == "Bound by HBM: it moves 200 GB (by counters) and reaches 71% of the copy rate."


def test_a_cpu_has_neither_launches_nor_occupancy() -> None:
    on_cpu = dataclasses.replace(point("standard", 1e5), backend="cpu")
    assert told(on_cpu).sentence.endswith("; the rest is other work, such as the passes over S, or waiting.")
    bound = dataclasses.replace(point("standard", MOVED / 4e9 / 0.9), backend="cpu", memory="memory")
    assert told(bound).sentence.startswith("Bound by memory: it moves 8.7 GB (by formula)")


@pytest.mark.parametrize(
    ("device", "memory"),
    [
        ("NVIDIA H200", "HBM"),
        ("NVIDIA A100-SXM4-80GB", "HBM"),
        ("Tesla V100-PCIE-16GB", "HBM"),
        ("NVIDIA GH200 480GB", "HBM"),
        ("NVIDIA B200", "HBM"),
        ("NVIDIA GeForce RTX 4090", "memory"),
        ("NVIDIA L40S", "memory"),
        ("NVIDIA RTX A3000 Laptop GPU", "memory"),
        ("NVIDIA GB10", "memory"),
    ],
)
def test_memory_is_called_hbm_where_the_device_has_such(device: str, memory: str) -> None:
    session = load(SESSIONS / "h200-traffic.flashscope")
    found = Device(backend="cuda", name=device, memory_bytes=1 << 34)
    session.machine = structs.replace(session.machine, devices=(found,))
    row = next(row for row in rows(session) if row.kernel == "standard" and row.seqlen == 16384)
    assert told(row).sentence.startswith(f"Bound by {memory}: it moves ")


def test_a_load_that_would_have_taken_longer_than_the_run_binds_nothing_and_says_what_is_off() -> None:
    found = told(point("flash3", FLOPS / 800e9 / 1.3))
    assert found.binds is None
    assert "products alone would take 130% of its time: their rate or the runtime is off" in found.sentence
    counted = told(point("flash3", 1.0, dram_read_bytes=9e12, dram_write_bytes=0.0))
    assert "bytes alone would take 2.2e+05% of its time" in counted.sentence


@pytest.mark.parametrize("counted", [-5e9, math.nan, math.inf])
def test_counters_that_say_what_cannot_be_are_passed_over(counted: float) -> None:
    found = told(point("standard", 2.4, dram_read_bytes=counted, dram_write_bytes=1e9))
    assert part(found, "bytes").amount_source == "by formula"


@pytest.mark.parametrize("rate", [0.0, -1.0, math.nan, math.inf, 1e-320])
def test_a_rate_that_cannot_be_is_named_and_not_called_unmeasured(rate: float) -> None:
    ceilings = Ceilings(rates=CEILINGS.rates | {matmul_key("bfloat16"): ceiling(rate)})
    missing = part(told(point("flash3", 1.0), ceilings), "products").missing
    assert f"{rate:.3g}" in missing
    assert "no ceilings" not in missing


def test_a_mask_that_keeps_nothing_leaves_nothing_to_explain() -> None:
    nothing = BlockMask.random(64, 64, block_q=32, block_k=32, kept_share=0.0, seed=0)
    found = told(
        point("flash2", 0.01, Problem(seqlen_q=64, seqlen_k=64, dtype="bfloat16", block_mask=nothing))
    )
    assert [one.amount for one in found.parts if one.load != "bytes"] == [0, 0]
    assert found.sentence.startswith("None of the three explains it: alone, products would take under 1%, ")


def test_a_causal_window_moves_what_its_tiles_take() -> None:
    whole = Problem(seqlen_q=4096, seqlen_k=4096, heads=16, dtype="bfloat16")
    narrow = structs.replace(whole, causal=True, window=(128, 0))
    moved = [part(told(point("standard", 0.9, one)), "bytes").amount or 0 for one in (whole, narrow)]
    assert moved[1] < 0.1 * moved[0]


def test_only_a_point_that_is_done_has_a_reason() -> None:
    assert why(dataclasses.replace(point("standard", 1.0), status="wrong"), CEILINGS) is None


@given(
    st.floats(1e-3, 1e4), st.sampled_from(["standard", "flash2", "simt", "flash3-fp8", "torch-flash", "own"])
)
def test_what_binds_is_the_longest_load_and_long_enough(ms: float, kernel: str) -> None:
    found = told(point(kernel, ms))
    shares = [one.share for one in found.parts if one.share is not None]
    assert all(one.missing if one.share is None else not one.missing for one in found.parts)
    assert all(share <= REFUTED for share in shares)
    least = any(one.amount_source == LEAST for one in found.parts)
    if found.binds is None:
        assert max(shares, default=0) < (EXPLAINS if len(shares) == 3 and not least else CERTAIN)
    else:
        assert found.share == max(shares) == part(found, found.binds).share
    assert found.sentence.endswith(".")


def test_every_run_of_standard_on_the_h200_recording_that_leaves_the_cache_is_bound_by_hbm() -> None:
    session = load(SESSIONS / "h200-peers.flashscope")
    known = zip(rows(session), whys(session), strict=True)
    shares = [
        (one.binds, one.share or 0)
        for row, one in known
        if one and row.kernel == "standard-fp32s" and not row.problem.causal and row.problem.head_dim < 256
    ]
    assert len(shares) == 10
    assert all(binds == "bytes" and 0.88 < share < 1.02 for binds, share in shares), shares


def test_standard_at_head_dim_128_takes_what_its_bytes_take_at_the_copy_rate() -> None:
    session = load(SESSIONS / "h200-peers.flashscope")
    shares = {
        row.seqlen: round(100 * (one.share or 0))
        for row, one in zip(rows(session), whys(session), strict=True)
        if one and row.kernel == "standard" and row.problem.head_dim == 128 and not row.problem.causal
    }
    assert (shares[8192], shares[16384]) == (94, 93)  # as kernels/README.md has it


def test_tiled_kernels_of_the_h200_recording_are_bound_by_products_or_shared_memory_if_anything() -> None:
    session = load(SESSIONS / "h200-peers.flashscope")
    known = [
        (row, one.binds)
        for row, one in zip(rows(session), whys(session), strict=True)
        if one and row.kernel.startswith("flash")
    ]
    assert {binds for _, binds in known} == {None, "products", "shared"}
    by_shared = {(row.kernel, row.problem.head_dim) for row, binds in known if binds == "shared"}
    assert ("flash2", 128) in by_shared
    assert {head_dim for _, head_dim in by_shared} == {128, 256}
