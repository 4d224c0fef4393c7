"""The worker child: measures points, records traces, probes the machine. The only process with CUDA in it."""

import gc
import time
import traceback
from importlib import import_module

from kernels.device import Device
from kernels.errors import CompileError, KernelError, UnsupportedError
from kernels.problem import Backend
from kernels.registry import find_kernel
from kernels.spec import KernelSpec
from profiles.bench import Bench
from profiles.child import CancelledError, Link
from profiles.events import MachineFound, PointFailed, PointMeasured, RequestFailed, TraceReady
from profiles.fitting import Refusal
from profiles.measure import Measuring
from profiles.messages import MeasurePoint, ProbeMachine, Ready, RecordTrace, Retiring
from profiles.probe import probe_machine
from profiles.specs import load_kernels


def serve(link: Link, kernels: str) -> None:
    """Answer the engine's commands until it says stop.

    Args:
        link: The engine.
        kernels: `module:NAME` of the tuple of KernelSpec to measure.
    """
    worker = Worker(link, load_kernels(kernels))
    link.send(Ready())
    while True:
        match link.receive():
            case ProbeMachine():
                link.send(MachineFound(machine=probe_machine()))
            case MeasurePoint() as command:
                worker.measure(command)
            case RecordTrace() as command:
                worker.trace(command)
            case _:  # a Cancel that came too late
                pass


class Worker:
    """What a worker keeps between commands: its kernels and one bench a backend."""

    def __init__(self, link: Link, specs: tuple[KernelSpec, ...]) -> None:
        self._link = link
        self._specs = specs
        self._benches: dict[Backend, Bench] = {}

    def measure(self, command: MeasurePoint) -> None:
        """Measure a point and answer with how it ended."""
        answer = self._measured(command)
        self._clean_up(command.device)
        self._link.send(answer)

    def trace(self, command: RecordTrace) -> None:
        """Record a trace and answer with it."""
        request = command.request
        try:
            module = import_module(f"kernels.{request.backend}.trace")
            answer: TraceReady | RequestFailed = TraceReady(trace=module.record(request))
        except Exception as error:  # noqa: BLE001 - whatever a kernel raises is the answer
            refusal = explain(error, "trace")
            if refusal.status == "failed":  # a fault on a GPU may have poisoned the context
                self._link.send(Retiring())
            answer = RequestFailed(request="trace", reason=refusal.reason, detail=refusal.detail)
        self._link.send(answer)

    def _measured(self, command: MeasurePoint) -> PointMeasured | PointFailed:
        try:
            spec = find_kernel(command.point.kernel, self._specs)
            measuring = Measuring(command, spec, self._bench(command.device), self._link)
        except Exception as error:  # noqa: BLE001 - a bench that cannot be set up is this point's failure
            return _failed(command, explain(error, "prepare"))
        try:
            return measuring.run()
        except Exception as error:  # noqa: BLE001 - whatever a kernel raises is this point's answer
            return measuring.failed(explain(error, measuring.phase))

    def _bench(self, device: Device) -> Bench:
        if device.backend not in self._benches:
            self._benches[device.backend] = make_bench(device)
        return self._benches[device.backend]

    def _clean_up(self, device: Device) -> None:
        """Leave nothing of the last point in memory, and tell when this process can serve no longer."""
        gc.collect()  # a traceback may have held the arrays
        bench = self._benches.get(device.backend)
        if bench is None or not bench.healthy():
            self._link.send(Retiring())
        else:
            bench.release()


def make_bench(device: Device) -> Bench:
    """The instruments of a device's backend."""
    if device.backend == "cuda":
        from profiles.bench_cuda import CudaBench  # noqa: PLC0415 - imports CuPy

        return CudaBench(device.uuid)
    from profiles.bench_cpu import CpuBench  # noqa: PLC0415 - the one that is needed

    return CpuBench()


def explain(error: BaseException, phase: str) -> Refusal:
    """What was raised, as a status, one sentence and the details."""
    match error:
        case CancelledError():
            return Refusal("cancelled", "It was cancelled.")
        case MemoryError():
            reason = f"Memory ran out in the {phase} phase; choose a shorter sequence or fewer heads."
            return Refusal("oom", reason, _details(error))
        case UnsupportedError():
            return Refusal("unsupported", str(error))
        case CompileError():
            return Refusal("failed", str(error), error.log)
        case KernelError():
            return Refusal("failed", str(error), _details(error))
        case _:
            first = (str(error).splitlines() or [""])[0].rstrip(".")
            what = f"{type(error).__name__}{first and ': '}{first}"
            return Refusal("failed", f"The kernel failed in the {phase} phase: {what}.", _details(error))


def _failed(command: MeasurePoint, refusal: Refusal) -> PointFailed:
    return PointFailed(
        index=command.point.index,
        t_ns=time.monotonic_ns(),
        status=refusal.status,
        reason=refusal.reason,
        detail=refusal.detail,
    )


def _details(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))
