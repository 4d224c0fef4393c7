"""Drives runs on an engine: begins the session of each or goes on with it, and has it recorded."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from flashscope.profiles.engine.contract import SWEEP_RUNS, EngineBusyError, EngineFactory, Sink
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.plan.run_mark import RunMark
from flashscope.profiles.results.model.remaining import Remaining
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.running.recording import FileMade, FileNote, FileTrouble, RunRecording
from flashscope.profiles.wire.events import Event, PlanFinished, PlanResumed, PlanStarted

OpenRecording = Callable[[PlanStarted | PlanResumed], RunRecording]
"""Makes what records a run, given the run's first event."""


class Driver:
    """Runs plans on one engine, one at a time.

    A driver is used on one thread, its user's. The engine says what happens on a thread of its own, to
    `sink`; the user carries each event from there to `take`, in order: the session changes there alone.

    Args:
        make_engine: Makes the engine.
        sink: Takes the engine's events, on the engine's thread.

    Attributes:
        engine: What runs the plans; probes, telemetry and traces are asked of it.
        running: Whether a run was begun whose end has not been taken.
        session: What the run that goes on, or the last one, has measured; None before its first event.
        recording: What records that session, None: nothing does.
    """

    def __init__(self, make_engine: EngineFactory, sink: Sink) -> None:
        self.running = False
        self.session: Session | None = None
        self.recording: RunRecording | None = None
        self._resumed: Session | None = None  # the one that the run goes on with
        self._open: OpenRecording | None = None
        self._mark: RunMark | None = None
        self._held: Sequence[Event] = ()  # by the session that begins
        self._recordings: list[RunRecording] = []  # not known to be finished
        self.engine = make_engine(sink)

    def run(
        self,
        plan: Plan,
        record: OpenRecording | None = None,
        mark: RunMark | None = None,
        held: Sequence[Event] = (),
    ) -> None:
        """Start a plan in a fresh session.

        Args:
            plan: What to measure.
            record: Makes what records the session; None: nothing does.
            mark: Which of several runs of the plan it is; None: it is alone.
            held: What the session holds from its beginning, such as the audit whose calls the plan replays.

        Raises:
            EngineBusyError: A run goes on.
            KeyError: The engine has no kernel that the plan names.
        """
        self._start(plan, None, None, record)
        self._mark, self._held = mark, held

    def resume(self, session: Session, remaining: Remaining, record: OpenRecording | None = None) -> None:
        """Go on with what is left of a session's plan; `session` takes in what comes.

        Raises:
            EngineBusyError, KeyError: As `run` does.
        """
        self._start(session.plan, remaining, session, record)

    def cancel(self) -> None:
        """Have the run end within one repeat; what it measured is kept. Without a run nothing."""
        if self.running:
            self.engine.cancel()

    def take(self, told: Event | FileNote) -> None:
        """Take in what the engine or a recording said: it is written first, then it stands in the session.

        A run whose file is refused is cancelled.
        """
        if isinstance(told, FileMade | FileTrouble):
            if self.recording is not None and self.recording.refused:
                self.cancel()
        elif self.running:
            self._take_event(told)

    def close(self) -> None:
        """Stop the engine and wait for it; events may wait in the sink, to be taken before `wait`."""
        self.engine.close()

    def wait(self) -> None:
        """After `close`: finish what is recorded, and return when every file is closed."""
        self._finish()
        for recording in self._recordings:
            recording.wait()

    def _start(
        self, plan: Plan, remaining: Remaining | None, session: Session | None, record: OpenRecording | None
    ) -> None:
        if self.running:
            raise EngineBusyError(SWEEP_RUNS)
        self.engine.run(plan, remaining)
        self.running, self.session, self.recording = True, None, None
        self._resumed, self._open = session, record

    def _take_event(self, event: Event) -> None:
        if isinstance(event, PlanStarted):
            event = replace(event, run_mark=self._mark)
        if isinstance(event, PlanStarted | PlanResumed):
            self.session = Session.begin(event) if isinstance(event, PlanStarted) else self._resumed
            self._recordings = [one for one in self._recordings if not one.finished]
            if self._open is not None:
                self.recording = self._open(event)
                self._recordings.append(self.recording)
        self._keep(event)
        if isinstance(event, PlanStarted):
            for held in self._held:
                self._keep(held)
        if isinstance(event, PlanFinished):
            self._finish()

    def _keep(self, event: Event) -> None:
        """Write it first, then let the session have it."""
        if self.recording is not None:
            self.recording.record(event)
        if self.session is not None:
            self.session.apply(event)

    def _finish(self) -> None:
        if self.running and self.recording is not None:
            self.recording.finish()
        self.running = False
