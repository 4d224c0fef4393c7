"""User intents in, a driver's runs out: what pages talk to."""

import time
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal

from flashscope.app.control.auditing import Auditing
from flashscope.app.control.bridge import Bridge
from flashscope.app.control.edits import Edits
from flashscope.app.control.endings import FAILED, REPLAYING, trouble, why_not_begun
from flashscope.app.control.far.devices import Devices
from flashscope.app.control.far.gate import EventGate
from flashscope.app.control.inside.backward_traces import BackwardTraces
from flashscope.app.control.inside.cut_work import CutWork
from flashscope.app.control.inside.from_point import Insides
from flashscope.app.control.inside.keeping import Keeping
from flashscope.app.control.inside.live_launch import LiveLaunch
from flashscope.app.control.inside.occupying import occupy_while_asked
from flashscope.app.control.inside.stalls import Stalls
from flashscope.app.control.inside.timelines import Timelines
from flashscope.app.control.measuring import Measuring
from flashscope.app.control.own.watch import OwnWatch
from flashscope.app.control.playback import Clock
from flashscope.app.control.queue import Queue, QueuedSweep
from flashscope.app.control.shown_words import ShownWords
from flashscope.app.words.results.progress import NS
from flashscope.app.words.results.provenance import Provenance, of_machine, of_session
from flashscope.kernels.workload.audit import ModelAudit
from flashscope.kernels.workload.problem import Backend
from flashscope.kernels.workload.trace import TraceRequest
from flashscope.profiles.engine.contract import EngineBusyError, EngineFactory
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.remaining import Remaining
from flashscope.profiles.running.driver import Driver, OpenRecording
from flashscope.profiles.running.recording import FileMade, FileNote, FileTrouble
from flashscope.profiles.running.recordings import OpenRecorder, Recordings, new_recorder
from flashscope.profiles.wire.events import (
    AuditReady,
    Event,
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

LIVE_READINGS = 1200  # two minutes at 10 Hz


class Controller(Measuring):
    """What pages talk to; of what is on show and what runs, see Measuring.

    Attributes:
        edits: What the user changes in sessions.
        devices: Where all of it runs: on this machine, or on a device of another.
        queue: The sweeps that wait for their turn.
        unasked: Whether the sweep that runs, or the last one, began by itself: its turn had come.
        watch_own: Watches a kernel of the user's own, and measures it at each save.
        timelines: What is recorded of when a kernel does what.
        stalls: What is sampled of where the warps of a launch stand.
        cuts: Has cuts of kernels compiled.
        auditing: Audits a model, and has its calls replayed.
        live: What is launched in slow motion.
        keeping: Writes into the session on show what was recorded in Inside.
        insides: Leads from a point to what is inside its kernel.
        words: What the user says of the session on show.
        machine: What the probe found, None before it answered.
        backend: Where the next sweep runs that is asked for, and the telemetry while none runs.
        telemetry: What watches the device now, None before the first reading.
        live_readings: The newest readings of this machine, also those outside of any sweep, oldest first.

    Signals:
        path_found: The session on show has a file now (Path).
        sweep_told: As `events_arrived`, of the sweep that runs, whatever is on show.
        machine_found: The probe answered (Machine).
        trace_ready: A trace arrived (Trace).
        trace_failed: A trace could not be recorded, for this reason, which `error_raised` tells too (str).
        running_changed: A sweep or a replay started or ended (bool).
        backend_changed: Another backend is chosen (str).
    """

    path_found = Signal(object)
    sweep_told = Signal(list)
    machine_found = Signal(object)
    trace_ready = Signal(object)
    trace_failed = Signal(str)
    running_changed = Signal(bool)
    backend_changed = Signal(str)

    def __init__(
        self,
        make_engine: EngineFactory,
        sessions_dir: Path,
        opener: OpenRecorder = new_recorder,
        clock: Clock = time.monotonic,
    ) -> None:
        super().__init__(lambda: self.measuring, clock)
        self.machine: Machine | None = None
        self.backend: Backend = "cpu"
        self._occupiers = {}
        self.telemetry: TelemetryStarted | None = None
        self.live_readings: deque[Reading] = deque(maxlen=LIVE_READINGS)
        self.sessions_dir = sessions_dir
        self._clock = clock
        self._ahead_ns: int | None = None  # of the clock, that of the session being measured, once it began
        self._backend_chosen = False
        self._watched: Backend | None = None
        self.unasked = self.aside = False
        self._behind = False  # whether the sweep that begins leaves what is on show alone
        self._closed = False
        self._shown.replaying_changed.connect(self.running_changed)
        self.edits = Edits(self)
        self.words = ShownWords(self._shown, self.edits)
        self.queue = self._make_queue()
        self._bridge = Bridge(self)
        self._bridge.arrived.connect(self._take_live)
        gate = EventGate(self._bridge.push)
        self._driver = Driver(make_engine, gate)
        self.devices = Devices(
            self._driver, gate, self._bridge, make_engine, self.version_recording, parent=self
        )
        self.devices.moved.connect(self._look_anew)
        self._recordings = Recordings(sessions_dir, opener, self._bridge.push)
        self.watch_own = OwnWatch(self, self._driver)
        self.watch_own.failed.connect(self.error_raised)
        self.watch_own.changed.connect(self.queue.wake)
        self.timelines = Timelines(lambda: self._driver.engine, self)
        self.stalls = Stalls(lambda: self._driver.engine, self)
        self.backward_traces = BackwardTraces(lambda: self._driver.engine, self)
        self._asked = self.timelines, self.stalls, self.backward_traces
        self.cuts = CutWork(lambda asked, told: self._driver.engine.lines("cuts", asked, told), self)
        self.devices.moved.connect(self.cuts.cancel)
        self.auditing = Auditing(
            lambda asked, told: self._driver.engine.lines("audit", asked, told), self, self
        )
        for asked in (*self._asked, self.cuts, self.auditing):
            asked.failed.connect(self.error_raised)
        self.devices.moved.connect(self.auditing.put_away)
        for changed in (self.running_changed, self.occupied_changed):  # once all others have heard
            changed.connect(self.auditing.follow, Qt.ConnectionType.QueuedConnection)
        self.live = LiveLaunch(lambda: self._driver.engine, self)
        occupy_while_asked(self.occupy, self.timelines, self.stalls, self.live)
        self.devices.beside = *self._asked, self.live
        self.keeping = Keeping(self._shown, self.edits)
        self.insides = Insides(self)

    def _make_queue(self) -> Queue:
        queue = Queue(
            self._begin_entry,
            lambda: self.measuring or self.watch_own.about_to_run,
            lambda: self.occupied,
            self,
        )
        self.occupied_changed.connect(queue.follow_hindrance)
        return queue

    @property
    def now_ns(self) -> int | None:
        """The moment of the sweep that runs, or of the replay, by its session's clock; None without one."""
        if self.playback is not None:
            return self.playback.at_ns
        return self.sweep_now_ns

    @property
    def sweep_now_ns(self) -> int | None:
        """The moment of the sweep that runs, by its session's clock; None without one."""
        return None if self._ahead_ns is None else self._clock_ns() + self._ahead_ns

    def _clock_ns(self) -> int:
        return round(self._clock() * NS)

    @property
    def provenance(self) -> Provenance:
        """Where the figures on show come from; without a session: where the next ones would."""
        if self.session is None:
            return of_machine(self.machine, self.backend, self.devices.count, self.devices.sharing)
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
        self.telemetry, self._watched = None, backend
        self.live_readings.clear()
        self._driver.engine.watch(backend)

    def run(self, plan: Plan, runs: int = 1) -> bool:
        """Measure a plan so many times, each in a fresh session and file: now, or after what runs and waits.

        Returns:
            Whether it waits.
        """
        again = self.devices.why_not_again if runs > 1 else ""
        if why := REPLAYING if self.replaying else self.occupied or again:
            self.error_raised.emit(why, "")
            return False
        return self.queue.add(plan, runs)

    def run_now(self, plan: Plan) -> None:
        """The same at once, whatever waits; while another one runs it is refused."""
        record = partial(self._recordings.anew, plan.backend, "")
        self._start(plan.backend, partial(self._driver.run, plan, record))

    def replay_calls(self, plan: Plan, audit: ModelAudit) -> str:
        """Measure the calls of an audit, which begins that session. Returns why not, or nothing."""
        record, held = partial(self._recordings.anew, plan.backend, ""), (AuditReady(audit=audit),)
        return self._start(plan.backend, partial(self._driver.run, plan, record, held=held))

    def _begin_entry(self, entry: QueuedSweep, unasked: bool) -> str:
        """Start what waited; of several runs each by a fresh process. Returns why it cannot, or nothing."""
        if entry.runs > 1:
            self._driver.engine.renew()
        plan, record = entry.plan, partial(self._recordings.anew, entry.plan.backend, entry.file_stem)
        return self._start(plan.backend, partial(self._driver.run, plan, record, entry.mark), unasked=unasked)

    def resume(self, remaining: Remaining) -> None:
        """Measure what is left of the session on show, in its file; nothing where it has none."""
        if self.session is not None and self.path is not None:
            record = partial(self._recordings.within, self.path)
            self._start(self.session.backend, partial(self._driver.resume, self.session, remaining, record))

    def run_version(self, plan: Plan, record: OpenRecording | None) -> None:
        """Measure a version of a watched kernel, behind what is on show.

        Raises:
            EngineBusyError: Something else is measured, or it cannot be measured on the devices in use.
        """
        if why := self.devices.why_no_version(plan.backend, self.machine):
            raise EngineBusyError(why)
        self._driver.run(plan, record)
        if plan.backend != self._watched:
            self.watch(plan.backend)
        self.unasked = self.aside = self._behind = True
        self.running_changed.emit(True)

    def version_recording(self, backend: Backend, name: str) -> OpenRecording:
        """What records the session of a version of this name, which its file's name ends in."""
        return partial(self._recordings.version, backend, name)

    def _start(self, backend: Backend, start: Callable[[], None], *, unasked: bool = False) -> str:
        """Start a sweep; one begun by itself stays behind what is on show. Returns why not, or nothing."""
        why = self.why_no_sweep or self.devices.why_not_on(backend, self.machine)
        behind = unasked and self.session is not None and not self.sweep_on_show
        if not why:
            if not unasked and backend != self.backend:
                self.choose_backend(backend)
            elif backend != self._watched:
                self.watch(backend)
            try:
                start()
            except EngineBusyError as error:
                why = f"The sweep did not start: {error}"
        if why:
            self.error_raised.emit(why, "")
            return why
        self.unasked, self._behind, self.aside = unasked, behind, False
        self.running_changed.emit(True)
        return ""

    def cancel(self) -> None:
        """Stop the sweep within one repeat, or end the replay and show its session whole again."""
        if self.replaying:
            self._shown.end_replay()
        else:
            self._driver.cancel()

    def request_trace(self, request: TraceRequest) -> None:
        """Record a trace for the Stepper; it belongs to no session."""
        self._driver.engine.trace(request)

    def show_sweep(self) -> None:
        """Show the sweep that runs, or the last one, in the place of what was opened meanwhile."""
        if self.sweep is not None and not self.sweep_on_show:
            self._shown.show_sweep(self.sweep, self._driver.recording)

    def close(self) -> None:
        """Stop everything and wait for it; what was measured until now is in the file."""
        if self._closed:
            return
        self._closed = True
        self.queue.close()
        self.watch_own.close()
        self.cuts.close()
        self.auditing.close()
        self._shown.close()
        self.edits.wait()
        self.devices.close()
        self._driver.close()
        self.devices.end_place()
        self._bridge.drain()
        self._driver.wait()
        self._bridge.stop()  # after what the recordings said last

    def _use_backend(self, backend: Backend) -> None:
        if backend != self.backend:
            self.backend = backend
            self.backend_changed.emit(backend)
        if not self.measuring:  # the telemetry of what runs goes on
            self.watch(backend)

    def _take_live(self, told: list[Event | FileNote]) -> None:
        for one in told:
            if isinstance(one, TraceReady):
                self.trace_ready.emit(one.trace)  # it belongs to no session
                continue
            if not isinstance(one, FileMade | FileTrouble) and (
                any(asked.take(one) for asked in self._asked) or self.live.take(one)
            ):
                continue
            self.watch_own.take(one)
            if isinstance(one, FileMade | FileTrouble):
                self._hear_of_file(one)
            else:
                self._note(one)
        events = [one for one in told if not isinstance(one, FileMade | FileTrouble)]
        if events:
            self.sweep_told.emit(events)
        shown = self._of_what_is_shown(events, sweep_on_show=self.sweep is None or self.sweep_on_show)
        if shown:
            self.events_arrived.emit(shown)

    def _hear_of_file(self, note: FileNote) -> None:
        if isinstance(note, FileTrouble):
            self.error_raised.emit(*trouble(note))
        elif note.path == self.path:
            self.path_found.emit(note.path)

    def _note(self, event: Event) -> None:
        match event:
            case MachineFound():
                self._found(event)
            case TelemetryStarted():
                self.telemetry = event
            case Readings(device=0):
                self.live_readings.extend(event.readings)
            case PlanStarted() | PlanResumed():
                self._begin(event)
            case PlanFinished():
                self._finish(event)
            case RequestFailed():
                self.error_raised.emit(event.reason, event.detail)
                if event.request == "trace":
                    self.trace_failed.emit(event.reason)

    def _look_anew(self) -> None:
        """Know nothing of the machine and what runs on it, which is another one now."""
        self.machine = self.telemetry = self._watched = None
        self._backend_chosen = False
        self.live_readings.clear()
        self.start()

    def _found(self, event: MachineFound) -> None:
        self.machine = machine = event.machine
        self.devices.found(event)
        if not self._backend_chosen:
            self._use_backend("cuda" if machine.device("cuda") else "cpu")
        self.machine_found.emit(machine)

    def _begin(self, event: PlanStarted | PlanResumed) -> None:
        self._ahead_ns = event.t_ns - self._clock_ns() if isinstance(event, PlanResumed) else 0
        if self._driver.session is not None and not self._behind:
            self._shown.show_sweep(self._driver.session, self._driver.recording)

    def _finish(self, event: PlanFinished) -> None:
        self._ahead_ns = None
        if event.outcome == "failed" and not self.aside:
            self.error_raised.emit(event.reason or FAILED, "")
        self.running_changed.emit(False)
        self.queue.follow(self.sweep)
        self.queue.ended("" if self.aside else why_not_begun(event, self.sweep, self._driver.recording))
        if self.queue.goes_on:
            return
        if self._watched != self.backend:
            self.watch(self.backend)
        self.devices.sweeps_ended()
