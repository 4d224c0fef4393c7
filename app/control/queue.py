"""The sweeps that wait for their turn, in the order in which they will be measured."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from uuid import uuid4

from PySide6.QtCore import QObject, QTimer, Signal

from flashscope.app.words.results.queueing import run_words, sweep_words
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.plan.run_mark import RunMark
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.model.time_left import Experience, seconds_left


@dataclass(frozen=True)
class QueuedSweep:
    """A sweep that waits or runs; one that is made several times is one entry until its last run.

    Attributes:
        number: Tells it from all others of this window, however often it has run.
        plan: What is measured.
        stem: What the names of its runs' files begin with; empty where there is one run.
        family: What marks its runs as such; empty where there is one.
        runs: How many runs it has in all.
        run: The next of them, or the one that runs, from 1.
    """

    number: int
    plan: Plan
    stem: str = ""
    family: str = ""
    runs: int = 1
    run: int = 1

    @property
    def left(self) -> int:
        """How many runs are to be made, this one too."""
        return self.runs - self.run + 1

    @property
    def file_stem(self) -> str:
        """The name of this run's file, without its ending; empty: any that is free."""
        return f"{self.stem}-{self.run}" if self.stem else ""

    @property
    def mark(self) -> RunMark | None:
        """Which of several runs this is, as its session has it; None: it is alone."""
        return RunMark(family=self.family, run=self.run, of=self.runs) if self.family else None

    @property
    def words(self) -> str:
        """What is measured, for a user."""
        return sweep_words(self.plan)

    @property
    def told(self) -> str:
        """What is measured, and which run this is where there are several."""
        return _joined(run_words(self.run, self.run, self.runs), self.words)

    @property
    def left_told(self) -> str:
        """What is measured, and which runs are to be made where there are several."""
        return _joined(run_words(self.run, self.runs, self.runs), self.words)


def _joined(*words: str) -> str:
    return " · ".join(filter(None, words))


Begin = Callable[[QueuedSweep, bool], str]
"""Starts a sweep, by itself or because the user has just asked for it; returns why it cannot, or nothing."""


