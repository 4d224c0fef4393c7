"""User intents in, engine out: owns the current session and its recorder."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from kernels.problem import Backend
from kernels.trace import TraceRequest
from profiles.engine import Engine, Sink
from profiles.machine import Machine
from profiles.plan import Plan
from profiles.session import Session

EngineFactory = Callable[[Sink], Engine]


class Controller(QObject):
    """What pages talk to.

    Attributes:
        session: The session on show, None before the first.
        machine: What the probe found, None before it answered.
        running: Whether a sweep runs.

    Signals:
        session_changed: Another session is on show (Session or None).
        events_arrived: A batch of events, already applied to the session; at most 30 batches a second.
        machine_found: The probe answered (Machine).
        trace_ready: A trace arrived (Trace).
        running_changed: A sweep started or ended (bool).
        error_raised: Something went wrong: one sentence, and details (str, str).
    """

    session_changed = Signal(object)
    events_arrived = Signal(list)
    machine_found = Signal(object)
    trace_ready = Signal(object)
    running_changed = Signal(bool)
    error_raised = Signal(str, str)

    session: Session | None
    machine: Machine | None
    running: bool

    def __init__(self, make_engine: EngineFactory, sessions_dir: Path) -> None: ...

    def start(self) -> None:
        """Probe the machine; called once the window has been painted."""

    def watch(self, backend: Backend) -> None:
        """Stream this backend's telemetry."""

    def run(self, plan: Plan) -> None:
        """Start a sweep in a fresh session, recorded in a new file."""

    def cancel(self) -> None:
        """Stop the sweep within one repeat."""

    def request_trace(self, request: TraceRequest) -> None:
        """Record a trace for the Stepper."""

    def open_session(self, path: Path) -> None:
        """Show a saved session; a file that cannot be opened raises `error_raised`, the old one stays."""

    def close(self) -> None:
        """Stop everything and wait for it."""
