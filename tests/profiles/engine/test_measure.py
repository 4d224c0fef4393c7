"""A sweep of the real kernels on the CPU: right, timed, and accounted for to the byte."""

import math
from itertools import pairwise

import pytest

from kernels.problem import Problem
from kernels.registry import lesson_on
from profiles.bench_cpu import CpuBench
from profiles.events import PlanFinished, PlanStarted, PointFailed, PointMeasured, PointProgress, PointStarted
from profiles.plan import Plan, Protocol
from profiles.session import Session
from tests.profiles.heard import QUICK, Heard, quick_plan

PYTHONS_OWN_BYTES = 64 << 10  # what the interpreter allocates beside the arrays
SEQLENS = (256, 512, 1024)


@pytest.fixture(scope="module")
def swept() -> Heard:
    """One sweep of the three real kernels, at its end."""
    heard = Heard("kernels.registry:KERNELS")
    names = lesson_on("cpu")
    try:
        heard.sweep(quick_plan(*names, seqlens=SEQLENS, protocol=Protocol(warmup=1, repeats=10)))
    finally:
        heard.engine.close()
    return heard


def test_every_point_of_a_cpu_sweep_is_done_with_a_small_error(swept: Heard) -> None:
    measured = swept.all(PointMeasured)
    assert len(measured) == len(lesson_on("cpu")) * len(SEQLENS)
    for point in measured:
        found = point.measurement
        assert found.correctness is not None
        assert found.correctness.passed
        assert found.correctness.max_abs_error < 1e-4
        assert len(found.samples) == 10
        assert all(s.ms > 0 and s.rejected is None for s in found.samples)
        assert found.timer == "perf_counter"
        assert found.cold
        assert found.prepare_ms is not None
        assert found.first_run_ms is not None


def test_the_allocators_peak_equals_the_ledger_and_the_prediction(swept: Heard) -> None:
    (begun,) = swept.all(PlanStarted)
    for point in swept.all(PointMeasured):
        ledger = point.measurement.footprint
        assert ledger.total == begun.predicted_bytes[point.index]
        assert ledger.peak is not None
        assert 0 <= ledger.peak - ledger.total < PYTHONS_OWN_BYTES
        assert ledger.source == "tracemalloc"
        assert ledger.device_delta is None


def test_events_come_in_the_order_of_the_plan_and_rebuild_the_session(swept: Heard) -> None:
    (begun,) = swept.all(PlanStarted)
    session = Session.begin(begun)
    for event in swept.events:
        session.apply(event)
    assert [s.status for s in session.points] == ["done"] * len(session.points)
    assert session.outcome == "finished"
    starts = [e.t_ns for e in swept.all(PointStarted)]
    assert starts == sorted(starts)
    assert begun.t_ns <= starts[0]
    assert swept.all(PointMeasured)[-1].t_ns <= swept.all(PlanFinished)[0].t_ns
    assert len(begun.session_id) == 32


def test_sampling_stops_at_the_time_cap_but_not_before_three_samples(heard: Heard) -> None:
    protocol = Protocol(warmup=0, repeats=1000, time_cap_s=0.001)
    (point,) = heard.sweep(quick_plan("slow", protocol=protocol))
    assert isinstance(point, PointMeasured)
    assert len(point.measurement.samples) == 3


def test_progress_comes_at_most_thirty_times_a_second(heard: Heard) -> None:
    heard.sweep(quick_plan("flash2", protocol=Protocol(warmup=0, repeats=300)))
    told = heard.all(PointProgress)
    seconds = (heard.all(PlanFinished)[0].t_ns - heard.all(PlanStarted)[0].t_ns) / 1e9
    assert len(told) <= 30 * seconds + 2
    assert all(a.done <= b.done for a, b in pairwise(e for e in told if e.phase == "measure"))


def test_without_verification_a_point_carries_no_verdict(heard: Heard) -> None:
    protocol = Protocol(warmup=0, repeats=1, verify=False, cold=False)
    (point,) = heard.sweep(quick_plan("flash1", protocol=protocol))
    assert isinstance(point, PointMeasured)
    assert point.measurement.correctness is None
    assert not point.measurement.cold


def test_a_shuffled_plan_runs_in_its_own_order(heard: Heard) -> None:
    protocol = Protocol(warmup=0, repeats=1, shuffle=True)
    plan = quick_plan("flash1", "flash2", seqlens=(8, 16, 32), protocol=protocol)
    points = heard.sweep(Plan(**{f: getattr(plan, f) for f in plan.__struct_fields__} | {"seed": 3}))
    assert [p.index for p in points] == list(range(6))


def test_the_cpu_clock_times_in_milliseconds() -> None:
    bench = CpuBench()
    for cold in (False, True):
        ms = bench.time_ms([*range(1_000_000)].sort, cold=cold)
        assert 0 < ms < 10_000
        assert math.isfinite(ms)


@pytest.mark.torch
def test_a_librarys_point_says_what_it_chose_and_that_its_peak_is_unknown_on_the_cpu(heard: Heard) -> None:
    auto, forced = heard.sweep(quick_plan("torch-auto", "torch-math"))
    for point in (auto, forced):
        assert isinstance(point, PointMeasured), point.reason
        found = point.measurement
        assert found.correctness is not None
        assert found.correctness.passed
        assert found.correctness.lse_error is None
        assert found.footprint.peak is None
        assert "no peak on the CPU" in found.footprint.source
        assert found.footprint.outputs == 64 * 32 * 4  # O alone
        assert len(found.samples) == 3
    assert isinstance(auto, PointMeasured)
    assert auto.measurement.note.endswith("chose flash")


@pytest.mark.torch
def test_a_problem_that_a_library_refuses_is_unsupported_with_its_reason(heard: Heard) -> None:
    problem = Problem(seqlen_q=20, seqlen_k=10, causal=True)
    plan = Plan(backend="cpu", kernels=("torch-flash", "flash2"), problems=(problem,), protocol=QUICK)
    refused, after = heard.sweep(plan)
    assert isinstance(refused, PointFailed)
    assert refused.status == "unsupported"
    assert "at least as many keys as queries" in refused.reason
    assert isinstance(after, PointMeasured)
