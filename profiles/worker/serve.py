"""The worker child: measures points, records traces and timelines, probes. The only process with CUDA."""

import gc
import os
import time
from importlib import import_module
from typing import Any, Literal

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cuda.cache import settle_cache
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.own.spec import with_own
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import DeviceUnavailableError, InputError
from flashscope.kernels.workload.live import LiveRequest
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.plan.specs import import_specs
from flashscope.profiles.wire.ceilings import Ceilings
from flashscope.profiles.wire.events import (
    BackwardTraceReady,
    CeilingsMeasured,
    LogLine,
    MachineFound,
    PointChecked,
    PointFailed,
    RequestFailed,
    RequestKind,
    StallsReady,
    TimelineProgress,
    TimelineReady,
    TraceReady,
)
from flashscope.profiles.wire.live_events import LiveEnded
from flashscope.profiles.wire.measurement import Measurement
from flashscope.profiles.wire.messages import (
    Beside,
    MeasureCeilings,
    Park,
    Parked,
    ProbeMachine,
    Ready,
    RecordBackwardTrace,
    RecordStalls,
    RecordTimeline,
    RecordTrace,
    Retiring,
    RunLive,
    SamplePoints,
    TryPoint,
)
from flashscope.profiles.wire.text import listed
from flashscope.profiles.worker.ceilings import measure_ceilings
from flashscope.profiles.worker.child import CancelledError, Link
from flashscope.profiles.worker.failures import Refusal, explain, misused
from flashscope.profiles.worker.instruments.bench import Bench
from flashscope.profiles.worker.judging import Criteria
from flashscope.profiles.worker.live import run_live
from flashscope.profiles.worker.precheck import Precheck
from flashscope.profiles.worker.probing.probe import found_gpus, probe_machine
from flashscope.profiles.worker.sample import Sampling
from flashscope.profiles.worker.stalls.recording import record_stalls
from flashscope.profiles.worker.timelines import record_timeline
from flashscope.profiles.worker.vetting.process_state import ProcessState
from flashscope.profiles.worker.vetting.runners import load_runners
from flashscope.profiles.worker.vetting.started import adopt_orphans


def serve(link: Link, kernels: str) -> None:
    """Answer the engine's commands until it says stop.

    Args:
        link: The engine.
        kernels: `module:NAME` of the tuple of KernelSpec to measure.
    """
    if trouble := settle_cache():
        link.send(LogLine(source="worker", text=trouble, level="warning"))
    worker = Worker(link, import_specs(kernels))
    link.send(Ready())
    try:
        _answer_all(link, worker)
    finally:
        worker.end_started()


def _answer_all(link: Link, worker: "Worker") -> None:
    while True:
        match link.receive(REST_S):
            case None:
                worker.rest()
            case Beside(pids=pids):
                worker.beside = pids
            case ProbeMachine():
                link.send(MachineFound(machine=probe_machine(), gpus=found_gpus()))
            case MeasureCeilings(device=device):
                worker.measure_ceilings(device)
            case TryPoint() as command:
                worker.try_point(command)
            case SamplePoints() as command:
                worker.sample(command)
            case (
                RecordTrace()
                | RecordBackwardTrace()
                | RecordTimeline()
                | RunLive()
                | RecordStalls()
                | Park() as command
            ):
                worker.answer(command)
            case _:  # a Cancel that came too late
                pass


REST_S = 2.0  # without a command, after which others may have what it can have anew
ELSEWHERE = "Trace on the CPU instead."


