"""User intents in, a driver's runs out: what pages talk to."""

import time
from collections import deque
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal

from flashscope.app.control.bridge import Bridge
from flashscope.app.control.edits import Edits
from flashscope.app.control.on_show import OnShow
from flashscope.app.control.playback import Clock, Playback
from flashscope.app.control.selection import Selection
from flashscope.app.control.shown_words import ShownWords
from flashscope.app.words.progress import NS
from flashscope.app.words.provenance import Provenance, of_machine, of_session
from flashscope.kernels.workload.problem import Backend
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.engine.contract import EngineBusyError, EngineFactory
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.remaining import Remaining
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.running.driver import Driver
from flashscope.profiles.running.recording import (
    BackgroundRecording,
    EventRecorder,
    FileMade,
    FileNote,
    FileTrouble,
)
from flashscope.profiles.store import Recorder, SessionMark, new_session_path
from flashscope.profiles.wire.events import (
    Event,
    LogLine,
    MachineFound,
    PlanFinished,
    PlanResumed,
    PlanStarted,
    Reading,
    Readings,
    RequestFailed,
    TelemetryStarted,
    TraceReady,
)

OF_THIS_MACHINE = Readings, TelemetryStarted
OF_NO_SWEEP = MachineFound, TelemetryStarted, Readings, RequestFailed, LogLine
OpenRecorder = Callable[[Path], EventRecorder]
SWEEPING = "A sweep is running already; cancel it first, or wait for its end."
REPLAYING = "A replay is on show; leave it (Esc, Esc) before a sweep is run or resumed."
CATCHES_UP = "The sweep goes on, and the file catches up once it can be written."
LIVE_READINGS = 1200  # two minutes at 10 Hz


def new_recorder(path: Path) -> Recorder:
    """Records in a new file of this name, or of one with a number where the name is taken."""
    return Recorder(path, numbered=True)


