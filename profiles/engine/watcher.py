"""Keeps the telemetry child going, apart from the worker: it reads on while a kernel hangs."""

import time

from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.engine.child import Child, MakeChild
from flashscope.profiles.engine.contract import Sink
from flashscope.profiles.wire.events import Event, LogLine, RequestFailed, TelemetryStarted
from flashscope.profiles.wire.messages import Message, Ready, WatchDevice

START_S = 30.0


class Watcher:
    """The telemetry child; used from the engine's thread only.

    Args:
        emit: Takes every event.
        make_child: Starts the child.

    Attributes:
        child: The process, None when none runs.
        watching: What it watches, as it announced; None before, and when it is gone.
    """

    def __init__(self, emit: Sink, make_child: MakeChild) -> None:
        self.child: Child | None = None
        self.watching: TelemetryStarted | None = None
        self._emit = emit
        self._make_child = make_child
        self._wanted: WatchDevice | None = None
        self._restarted = False
        self._ready = False
        self._deadline: float | None = None

    @property
    def children(self) -> tuple[Child, ...]:
        """The child, if it runs."""
        return () if self.child is None else (self.child,)

    @property
    def due(self) -> float | None:
        """When a child that does not start is given up."""
        return self._deadline

    def watch(self, backend: Backend, uuid: str | None) -> None:
        """Watch this device from now on."""
        self._wanted = WatchDevice(backend=backend, uuid=uuid)
        self.watching = None
        self._restarted = False
        if self.child is None:
            self._start()
        elif self._ready:
            self.child.send(self._wanted)

    def stop(self) -> None:
        """Ask the child to end."""
        self._wanted = None
        if self.child is not None:
            self.child.end(ask=True)

    def break_off(self, reason: str) -> None:
        """Watch nothing any more; who asked for it is told why. The child has been killed."""
        wanted, self._wanted = self._wanted, None
        self.child = self.watching = self._deadline = None
        if wanted is not None:
            self._emit(RequestFailed(request="watch", reason=reason))

    def receive(self, message: Message) -> None:
        """Take in what the child says."""
        if isinstance(message, Ready):
            self._ready, self._deadline = True, None
            if self.child is not None and self._wanted is not None:
                self.child.send(self._wanted)
        elif isinstance(message, Event):
            if isinstance(message, TelemetryStarted):
                self.watching = message
            self._emit(message)

    def exited(self, child: Child) -> None:
        """The child is gone: start it again, once."""
        self.child = self.watching = self._deadline = None
        if self._wanted is None:
            return
        if self._restarted:
            reason = f"Telemetry {child.epitaph()} again and is off now; the log says more."
            self._emit(RequestFailed(request="watch", reason=reason, detail="\n".join(child.lines)))
            return
        self._restarted = True
        text = f"Telemetry {child.epitaph()}; it is started once more."
        self._emit(LogLine(source="engine", text=text, level="warning"))
        self._start()

    def tick(self) -> None:
        """Give up a child that does not start."""
        if self._deadline is not None and time.monotonic() >= self._deadline and self.child is not None:
            self._deadline = None
            self.child.end(ask=False)

    def _start(self) -> None:
        self.child = self._make_child(self._emit)
        self._ready, self._deadline = False, time.monotonic() + START_S