class Worker:
    """What a worker keeps between commands: its kernels, one bench a backend, the last problem's oracle.

    Attributes:
        beside: The processes of parked workers on the GPU, which are no strangers there.
    """

    def __init__(self, link: Link, specs: tuple[KernelSpec, ...]) -> None:
        self.beside: tuple[int, ...] = ()
        self._link = link
        self._specs = specs
        self._benches: dict[Backend, Bench] = {}
        self._criteria = Criteria()
        self._state: ProcessState | None = None

    def measure_ceilings(self, device: Device) -> None:
        """Answer with what the device reaches; with nothing where it has no bench, or is no longer asked."""
        ceilings = Ceilings()
        try:
            ceilings = measure_ceilings(self._bench(device), self._link)
        except CancelledError:
            pass
        except Exception as error:  # noqa: BLE001 - the first point will tell, too
            text = f"No ceilings were measured: {type(error).__name__}: {error}"
            self._link.send(LogLine(source="worker", text=text, level="warning"))
        self._clean_up(device)
        self._link.send(CeilingsMeasured(ceilings=ceilings))

    def try_point(self, command: TryPoint) -> None:
        """Try a point and answer with what is known of it, or how it failed."""
        answer = self._tried(command)
        self._clean_up(command.device)
        if isinstance(answer, PointFailed):
            self._link.send(answer)
            return
        index, now = command.point.index, time.monotonic_ns()
        free_bytes = self._bench(command.device).free_bytes()
        self._link.send(PointChecked(index=index, t_ns=now, measurement=answer, free_bytes=free_bytes))

    def sample(self, command: SamplePoints) -> None:
        """Sample points; their ends are sent as they come, then that it is done."""
        specs = with_own(self._specs, command.own)
        state = self._state_before(command)
        ended = Sampling(
            command,
            specs,
            self._bench(command.device),
            self._criteria,
            self._link,
            state=state,
            beside=self.beside,
        ).run()
        self._clean_up(command.device)
        self._link.send(ended)

    def end_started(self) -> None:
        """End what kernels of the user's own have started and left, and tell what was to outlive this.

        The engine that has asked for the end reads no more messages, but all that is printed.
        """
        left = self._state.started.end() if self._state is not None else []
        if left:
            told = f"Ended what a kernel had started to outlive its worker: {listed(left)}.\n"
            os.write(2, told.encode())

    def rest(self) -> None:
        """Nothing is asked for."""
        for bench in self._benches.values():
            bench.rest()

    def park(self) -> None:
        """Another worker measures next: drop the oracle, too; end where the GPU takes one process alone."""
        self._criteria = Criteria()
        gc.collect()
        self.rest()
        if any(bench.is_exclusive() for bench in self._benches.values()):
            self._link.send(Retiring())
        self._link.send(Parked(pid=os.getpid() if "cuda" in self._benches else None))

    def answer(
        self, command: RecordTrace | RecordBackwardTrace | RecordTimeline | RunLive | RecordStalls | Park
    ) -> None:
        """Record what is asked for, launch it in slow motion, or be parked, and answer with it."""
        match command:
            case RecordTrace():
                self.trace(command)
            case RecordBackwardTrace():
                self.trace_backward(command)
            case RecordTimeline():
                self.record_timeline(command)
            case RunLive():
                self.run_live(command.request)
            case RecordStalls():
                self.record_stalls(command)
            case Park():
                self.park()

    def trace(self, command: RecordTrace) -> None:
        """Record a trace and answer with it."""
        request = command.request
        try:
            tracer = find_tracer(request.backend)
            answer: TraceReady | RequestFailed = TraceReady(trace=tracer.record(request))
        except Exception as error:  # noqa: BLE001 - whatever a kernel raises is the answer
            answer = self._untraced("trace", request.backend, error)
        self._link.send(answer)

    def trace_backward(self, command: RecordBackwardTrace) -> None:
        """Record the trace of a backward pass and answer with it."""
        request = command.request
        try:
            tracer = find_tracer(request.backend, "backward_trace")
            answer: BackwardTraceReady | RequestFailed = BackwardTraceReady(trace=tracer.record(request))
        except Exception as error:  # noqa: BLE001 - whatever a kernel raises is the answer
            answer = self._untraced("backward-trace", request.backend, error)
        self._link.send(answer)

    def _untraced(
        self, what: Literal["trace", "backward-trace"], backend: Backend, error: Exception
    ) -> RequestFailed:
        """Why there is no trace; this worker ends where a fault on a GPU may have poisoned its context."""
        refusal = explain(error, "trace")
        if refusal.status == "failed":
            self._link.send(Retiring())
        named = backend == "cpu" or isinstance(error, InputError | DeviceUnavailableError)
        reason = refusal.reason if named else f"{refusal.reason} {ELSEWHERE}"
        return _failed(what, error, refusal._replace(reason=reason))

    def record_timeline(self, command: RecordTimeline) -> None:
        """Record a timeline and answer with it, unless it is given up."""
        try:
            answer: TimelineReady | RequestFailed = TimelineReady(
                timeline=record_timeline(command.request, self._tell_round)
            )
        except Exception as error:  # noqa: BLE001 - whatever a kernel raises is the answer
            answer = _failed("timeline", error, explain(error, "timeline"))
        gc.collect()
        self._link.send(answer)

    def run_live(self, request: LiveRequest) -> None:
        """Launch in slow motion and answer with what came of it, unless it is given up."""
        try:
            answer: LiveEnded | RequestFailed = run_live(request, self._link)
        except Exception as error:  # noqa: BLE001 - whatever a kernel raises is the answer
            refusal = explain(error, "launch")
            if (
                refusal.status == "failed" and request.backend == "cuda"
            ):  # a fault may have poisoned the context
                self._link.send(Retiring())
            answer = _failed("live", error, refusal)
        gc.collect()
        self._link.send(answer)

    def record_stalls(self, command: RecordStalls) -> None:
        """Sample where the warps of a launch stand and answer with it, unless it is given up."""
        try:
            answer: StallsReady | RequestFailed = StallsReady(
                profile=record_stalls(command.request, self._link)
            )
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
            answer = _failed("stalls", error, explain(error, "sampling"))
        self._link.send(answer)

    def _tell_round(self, done: int, total: int) -> None:
        self._link.check()
        self._link.send(TimelineProgress(done=done, total=total))

    def _tried(self, command: TryPoint) -> Measurement | PointFailed:
        try:
            spec = find_kernel(command.point.kernel, with_own(self._specs, command.own))
            state = self._state_before(command)
            trial = Precheck(
                command, spec, self._bench(command.device), self._criteria, self._link, state=state
            )
        except Exception as error:  # noqa: BLE001 - a bench that cannot be set up is this point's failure
            return explain(error, "prepare").failed(command.point)
        try:
            return trial.run()
        except Exception as error:  # noqa: BLE001 - whatever a kernel raises is this point's answer
            if state is not None:
                state.is_spoilt_by(error)
            return explain(error, trial.steps.phase).failed(command.point)

    def _state_before(self, command: TryPoint | SamplePoints) -> ProcessState | None:
        """The process before code of the user's own ran in it; None where none is to run."""
        if self._state is None and command.own:
            load_runners(self._specs, command.own, command.device.backend)
            bench = self._bench(command.device)
            adopt_orphans()
            self._state = ProcessState(bench, settings=bench.settings)
        return self._state

    def _bench(self, device: Device) -> Bench:
        if device.backend not in self._benches:
            self._benches[device.backend] = make_bench(device)
        return self._benches[device.backend]

    def _clean_up(self, device: Device) -> None:
        """Leave nothing of the last point in memory, and tell when this process can serve no longer.

        What is left is frozen: a library's modules alone would take the next collection 0.1 s.
        """
        gc.collect()  # a traceback may have held the arrays
        gc.freeze()
        bench = self._benches.get(device.backend)
        if bench is None or not bench.healthy() or (self._state is not None and self._state.spoilt):
            self._link.send(Retiring())
        else:
            bench.release()


def find_tracer(backend: Backend, name: str = "trace") -> Any:
    """The module that records traces on a backend, those of forward passes unless another is named.

    Raises:
        DeviceUnavailableError: CuPy is missing or sees no GPU; the text names the remedy.
    """
    if backend == "cuda":
        describe()
    return import_module(f"flashscope.kernels.{backend}.{name}")


def make_bench(device: Device) -> Bench:
    """The instruments of a device's backend."""
    if device.backend == "cuda":
        from flashscope.profiles.worker.instruments.bench_cuda import CudaBench  # noqa: PLC0415 - imports CuPy

        return CudaBench(device.uuid)
    from flashscope.profiles.worker.instruments.bench_cpu import CpuBench  # noqa: PLC0415 - the one that is needed

    return CpuBench()


def _failed(request: RequestKind, error: Exception, refusal: Refusal) -> RequestFailed:
    """What answers a request that an error ended."""
    return RequestFailed(
        request=request, reason=refusal.reason, detail=refusal.detail, misused=misused(error)
    )