class Controller(Selection):
    """What pages talk to; of what is looked at, see Selection.

    Attributes:
        edits: What the user changes in sessions.
        words: What the user says of the session on show.
        machine: What the probe found, None before it answered.
        running: Whether a sweep or a replay runs.
        replaying: Whether what runs is a replay, which may be paused.
        backend: Where the next sweep and the telemetry run.
        telemetry: What watches the device now, None before the first reading.
        occupied: What else measures on this machine, why no sweep can start beside it; empty: nothing does.
        live_readings: The newest readings of this machine, also those outside of any sweep, oldest first.

    Signals:
        session_changed: Another session is on show (Session or None).
        path_found: The session on show has a file now (Path).
        events_arrived: A batch of events, already applied to the session on show; at most 30 batches a
            second. While a recording is on show what this machine reads and measures is not among them.
        sweep_told: The same of the sweep that runs, whatever is on show.
        machine_found: The probe answered (Machine).
        jumped: The session on show, a replay's, is as it was at another moment.
        trace_ready: A trace arrived (Trace).
        trace_failed: A trace could not be recorded, for this reason, which `error_raised` tells too (str).
        running_changed: A sweep or a replay started or ended (bool).
        occupied_changed: Something else measures on this machine, or no longer (str).
        backend_changed: Another backend is chosen (str).
        error_raised: Something went wrong: one sentence, and details (str, str).
        not_opened: A file could not be shown, for the reason that `error_raised` has told (Path).
    """

    session_changed = Signal(object)
    path_found = Signal(object)
    events_arrived = Signal(list)
    sweep_told = Signal(list)
    jumped = Signal()
    machine_found = Signal(object)
    trace_ready = Signal(object)
    trace_failed = Signal(str)
    running_changed = Signal(bool)
    occupied_changed = Signal(str)
    backend_changed = Signal(str)
    error_raised = Signal(str, str)
    not_opened = Signal(object)

    def __init__(
        self,
        make_engine: EngineFactory,
        sessions_dir: Path,
        opener: OpenRecorder = new_recorder,
        clock: Clock = time.monotonic,
    ) -> None:
        super().__init__()
        self._shown = OnShow(lambda: self.measuring, clock, self)
        self.machine: Machine | None = None
        self.backend: Backend = "cpu"
        self.occupied = ""
        self.telemetry: TelemetryStarted | None = None
        self.live_readings: deque[Reading] = deque(maxlen=LIVE_READINGS)
        self.sessions_dir = sessions_dir
        self._opener = opener
        self._clock = clock
        self._ahead_ns: int | None = None  # of the clock, that of the session being measured, once it began
        self._backend_chosen = False
        self._closed = False
        self._shown.session_changed.connect(lambda _session: self.choose_nothing())
        self._shown.session_changed.connect(self.session_changed)
        self._shown.events_arrived.connect(self.events_arrived)
        self._shown.jumped.connect(self.jumped)
        self._shown.replaying_changed.connect(self.running_changed)
        self._shown.error_raised.connect(self.error_raised)
        self._shown.not_opened.connect(self.not_opened)
        self.edits = Edits(self)
        self.words = ShownWords(self._shown, self.edits)
        self._bridge = Bridge(self)
        self._bridge.arrived.connect(self._take_live)
        self._driver = Driver(make_engine, self._bridge.push)

    @property
    def session(self) -> Session | None:
        """The session on show, None before the first."""
        return self._shown.session

    @property
    def playback(self) -> Playback | None:
        """What plays the session on show, None without a replay."""
        return self._shown.playback

    @property
    def path(self) -> Path | None:
        """File of the session on show, None while it has none."""
        return self._shown.path

    @property
    def reading(self) -> bool:
        """Whether readings of the session on show are still to come from its file."""
        return self._shown.reading

    @property
    def mark(self) -> SessionMark | None:
        """Which session is on show, None before the first: its file may hold another one by now."""
        return self._shown.mark

    @property
    def running(self) -> bool:
        """Whether a sweep or a replay runs."""
        return self.measuring or self.replaying

    @property
    def measuring(self) -> bool:
        """Whether a sweep runs."""
        return self._driver.running

    @property
    def sweep(self) -> Session | None:
        """What the sweep that runs, or the last one, has measured; None before the first."""
        return self._driver.session

    @property
    def sweep_path(self) -> Path | None:
        """The file of that, None while it has none."""
        return self._driver.recording.path if self._driver.recording is not None else None

    @property
    def sweep_on_show(self) -> bool:
        """Whether that is the session on show, and no replay of it."""
        return self.sweep is not None and self.session is self.sweep

    @property
    def sweep_behind(self) -> bool:
        """Whether a sweep runs while something else is on show."""
        return self.measuring and not self.sweep_on_show

    @property
    def moving(self) -> bool:
        """Whether the session on show grows, because it is measured or replayed."""
        return self.replaying or (self.measuring and self.sweep_on_show)

    @property
    def replaying(self) -> bool:
        """Whether a replay runs or is paused."""
        return self.playback is not None

    @property
    def why_no_sweep(self) -> str:
        """Why no sweep can start now, in one sentence; empty: one can."""
        if self.running:
            return REPLAYING if self.replaying else SWEEPING
        return self.occupied

    @property
    def now_ns(self) -> int | None:
        """The moment of the sweep that runs, or of the replay, by its session's clock; None without one."""
        if self.playback is not None:
            return self.playback.at_ns
        return None if self._ahead_ns is None else self._clock_ns() + self._ahead_ns

    def _clock_ns(self) -> int:
        return round(self._clock() * NS)

    @property
    def provenance(self) -> Provenance:
        """Where the figures on show come from; without a session: where the next ones would."""
        if self.session is None:
            return of_machine(self.machine, self.backend)
        return of_session(self.session, self._shown.kind)

    def start(self) -> None:
        """Probe the machine; called once the window has been painted."""
        self._driver.engine.probe()

    def choose_backend(self, backend: Backend) -> None:
        """Run the next sweep there, and watch its device."""
        self._backend_chosen = True
        self._use_backend(backend)

    def watch(self, backend: Backend) -> None:
        """Stream this backend's telemetry."""
        self.telemetry = None
        self.live_readings.clear()
        self._driver.engine.watch(backend)

    def run(self, plan: Plan) -> None:
        """Start a sweep in a fresh session and file."""
        self._start(plan.backend, partial(self._driver.run, plan, partial(self._record_anew, plan.backend)))

    def resume(self, remaining: Remaining) -> None:
        """Measure what is left of the session on show, in its file; nothing where it has none."""
        if self.session is not None and self.path is not None:
            record = partial(self._record, self.path)
            self._start(self.session.backend, partial(self._driver.resume, self.session, remaining, record))

    def _start(self, backend: Backend, start: Callable[[], None]) -> None:
        if self.why_no_sweep:
            self.error_raised.emit(self.why_no_sweep, "")
            return
        if backend != self.backend:
            self.choose_backend(backend)
        try:
            start()
        except EngineBusyError as error:
            self.error_raised.emit(f"The sweep did not start: {error}", "")
            return
        self.running_changed.emit(True)

    def cancel(self) -> None:
        """Stop the sweep within one repeat, or end the replay and show its session whole again."""
        if self.replaying:
            self._shown.end_replay()
        else:
            self._driver.cancel()

    def occupy(self, reason: str) -> None:
        """Let no sweep start, for this reason, or let them again: without one."""
        self.occupied = reason
        self.occupied_changed.emit(reason)

    def request_trace(self, request: TraceRequest) -> None:
        """Record a trace for the Stepper; it belongs to no session."""
        self._driver.engine.trace(request)

    def open_session(self, path: Path, then: Callable[[], None] | None = None) -> None:
        """Read a saved session and show it as soon as its points are read; its readings follow in batches.

        A file that cannot be opened raises `error_raised` and `not_opened`, and the old one stays.

        Args:
            path: The file.
            then: What to do once it is on show and read whole.
        """
        self._shown.open(path.absolute(), then)  # as lists of files name it

    def show_sweep(self) -> None:
        """Show the sweep that runs, or the last one, in the place of what was opened meanwhile."""
        if self.sweep is not None and not self.sweep_on_show:
            self._shown.show_sweep(self.sweep, self._driver.recording)

    def replay(self, speed: float) -> None:
        """Play the session on show again from its start, at one of the playback's SPEEDS.

        One that is still being read is played once it is read whole.
        """
        self._shown.replay(speed)

    def close(self) -> None:
        """Stop everything and wait for it; what was measured until now is in the file."""
        if self._closed:
            return
        self._closed = True
        self._shown.close()
        self.edits.wait()
        self._driver.close()
        self._bridge.drain()
        self._driver.wait()
        self._bridge.stop()  # after what the recordings said last

    def _use_backend(self, backend: Backend) -> None:
        if backend != self.backend:
            self.backend = backend
            self.backend_changed.emit(backend)
        self.watch(backend)

    def _take_live(self, told: list[Event | FileNote]) -> None:
        for one in told:
            if isinstance(one, TraceReady):
                self.trace_ready.emit(one.trace)  # it belongs to no session
                continue
            self._driver.take(one)
            if isinstance(one, FileMade | FileTrouble):
                self._hear_of_file(one)
            else:
                self._note(one)
        events = [one for one in told if not isinstance(one, FileMade | FileTrouble)]
        if events:
            self.sweep_told.emit(events)
        if self._shown.kind != "live":
            events = [one for one in events if not isinstance(one, OF_THIS_MACHINE)]
        if self.sweep is not None and not self.sweep_on_show:
            events = [one for one in events if isinstance(one, OF_NO_SWEEP)]
        if events:
            self.events_arrived.emit(events)

    def _hear_of_file(self, note: FileNote) -> None:
        if isinstance(note, FileTrouble):
            text = f"{note.text} {CATCHES_UP}" if note.passing else note.text
            self.error_raised.emit(text, f"{type(note.error).__name__}: {note.error}\n{note.path}")
        elif note.path == self.path:
            self.path_found.emit(note.path)

    def _note(self, event: Event) -> None:
        match event:
            case MachineFound():
                self._found(event.machine)
            case TelemetryStarted():
                self.telemetry = event
            case Readings():
                self.live_readings.extend(event.readings)
            case PlanStarted() | PlanResumed():
                self._begin(event)
            case PlanFinished():
                self._finish(event)
            case RequestFailed():
                self.error_raised.emit(event.reason, event.detail)
                if event.request == "trace":
                    self.trace_failed.emit(event.reason)
            case _:
                pass

    def _found(self, machine: Machine) -> None:
        self.machine = machine
        if not self._backend_chosen:
            self._use_backend("cuda" if machine.device("cuda") else "cpu")
        self.machine_found.emit(machine)

    def _begin(self, event: PlanStarted | PlanResumed) -> None:
        self._ahead_ns = event.t_ns - self._clock_ns() if isinstance(event, PlanResumed) else 0
        if self._driver.session is not None:
            self._shown.show_sweep(self._driver.session, self._driver.recording)

    def _record_anew(self, backend: Backend, event: PlanStarted | PlanResumed) -> BackgroundRecording:
        started = datetime.fromisoformat(event.started_at)
        return self._record(new_session_path(self.sessions_dir, backend, started), event)

    def _record(self, path: Path, _event: PlanStarted | PlanResumed) -> BackgroundRecording:
        return BackgroundRecording(self._opener(path), self._bridge.push)

    def _finish(self, event: PlanFinished) -> None:
        self._ahead_ns = None
        if event.outcome == "failed":
            self.error_raised.emit(event.reason or "The sweep failed.", "")
        self.running_changed.emit(False)
