"""The engine's contract: runs a plan somewhere and says what happens, as events."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from flashscope.kernels.workload.backward_trace import BackwardTraceRequest
from flashscope.kernels.workload.live import LiveRequest
from flashscope.kernels.workload.problem import Backend
from flashscope.kernels.workload.stalls import StallRequest
from flashscope.kernels.workload.timeline import TimelineRequest
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.remaining import Remaining
from flashscope.profiles.wire.events import Event
from flashscope.profiles.wire.lines import LineKind

Sink = Callable[[Event], None]
SWEEP_RUNS = "A sweep is already running; cancel it or wait for its end."


class EngineBusyError(RuntimeError):
    """A sweep is already running."""


class Working(Protocol):
    """A process that does what it was asked."""

    def end(self) -> None:
        """Do nothing any more, at once; nothing more is told."""


class Engine(Protocol):
    """Runs plans. Every method returns at once; events reach the sink in order, from the engine's thread."""

    @property
    def gpu(self) -> str:
        """The UUID of the one GPU that it measures on; empty: it is not bound to one."""

    def probe(self) -> None:
        """Look at this machine; answers with MachineFound."""

    def watch(self, backend: Backend) -> None:
        """Start streaming telemetry of a backend's device (replacing the one watched before)."""

    def run(self, plan: Plan, remaining: Remaining | None = None) -> None:
        """Start a sweep, or go on with what is left of one.

        Raises:
            EngineBusyError: One is already running.
        """

    def renew(self) -> None:
        """Have what is run next measured by a fresh process; what runs now is left alone."""

    def trace(self, request: TraceRequest) -> None:
        """Record one trace; answers with TraceReady or RequestFailed.

        One on the CPU is recorded beside a sweep; one on the GPU waits for its end.
        """

    def backward_trace(self, request: BackwardTraceRequest) -> None:
        """Record the trace of a backward pass, where and when one of a forward pass is.

        Answers with BackwardTraceReady or RequestFailed.
        """

    def timeline(self, request: TimelineRequest) -> None:
        """Record one timeline, after what runs.

        Answers with TimelineProgress, and then with TimelineReady or RequestFailed.
        """

    def give_up_timeline(self) -> None:
        """Stop a timeline after the round in flight, or while it waits; a sweep goes on."""

    def live(self, request: LiveRequest) -> None:
        """Launch in slow motion, after what runs.

        Answers with LiveStarted, LiveTiles as tiles are done, and then with LiveEnded or RequestFailed.
        """

    def give_up_live(self) -> None:
        """End a launch in slow motion within a second, or while it waits; a sweep goes on."""

    def stalls(self, request: StallRequest) -> None:
        """Sample where the warps of one launch stand, after what runs.

        Answers with StallsProgress, and then with StallsReady or RequestFailed.
        """

    def give_up_stalls(self) -> None:
        """Stop sampling at once, or while it waits; a sweep goes on."""

    def lines(
        self, kind: LineKind, asked: Sequence[Any], told: Callable[[Any], None], gpus: Sequence[str] = ()
    ) -> Working:
        """Start a process that answers in lines where this engine measures.

        An idle worker is let go for it; telemetry goes on, as beside a sweep.

        Args:
            kind: Of which kind it is.
            asked: What it does, one after the other.
            told: Takes every answer, on another thread; each request ends with the kind's last one.
            gpus: The UUIDs of the GPUs that it sees; none: those on which the engine measures.
        """

    def cancel(self) -> None:
        """Stop the sweep, or a timeline, within one repeat; the points measured so far are kept."""

    def close(self) -> None:
        """Ask every child to end, then terminate, then kill (2 s each), and wait for all of them."""


EngineFactory = Callable[[Sink], Engine]
"""Makes an engine, given what takes its events."""
