"""A sweep of the real kernels on the CPU: right, timed, and accounted for to the byte."""

import math
from itertools import pairwise

import pytest

from flashscope.kernels.catalogue.registry import lesson_on
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.results.model.efficiency import by_problem, efficiency
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import PointState
from flashscope.profiles.wire.events import (
    CeilingsMeasured,
    PlanFinished,
    PlanStarted,
    PointMeasured,
    PointProgress,
    PointStarted,
)
from flashscope.profiles.wire.spent import spent_key
from flashscope.profiles.worker.instruments.bench_cpu import CpuBench
from tests.profiles.heard import QUICK, Heard, done, quick_plan

PYTHONS_OWN_BYTES = 64 << 10  # what the interpreter allocates beside the arrays
SEQLENS = (256, 512, 1024)
USUAL = Problem(seqlen_q=64, seqlen_k=64, head_dim=32)
FEW_KEYS = Problem(seqlen_q=20, seqlen_k=10, causal=True)


@pytest.fixture(scope="module")
def swept() -> Heard:
    """One sweep of the three real kernels, at its end."""
    heard = Heard("flashscope.kernels.catalogue.registry:KERNELS")
    names = lesson_on("cpu")
    try:
        heard.sweep(
            quick_plan(*names, seqlens=SEQLENS, protocol=Protocol(warmup=1, repeats=10, drift_check=False))
        )
    finally:
        heard.engine.close()
    return heard


@pytest.fixture(scope="module")
def replayed() -> list[PointRow]:
    """A kernel that gives its first answer again, beside one that computes; nobody compares either.

    Of so many samples a busy machine holds up a few, not a quarter.
    """
    heard = Heard("tests.faults:KERNELS")
    protocol = Protocol(warmup=1, repeats=24, drift_check=False, verify=False)
    try:
        heard.sweep(quick_plan("replay", "flash2", seqlens=(512,), protocol=protocol))
    finally:
        heard.engine.close()
    return rows(heard.session())


@pytest.mark.matrix
def test_what_is_faster_than_its_device_multiplies_is_impossible(replayed: list[PointRow]) -> None:
    stored, right = replayed
    assert (stored.status, right.status) == ("impossible", "done"), stored.times
    assert stored.trust is not None
    assert stored.trust.word == "impossible"


def test_every_point_of_a_cpu_sweep_is_done_with_a_small_error(swept: Heard) -> None:
    points = swept.session().points
    assert len(points) == len(lesson_on("cpu")) * len(SEQLENS)
    for found in map(done, points):
        assert found.correctness is not None
        assert found.correctness.passed
        assert found.correctness.outputs[0].error < 1e-4
        assert len(found.samples) == 10
        assert all(s.ms > 0 and s.rejected is None for s in found.samples)
        assert found.timer == "perf_counter"
        assert found.cold
        assert all(s.t_ns is not None and s.sm_clock_mhz is None for s in found.samples)
        assert all(found.value(key) is not None for key in ("prepare_ms", "first_run_ms"))


def test_every_point_tells_where_its_time_went_and_no_time_is_told_twice(swept: Heard) -> None:
    session = swept.session()
    parts = [("trial", name) for name in ("launch", "check", "prepare")]
    parts += [("sampling", name) for name in ("launch", "check", "flush")]
    for found in map(done, session.points):
        assert all((found.value(spent_key(visit, name)) or 0) > 0 for visit, name in parts)  # type: ignore[arg-type]
        samples_ms = sum(one.ms for one in found.samples)
        assert (found.value("sampling_launch_ms") or 0) >= samples_ms
    whole = efficiency(session)
    assert whole is not None
    assert 0 < whole.efficiency < 1
    assert whole.ceilings_s > 0
    assert len(by_problem(session)) == len(SEQLENS)


def test_what_the_cpu_reaches_is_measured_once_before_the_first_point(swept: Heard) -> None:
    kinds = [type(event) for event in swept.events]
    assert kinds.count(CeilingsMeasured) == 1
    assert kinds.index(PlanStarted) < kinds.index(CeilingsMeasured) < kinds.index(PointStarted)
    found = swept.session().ceilings[1]
    caches = {"last_cache_gbs", "core_cache_gbs"}
    assert set(found.rates) == {"copy_gbs", "matmul_float32_tflops", "exp_gexps"} | caches
    assert found.cache_bytes
    for key, ceiling in found.rates.items():
        figure = ceiling.figure
        if key in caches and figure.missing.startswith("OSError: the system does not tell the size"):
            continue
        assert 0 < (figure.low or 0) <= (figure.value or 0) <= (figure.high or 0)
        assert figure.source.startswith("perf_counter around ")
        assert ceiling.sm_clock_mhz is None


