"""A sweep's progress on stderr: a bar on a terminal, else one line a point."""

import atexit
import sys
from collections.abc import Callable
from time import monotonic
from typing import NamedTuple, Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column
from rich.text import Text

from flashscope.app.commands.messages import tell
from flashscope.app.words.results.progress import elapsed_text, job_text, left_text, repeat_text
from flashscope.app.words.units import ms_text
from flashscope.profiles.plan.problem_words import place_words
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.model.time_left import seconds_left
from flashscope.profiles.results.statistics.stats import quartiles
from flashscope.profiles.wire.events import (
    Event,
    LogLine,
    PlanFinished,
    PointFailed,
    PointMeasured,
    PointStarted,
)
from flashscope.profiles.wire.text import harmless

BAR_WIDTH, SHORT_BAR_WIDTH = 24, 10
WIDE = 100  # columns of a terminal that has room for the longer bar
REFRESHES = 2  # a second: the clock is to tick, and the CPU is what a sweep may be measuring


class Display(Protocol):
    """Shows a user who waits how far a sweep is."""

    def report(self, session: Session, event: Event) -> None:
        """Say what an event means; `session` has taken it in already."""


def progress_display() -> Display:
    """What fits stderr: a bar that moves on a terminal, else lines."""
    console = Console(stderr=True, force_terminal=sys.stderr.isatty())
    return ProgressBar(console) if console.is_terminal and not console.is_dumb_terminal else ProgressLines()


class ProgressLines:
    """One line for each start and each end of a point."""

    def report(self, session: Session, event: Event) -> None:
        """Print what an event means, if it means something."""
        if isinstance(event, PointStarted):
            tell(_place(session, event.index) + _left(session))
        elif isinstance(event, PointMeasured):
            times = quartiles(event.samples)
            took = ms_text(times.median) if times else "no accepted sample"
            tell(f"{_place(session, event.index)}: {took}")
        else:
            _tell_trouble(session, event)


class Noted(NamedTuple):
    """What the clock of a bar goes on from.

    Attributes:
        left_s: Estimated seconds to the end, None while nothing is known.
        left_at: When that was so.
        begun_at: When what is in flight began.
    """

    left_s: float | None = None
    left_at: float = 0.0
    begun_at: float = 0.0


class TickingColumn(ProgressColumn):
    """A text that goes on with the clock between two events.

    Args:
        text: Gives it of a task, of what was noted, and of the moment.
        clock: Seconds.
        style: How it looks.
        column: How it takes its room.
    """

    def __init__(
        self,
        text: Callable[[Task, Noted, float], str],
        clock: Callable[[], float],
        style: str = "",
        column: Column | None = None,
    ) -> None:
        super().__init__(column)
        self._text, self._clock, self._style = text, clock, style

    def render(self, task: Task) -> Text:
        """The text as it is now."""
        return Text(self._text(task, task.fields["noted"], self._clock()), style=self._style)


def _still_left(_task: Task, noted: Noted, now: float) -> str:
    left = noted.left_s
    return "" if left is None else f"{left_text(left - (now - noted.left_at))} left"


def _into_job(task: Task, noted: Noted, now: float) -> str:
    job = task.description
    return f"{elapsed_text(now - noted.begun_at)} into {job}" if job else ""


class ProgressBar:
    """One bar that moves: how many points are done, the time, and what is in flight; trouble stands above it.

    Between two events the time left falls, and that of what is in flight rises: a long point is seen to run.

    Args:
        console: The terminal.
        clock: Seconds.
    """

    def __init__(self, console: Console, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._noted = clock, Noted()
        width = BAR_WIDTH if console.width >= WIDE else SHORT_BAR_WIDTH
        self._progress = Progress(
            TextColumn("{task.completed} of {task.total}", markup=False),
            BarColumn(width, complete_style="cyan", finished_style="green"),
            TimeElapsedColumn(),
            TickingColumn(_still_left, clock, "dim"),
            TickingColumn(_into_job, clock, column=Column(no_wrap=True, overflow="ellipsis", ratio=1)),
            console=console,
            get_time=clock,
            expand=True,  # what is in flight has all the room there is, and nothing of the rest
            refresh_per_second=REFRESHES,
            redirect_stdout=False,
        )
        self._task: TaskID | None = None

    def report(self, session: Session, event: Event) -> None:
        """Move the bar; it appears with the first event and stays where it was when the sweep ends."""
        if self._task is None:
            self._task = self._progress.add_task("", total=session.plan.cells, noted=self._noted)
            self._progress.start()
            atexit.register(self._progress.stop)  # a sweep that breaks must not leave the cursor hidden
        _tell_trouble(session, event)
        job = harmless(job_text(session))
        self._progress.update(self._task, description=job, completed=session.ended_points)
        if isinstance(event, PointStarted):
            self._note(session)
            self._progress.update(self._task, noted=self._noted, refresh=True)
        elif isinstance(event, PlanFinished):
            self._progress.update(self._task, noted=Noted())
            self._progress.stop()

    def _note(self, session: Session) -> None:
        """Go by this moment: another point begins, alone or beside those that take turns with it."""
        now, beside = self._clock(), len(session.in_flight) > 1
        self._noted = Noted(seconds_left(session), now, self._noted.begun_at if beside else now)


def _tell_trouble(session: Session, event: Event) -> None:
    match event:
        case PointFailed(index=index, status=status, reason=reason):
            tell(f"{_place(session, index)}: {status}: {reason}")
        case LogLine(level="warning" | "error", source=source, text=text):
            tell(f"{source}: {text}")
        case _:
            pass


def _left(session: Session) -> str:
    """The time left; empty when it is not known."""
    left = seconds_left(session)
    return "" if left is None else f", {left_text(left)} left"


def _place(session: Session, index: int) -> str:
    point, cells = session.points[index].point, session.plan.cells
    place = f"{index + 1} of {cells}" if index < cells else repeat_text(session, index)
    return f"{place}  {point.kernel}  {place_words(point.problem)}"
