"""An engine that says what a test scripts, from a thread of its own as the real one does."""

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from flashscope.kernels.workload.backward_trace import BackwardTraceRequest
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.live import LiveRequest
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.kernels.workload.stalls import StallRequest
from flashscope.kernels.workload.timeline import TimelineRequest
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.engine.contract import EngineBusyError, Sink, Working
from flashscope.profiles.engine.line_kinds import start_lines
from flashscope.profiles.plan.machine import Gpu, Machine, ProbeFinding
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.results.model.remaining import Remaining
from flashscope.profiles.wire.events import (
    Event,
    MachineFound,
    PlanFinished,
    PlanStarted,
    PointProgress,
    PointStarted,
    Reading,
    Readings,
    TelemetryStarted,
)
from flashscope.profiles.wire.lines import LineKind
from flashscope.profiles.wire.measurement import Figure, Measurement, Sample
from tests.profiles.sessions import ends_well

MS = 1_000_000
SECOND = 1_000 * MS
GIB = 1 << 30
CPU = Device(backend="cpu", name="Test CPU", memory_bytes=16 * GIB, multiprocessors=8)
GPU = Device(
    backend="cuda", name="Test GPU", memory_bytes=80 * GIB, compute_capability=(9, 0), multiprocessors=132
)
FINDINGS = (
    ProbeFinding(name="NumPy", ok=True, detail="2.4.6"),
    ProbeFinding(
        name="NVIDIA driver",
        ok=False,
        detail="no libcuda.so.1 on this machine",
        remedy="Install the NVIDIA driver, or go on with the CPU backend and the recordings.",
    ),
)
CPU_MACHINE = Machine(system="Test OS 1", python="3.11.0", devices=(CPU,), findings=FINDINGS)
GPU_MACHINE = Machine(system="Test OS 1", python="3.11.0", devices=(GPU, CPU), driver="580.1", cuda="13.0")
HOPPER_MACHINE = replace(GPU_MACHINE, devices=(replace(GPU, shared_memory_per_block=227 << 10), CPU))
PLAN = Plan(
    backend="cpu",
    kernels=("standard", "flash2"),
    problems=tuple(Problem(seqlen_q=n, seqlen_k=n, heads=2) for n in (256, 512, 1024)),
    protocol=Protocol(drift_check=False),
)


class SilentEngine:
    """An engine that answers nothing; tests push events into its sink themselves.

    Attributes:
        sink: Takes them.
        plans: What it was asked to run.
        timelines: What it was asked to record.
        launched: What it was asked to launch in slow motion.
        given_up: How often it was asked to give up a timeline or a launch.
    """

    gpu = ""

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self.given_up = 0
        self.plans: list[Plan] = []
        self.timelines: list[TimelineRequest] = []
        self.launched: list[LiveRequest] = []

    def probe(self) -> None: ...

    def watch(self, backend: Backend) -> None: ...

    def run(self, plan: Plan, remaining: Remaining | None = None) -> None:  # noqa: ARG002 - it is told and forgotten
        self.plans.append(plan)

    def renew(self) -> None: ...

    def trace(self, request: TraceRequest) -> None: ...

    def backward_trace(self, request: BackwardTraceRequest) -> None: ...

    def timeline(self, request: TimelineRequest) -> None:
        self.timelines.append(request)

    def give_up_timeline(self) -> None:
        self.given_up += 1

    def stalls(self, request: StallRequest) -> None: ...

    def give_up_stalls(self) -> None: ...

    def live(self, request: LiveRequest) -> None:
        self.launched.append(request)

    def give_up_live(self) -> None:
        self.given_up += 1

    def lines(
        self, kind: LineKind, asked: Sequence[Any], told: Callable[[Any], None], gpus: Sequence[str] = ()
    ) -> Working:
        return start_lines(kind, asked, told, gpus)  # a real process

    def cancel(self) -> None: ...

    def close(self) -> None: ...