def test_the_allocators_peak_equals_the_ledger_and_the_prediction(swept: Heard) -> None:
    (begun,) = swept.all(PlanStarted)
    for point in swept.session().points:
        found = done(point)
        held, peak = found.held_bytes, found.figures["peak_bytes"]
        assert held == begun.predicted_bytes[point.point.index]
        assert peak.value is not None
        assert 0 <= peak.value - held < PYTHONS_OWN_BYTES
        assert peak.source == "tracemalloc"
        assert "no NVML" in found.figures["device_delta_bytes"].missing


def test_events_come_in_the_order_of_the_plan_and_rebuild_the_session(swept: Heard) -> None:
    (begun,) = swept.all(PlanStarted)
    session = swept.session()
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
    done(point)
    assert len(done(point).samples) == 3


def test_progress_comes_at_most_thirty_times_a_second(heard: Heard) -> None:
    heard.sweep(quick_plan("flash2", protocol=Protocol(warmup=0, repeats=300, cold=False)))
    told = heard.all(PointProgress)
    seconds = (heard.all(PlanFinished)[0].t_ns - heard.all(PlanStarted)[0].t_ns) / 1e9
    assert len(told) <= 30 * seconds + 2  # both are longer on a busy machine
    assert all(a.done <= b.done for a, b in pairwise(e for e in told if e.phase == "measure"))


def test_without_verification_a_point_carries_no_verdict(heard: Heard) -> None:
    protocol = Protocol(warmup=0, repeats=1, verify=False, cold=False)
    (point,) = heard.sweep(quick_plan("flash1", protocol=protocol))
    done(point)
    assert done(point).correctness is None
    assert not done(point).cold


def test_a_shuffled_plan_runs_in_its_own_order(heard: Heard) -> None:
    protocol = Protocol(warmup=0, repeats=1, shuffle=True, drift_check=False)
    plan = quick_plan("flash1", "flash2", seqlens=(8, 16, 32), protocol=protocol)
    points = heard.sweep(Plan(**{f: getattr(plan, f) for f in plan.__struct_fields__} | {"seed": 3}))
    assert [p.point.index for p in points] == list(range(6))


def test_the_cpu_clock_times_in_milliseconds() -> None:
    bench = CpuBench()
    for cold in (False, True):
        ms = bench.sample([*range(1_000_000)].sort, cold=cold).ms
        assert ms > 0
        assert math.isfinite(ms)


@pytest.fixture(scope="module")
def libraries() -> dict[tuple[str, Problem], PointState]:
    """What became of PyTorch's kernels, by name and problem; to import it takes seconds."""
    plan = Plan(
        backend="cpu",
        kernels=("torch-auto", "torch-math", "torch-flash", "flash2"),
        problems=(USUAL, FEW_KEYS),
        protocol=QUICK,
    )
    heard = Heard("flashscope.kernels.catalogue.registry:KERNELS")
    try:
        return {(one.point.kernel, one.point.problem): one for one in heard.sweep(plan)}
    finally:
        heard.engine.close()


@pytest.mark.torch
def test_a_librarys_point_says_what_it_chose_and_that_its_peak_is_unknown_on_the_cpu(
    libraries: dict[tuple[str, Problem], PointState],
) -> None:
    for kernel in ("torch-auto", "torch-math"):
        found = done(libraries[kernel, USUAL])
        assert found.correctness is not None
        assert found.correctness.passed
        assert found.correctness.of("LSE") is None
        assert found.value("peak_bytes") is None
        assert "no peak on the CPU" in found.figures["peak_bytes"].missing
        assert found.value("output_bytes") == 64 * 32 * 4  # O alone
        assert len(found.samples) == 3
    assert done(libraries["torch-auto", USUAL]).note.endswith("chose flash")


@pytest.mark.torch
def test_a_problem_that_a_library_refuses_is_unsupported_with_its_reason(
    libraries: dict[tuple[str, Problem], PointState],
) -> None:
    refused = libraries["torch-flash", FEW_KEYS]
    assert refused.status == "unsupported"
    assert "at least as many keys as queries" in refused.reason
    done(libraries["flash2", FEW_KEYS])