class Queue(QObject):
    """Has one sweep measured after the other; it lives as long as its window.

    When a sweep has ended, however it did, the next begins by itself, once nothing else measures. Where one
    could not start, the queue stops and keeps the reason, until the user goes on or nothing waits any more.

    Args:
        begin: Starts a sweep.
        measuring: Whether one runs.
        hindered: Why none may begin until something else has ended; empty: one may.
        parent: Its owner.

    Attributes:
        entries: What waits, the next first.
        running: What was begun last, of those that were asked for here; None: nothing of that runs.
        stopped: Why the next one does not begin; empty: it does.
        held: Whether nothing begins by itself for as long as something else has its sweeps measured.

    Signals:
        changed: What waits, what runs or why nothing begins.
        waits: A sweep was put at the end (QueuedSweep).
        begun: A sweep began by itself (QueuedSweep).
        halted: The queue stopped, for this reason (str).
    """

    changed = Signal()
    waits = Signal(object)
    begun = Signal(object)
    halted = Signal(str)

    def __init__(
        self,
        begin: Begin,
        measuring: Callable[[], bool],
        hindered: Callable[[], str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.entries: tuple[QueuedSweep, ...] = ()
        self.running: QueuedSweep | None = None
        self.held = False
        self.stopped = ""
        self._begin, self._measuring, self._hindered = begin, measuring, hindered
        self._numbers = count(1)
        self._experience = Experience()
        self._next = QTimer(self, interval=0, singleShot=True)
        self._next.timeout.connect(self._begin_next)

    @property
    def waiting(self) -> int:
        """How many sweeps are still to begin, each run counted."""
        return sum(entry.left for entry in self.entries)

    @property
    def waits_for(self) -> str:
        """Why the next, whose turn it is, begins only when something else has ended; else empty."""
        return self._hindered() if self.goes_on and not self._measuring() else ""

    @property
    def goes_on(self) -> bool:
        """Whether something will begin by itself."""
        return bool(self.entries) and not self.stopped and not self.held

    def add(self, plan: Plan, runs: int = 1) -> bool:
        """Measure a plan so many times: at once where nothing runs or waits, else after all that waits.

        Returns:
            Whether it waits.
        """
        stem = f"{datetime.now().astimezone():%Y-%m-%d-%H%M%S}-{plan.backend}" if runs > 1 else ""
        entry = QueuedSweep(next(self._numbers), plan, stem, uuid4().hex if runs > 1 else "", runs)
        if self._measuring() or self.entries or self.held:
            self._set((*self.entries, entry))
            self.waits.emit(entry)
            return True
        self._start(entry, unasked=False)
        return False

    def move(self, number: int, by: int) -> None:
        """Let an entry change places with those before it (by < 0) or after it."""
        place = self._place(number)
        if place is None:
            return
        others = self.entries[:place] + self.entries[place + 1 :]
        to = min(max(place + by, 0), len(others))
        self._set((*others[:to], self.entries[place], *others[to:]))

    def take_out(self, number: int) -> tuple[QueuedSweep, int] | None:
        """Let an entry wait no more; the entry and its place, for `put_back`. None: it does not wait."""
        place = self._place(number)
        if place is None:
            return None
        entry = self.entries[place]
        self._set(self.entries[:place] + self.entries[place + 1 :])
        return entry, place

    def put_back(self, entry: QueuedSweep, place: int) -> None:
        """Let an entry that was taken out wait again, at this place or at the end."""
        if self._place(entry.number) is None:
            self._set((*self.entries[:place], entry, *self.entries[place:]))
            self.wake()

    def go_on(self) -> None:
        """After a stop: begin what comes next."""
        if self.stopped:
            self.stopped = ""
            self.changed.emit()
            self.wake()

    def hold(self, held: bool) -> None:
        """Let nothing begin by itself, or let it again."""
        self.held = held
        self.wake()

    def follow(self, session: Session | None) -> None:
        """Learn from a sweep how long others will take."""
        if session is not None:
            self._experience.take(session)

    def ended(self, not_started: str = "") -> None:
        """The sweep that ran has ended; the next begins, unless this one could not start, for this reason."""
        self.running = None
        if not_started and self.entries:
            self._stop(not_started)
        else:
            self.changed.emit()
            self.wake()

    def wake(self) -> None:
        """Begin what comes next, if nothing is in its way, once all have heard what has just happened."""
        if self.goes_on:
            self._next.start()

    def follow_hindrance(self) -> None:
        """What hinders a sweep has begun or ended."""
        self.changed.emit()
        self.wake()

    def seconds(self, entry: QueuedSweep) -> float | None:
        """Estimated seconds of all runs of an entry that are to come; None where that is not known."""
        each = self._experience.seconds(entry.plan)
        return None if each is None else each * entry.left

    def estimates(self, session: Session | None, now_ns: int | None = None) -> list[float | None]:
        """Estimated seconds of the sweep that runs, whose session this is, and of each that waits.

        The moment is by that session's clock; None: that of its last event.
        """
        if self.entries:
            self.follow(session)
        now = [seconds_left(session, now_ns) if session is not None else None] if self._measuring() else []
        return [*now, *map(self.seconds, self.entries)]

    def close(self) -> None:
        """Begin nothing more."""
        self._next.stop()
        self.entries = ()

    def _place(self, number: int) -> int | None:
        return next((place for place, entry in enumerate(self.entries) if entry.number == number), None)

    def _set(self, entries: tuple[QueuedSweep, ...]) -> None:
        self.entries = entries
        if not entries:
            self.stopped = ""
        self.changed.emit()

    def _begin_next(self) -> None:
        if self.goes_on and not self._measuring() and not self._hindered():
            first, *others = self.entries
            self.entries = tuple(others)
            self._start(first, unasked=True)

    def _start(self, entry: QueuedSweep, *, unasked: bool) -> None:
        before, self.running = self.running, entry
        refused = self._begin(entry, unasked)
        if refused:
            self.running = before
            if unasked:
                self.entries = (entry, *self.entries)
                self._stop(refused)
            return
        if entry.left > 1:
            self.entries = (replace(entry, run=entry.run + 1), *self.entries)
        self.changed.emit()
        if unasked:
            self.begun.emit(entry)

    def _stop(self, reason: str) -> None:
        self.stopped = reason
        self.changed.emit()
        self.halted.emit(reason)