class FakeEngine:
    """Answers probes and watches; runs are scripted by the test, through `say`.

    Attributes:
        machine: What a probe finds.
        gpus: What else it finds.
        closed: How often it was closed.
        cancelled: How often it was asked to stop.
        plans: What it was asked to run.
        rests: What was left of each of these, None: all.
        renewed: How often a fresh process was asked for.
        given_up: How often it was asked to give up a timeline, a launch or stalls.
    """

    gpu = ""

    def __init__(self, sink: Sink, machine: Machine = CPU_MACHINE) -> None:
        self._sink = sink
        self.machine = machine
        self.gpus: tuple[Gpu, ...] = ()
        self.closed = self.cancelled = self.renewed = self.given_up = 0
        self.plans: list[Plan] = []
        self.rests: list[Remaining | None] = []
        self.watched: list[Backend] = []
        self.traces: list[TraceRequest] = []
        self.backwards: list[BackwardTraceRequest] = []
        self.timelines: list[TimelineRequest] = []
        self.stalled: list[StallRequest] = []
        self.launched: list[LiveRequest] = []
        self.busy = False

    def say(self, events: Iterable[Event]) -> None:
        """Say these from a thread, as an engine does, and wait until they are said."""
        thread = threading.Thread(target=lambda: [self._sink(event) for event in events])
        thread.start()
        thread.join()

    def probe(self) -> None:
        self.say([MachineFound(machine=self.machine, gpus=self.gpus)])

    def watch(self, backend: Backend) -> None:
        self.watched.append(backend)
        self.say([TelemetryStarted(source="psutil", device="Test CPU", memory_total=16 * GIB), reading(0)])

    def run(self, plan: Plan, remaining: Remaining | None = None) -> None:
        if self.busy:
            raise EngineBusyError("a trace is being recorded.")
        self.plans.append(plan)
        self.rests.append(remaining)

    def renew(self) -> None:
        self.renewed += 1

    def trace(self, request: TraceRequest) -> None:
        self.traces.append(request)

    def backward_trace(self, request: BackwardTraceRequest) -> None:
        self.backwards.append(request)

    def timeline(self, request: TimelineRequest) -> None:
        self.timelines.append(request)

    def give_up_timeline(self) -> None:
        self.given_up += 1

    def stalls(self, request: StallRequest) -> None:
        self.stalled.append(request)

    def give_up_stalls(self) -> None:
        self.given_up += 1

    def live(self, request: LiveRequest) -> None:
        self.launched.append(request)

    def give_up_live(self) -> None:
        self.given_up += 1

    def lines(
        self, kind: LineKind, asked: Sequence[Any], told: Callable[[Any], None], gpus: Sequence[str] = ()
    ) -> Working:
        return start_lines(kind, asked, told, gpus)  # a real process

    def cancel(self) -> None:
        self.cancelled += 1

    def close(self) -> None:
        self.closed += 1


def reading(second: float) -> Readings:
    """One reading at that second."""
    return Readings(
        readings=(
            Reading(t_ns=int(second * SECOND), memory_used=4 * GIB, utilisation=50.0, temperature_c=41.0),
        )
    )


def plan_started(plan: Plan = PLAN, machine: Machine = CPU_MACHINE) -> PlanStarted:
    """The first event of a sweep."""
    predicted = tuple(point.problem.input_bytes + point.problem.output_bytes for point in plan.points())
    return PlanStarted(
        session_id="0123456789abcdef0123456789abcdef",
        plan=plan,
        machine=machine,
        started_at="2026-11-21T10:00:00+00:00",
        t_ns=0,
        predicted_bytes=predicted,
    )


def measurement(ms: float, nbytes: int) -> Measurement:
    """A measurement with ten samples about a median."""
    return Measurement(
        samples=tuple(Sample(ms * (1 + 0.01 * k)) for k in range(-5, 5)),
        timer="perf_counter",
        cold=True,
        figures={
            "prepare_ms": Figure(value=1.0),
            "first_run_ms": Figure(value=ms * 2),
            "input_bytes": Figure(value=nbytes),
            "output_bytes": Figure(value=nbytes // 3),
            "workspace_bytes": Figure(value=nbytes),
        },
    )


def sweep(plan: Plan = PLAN, machine: Machine = CPU_MACHINE, points: int | None = None) -> list[Event]:
    """A whole sweep, or its first points."""
    events: list[Event] = [plan_started(plan, machine)]
    every = plan.points()
    for point in every[:points]:
        t_ns = (point.index + 1) * SECOND
        ms = point.problem.flops / 1e7 * (3 if point.kernel == "standard" else 1)
        events += [
            PointStarted(index=point.index, t_ns=t_ns),
            PointProgress(index=point.index, phase="measure", done=3, total=10, last_ms=ms),
            reading(t_ns / SECOND),
            *ends_well(point.index, t_ns + 900 * MS, measurement(ms, point.problem.input_bytes)),
        ]
    if points is None:
        events.append(PlanFinished(t_ns=(len(every) + 2) * SECOND, outcome="finished"))
    return events
