"""Sessions to write, as the events an engine would send."""

from collections.abc import Iterator

import msgspec
import numpy as np

from kernels.device import Device
from kernels.problem import Problem
from kernels.trace import Array, Trace, TraceRequest
from profiles.events import (
    Correctness,
    Event,
    Footprint,
    Measurement,
    PlanFinished,
    PlanStarted,
    PointFailed,
    PointMeasured,
    PointStarted,
    Reading,
    Readings,
    Sample,
    SamplingStarted,
    TelemetryStarted,
    TraceReady,
)
from profiles.machine import Machine
from profiles.plan import Plan
from profiles.session import Session

MACHINE = Machine(
    system="Linux 6.1",
    python="3.11.7",
    devices=(Device(backend="cpu", name="A CPU", memory_bytes=1 << 34),),
    free_bytes={"cpu": 1 << 33},
)
TELEMETRY = TelemetryStarted(source="psutil", device="A CPU", memory_total=1 << 34, missing={"power_w": "no"})
MEASUREMENT = Measurement(
    samples=(Sample(1.5, None, 0), Sample(9.0, "throttled", 1), Sample(1.25)),
    timer="perf_counter",
    cold=True,
    prepare_ms=0.5,
    first_run_ms=None,
    footprint=Footprint(inputs=3, outputs=2, workspace=1, peak=None, source="tracemalloc"),
    correctness=Correctness(
        max_abs_error=1e-7, bound=1e-4, lse_error=0.0, lse_bound=1e-5, rows=256, passed=True
    ),
)


def plan(seqlens: tuple[int, ...] = (256, 512), kernels: tuple[str, ...] = ("standard", "flash2")) -> Plan:
    problems = tuple(Problem(seqlen_q=n, seqlen_k=n) for n in seqlens)
    return Plan(backend="cpu", kernels=kernels, problems=problems)


def plan_started(of: Plan | None = None) -> PlanStarted:
    of = of or plan()
    return PlanStarted(
        session_id="0123456789abcdef0123456789abcdef",
        plan=of,
        machine=MACHINE,
        started_at="2026-01-02T03:04:05+00:00",
        t_ns=1_000,
        predicted_bytes=tuple(range(len(of.points()))),
    )


def reading(t_ns: int) -> Reading:
    return Reading(t_ns=t_ns, memory_used=123, utilisation=7.5, throttle=())


def readings(*t_ns: int) -> Readings:
    return Readings(readings=tuple(map(reading, t_ns)))


def trace() -> Trace:
    problem = Problem(seqlen_q=1, seqlen_k=2, head_dim=1)
    row, tile = Array.of(np.zeros((1, 1), np.float32)), Array.of(np.zeros((1, 2), np.int32))
    return Trace(
        request=TraceRequest(problem=problem, block_q=1, block_k=2),
        device="A CPU",
        source="a test",
        tile=tile,
        s=Array.of(np.array([[[-np.inf, 1.0]]], np.float32)),
        **dict.fromkeys(("m", "l", "alpha", "o", "q", "k", "v", "output", "lse"), row),
        exact_output=row,
        exact_lse=row,
    )


def whole_sweep() -> Iterator[Event]:
    """A sweep of four points: two measured, one out of memory, one never reached; telemetry and a trace."""
    yield TELEMETRY
    yield plan_started()
    yield PointStarted(index=0, t_ns=2_000)
    yield readings(2_100, 2_200)
    yield PointStarted(index=1, t_ns=2_300)
    yield SamplingStarted(indices=(0, 1), t_ns=2_400)
    yield PointMeasured(index=0, t_ns=3_000, measurement=MEASUREMENT)
    yield PointFailed(index=1, t_ns=4_000, status="oom", reason="Out of memory.", detail="1 + 1 > 1")
    yield PointStarted(index=2, t_ns=4_100)
    yield PointFailed(index=2, t_ns=5_000, status="wrong", reason="NaN.", measurement=MEASUREMENT)
    yield TraceReady(trace=trace())
    yield readings(5_100)
    yield PlanFinished(t_ns=6_000, outcome="cancelled")


def reduced(events: Iterator[Event]) -> Session:
    """The session that the same events make in memory."""
    session: Session | None = None
    telemetry = None
    for event in events:
        if isinstance(event, PlanStarted):
            session = Session.begin(event)
            session.telemetry = telemetry
        elif session is not None:
            session.apply(event)
        elif isinstance(event, TelemetryStarted):
            telemetry = event
    assert session is not None
    return session


def measurement(samples: tuple[Sample, ...]) -> Measurement:
    return msgspec.structs.replace(MEASUREMENT, samples=samples)
