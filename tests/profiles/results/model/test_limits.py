"""A point that takes less than its device needs at the least is impossible, whatever else speaks for it."""

import math
from typing import Any

import pytest
from msgspec.structs import replace

from flashscope.app.control.bundled import bundled_sessions
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.results.findings.headline import headline
from flashscope.profiles.results.model.limits import ALLOWED, ALLOWED_AT_ANY_CLOCK, why_impossible
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import load
from flashscope.profiles.wire.ceilings import COPY, EXPONENTIALS, Ceiling, Ceilings, matmul_key
from flashscope.profiles.wire.events import CeilingsMeasured
from flashscope.profiles.wire.measurement import Correctness, Figure, Measurement, Sample
from tests.profiles.sessions import make_plan, script, session_of

PROBLEM = Problem(seqlen_q=8192, seqlen_k=8192, heads=16, head_dim=128, dtype="bfloat16")
TFLOPS = 800.0
BOUND_MS = PROBLEM.flops / TFLOPS / 1e9
DECODE = Problem(seqlen_q=1, seqlen_k=1 << 17, heads=32, kv_heads=8, head_dim=128, dtype="bfloat16")
GBS = 4000.0
READ_MS = DECODE.input_bytes / GBS / 1e6


def ceiling(value: float | None, mhz: float | None = 1600.0) -> Ceiling:
    figure = Figure(missing="no cuBLAS") if value is None else Figure(value=value, low=value, high=value)
    return Ceiling(figure=figure, sm_clock_mhz=mhz)


CEILINGS = Ceilings(
    rates={
        COPY: ceiling(GBS),
        matmul_key("bfloat16"): ceiling(TFLOPS),
        matmul_key("float32"): ceiling(50.0),
        EXPONENTIALS: ceiling(4000.0),
    }
)


def yielded(*ms: float, mhz: float | None = 1600.0, cold: bool = True) -> Measurement:
    samples = tuple(Sample(one, sm_clock_mhz=mhz) for one in ms)
    passed = Correctness(outputs=(), rows=1, passed=True)
    return Measurement(timer="CUDA events", cold=cold, samples=samples, correctness=passed)


def refuted(measurement: Measurement, problem: Problem = PROBLEM, **others: Any) -> bool:
    given: dict[str, Any] = {"kernel": "flash2", "backend": "cuda", "ceilings": CEILINGS} | others
    return bool(why_impossible(given["kernel"], problem, given["backend"], measurement, given["ceilings"]))


def test_a_run_that_ends_before_its_products_could_is_impossible() -> None:
    fast = BOUND_MS / 270
    assert refuted(yielded(*[fast] * 10))
    told = why_impossible("flash2", PROBLEM, "cuda", yielded(*[fast] * 10), CEILINGS)
    assert (
        told == f"it took {fast:.3g} ms, and its products alone would take {BOUND_MS / ALLOWED:.3g} ms "
        "even beyond the rate measured here"
    )


@pytest.mark.parametrize(("share", "impossible"), [(1.0, False), (1.05, False), (1.09, False), (1.12, True)])
def test_a_tenth_more_than_was_measured_is_left_to_a_kernel(share: float, impossible: bool) -> None:
    assert refuted(yielded(*[BOUND_MS / share] * 10)) is impossible


def test_a_rate_of_products_goes_with_the_clock_and_with_none_much_is_left_open() -> None:
    twice = [BOUND_MS / 1.9] * 5
    assert refuted(yielded(*twice))
    assert not refuted(yielded(*twice, mhz=3200.0))
    assert not refuted(yielded(*[BOUND_MS / (0.99 * ALLOWED_AT_ANY_CLOCK)] * 5, mhz=None))
    assert refuted(yielded(*[BOUND_MS / (1.01 * ALLOWED_AT_ANY_CLOCK)] * 5, mhz=None))


def test_samples_of_which_some_could_be_are_scatter_and_not_impossible() -> None:
    assert not refuted(yielded(*[BOUND_MS / 3] * 5, *[BOUND_MS] * 5))
    assert refuted(yielded(*[BOUND_MS / 3] * 9, BOUND_MS))
    rejected = replace(yielded(BOUND_MS), samples=(Sample(BOUND_MS / 9, "throttled"),))
    assert not refuted(rejected)


def test_products_in_8_bits_may_be_twice_as_fast_and_those_of_float32_go_to_the_tensor_cores() -> None:
    half = yielded(*[BOUND_MS / 2] * 5)
    assert refuted(half)
    assert not refuted(half, kernel="flash3-fp8")
    assert not refuted(yielded(*[BOUND_MS] * 5), replace(PROBLEM, dtype="float32"))


def test_a_masked_out_half_is_not_asked_of_a_kernel() -> None:
    assert not refuted(yielded(*[BOUND_MS / 1.9] * 5), replace(PROBLEM, causal=True))


def test_inputs_must_be_read_where_the_cache_was_flushed_and_no_mask_leaves_any_out() -> None:
    fast = [READ_MS / 2] * 5
    assert refuted(yielded(*fast), DECODE)
    assert not refuted(yielded(*[READ_MS / 1.06] * 5), DECODE)
    assert not refuted(yielded(*fast, cold=False), DECODE)
    assert not refuted(yielded(*fast), replace(DECODE, window=(128, 0)))
    assert not refuted(yielded(*fast), replace(DECODE, key_lengths=(100,)))
    assert not refuted(yielded(*fast), DECODE, ceilings=replace(CEILINGS, cache_bytes=1 << 40))


@pytest.mark.parametrize("odd", [None, math.nan, math.inf, 0.0, -1.0])
def test_a_rate_that_is_none_refutes_nothing(odd: float | None) -> None:
    rates = dict.fromkeys(CEILINGS.rates, ceiling(odd))
    assert not refuted(yielded(1e-9), ceilings=Ceilings(rates=rates))
    assert not refuted(yielded(1e-9), ceilings=None)
    assert not refuted(Measurement(timer="CUDA events", cold=True))


def session_with(rate: float, backend: Backend = "cpu") -> Session:
    """A sweep on a device that multiplies at most at this rate."""
    plan = make_plan(("standard", "flash2"), backend=backend)
    ceilings = Ceilings(rates={matmul_key("float32"): ceiling(rate, None)})
    return session_of([*script(plan), CeilingsMeasured(ceilings=ceilings)])


def test_an_impossible_point_counts_nowhere_and_is_never_the_fastest() -> None:
    everything: list[PointRow] = rows(session_with(1e9))
    assert {row.status for row in everything} >= {"done"}
    seqlen = max(row.seqlen for row in everything if row.done)
    named = headline(everything, seqlen, "standard")
    assert named is not None
    (fast,) = (row for row in everything if (row.kernel, row.seqlen) == (named.kernel, seqlen))
    assert fast.times is not None
    refuting = session_with(fast.problem.flops / fast.times.median / 1e9 / 10)
    found = {(row.kernel, row.seqlen): row for row in rows(refuting)}
    impossible = found[fast.kernel, seqlen]
    assert (impossible.status, impossible.done) == ("impossible", False)
    assert impossible.reason.startswith("it took ")
    assert impossible.trust is not None
    assert (impossible.trust.word, impossible.trust.reasons[0]) == ("impossible", impossible.reason)
    told = headline(list(found.values()), seqlen, "standard")
    assert told is None or told.kernel != fast.kernel


@pytest.mark.parametrize("path", bundled_sessions(), ids=lambda path: path.stem)
def test_no_bundled_point_is_impossible(path: Any) -> None:
    assert not [row for row in rows(load(path)) if row.status == "impossible"]
