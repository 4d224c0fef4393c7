"""A sweep's progress on stderr: a bar on a terminal, else one line a point."""

import atexit
import sys
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Column

from flashscope.app.commands.messages import tell
from flashscope.app.words.progress import elapsed_text, job_text, repeat_text
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

BAR_WIDTH = 24
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
            tell(_place(session, event.index) + _left(session, ", about "))
        elif isinstance(event, PointMeasured):
            times = quartiles(event.samples)
            took = ms_text(times.median) if times else "no accepted sample"
            tell(f"{_place(session, event.index)}: {took}")
        else:
            _tell_trouble(session, event)


class ProgressBar:
    """One bar that moves: how many points are done, the time, and what is in flight; trouble stands above it.

    Args:
        console: The terminal.
    """

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.completed} of {task.total}", markup=False),
            BarColumn(BAR_WIDTH, complete_style="cyan", finished_style="green"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}", style="dim", markup=False),
            TextColumn(
                "{task.description}",
                markup=False,
                table_column=Column(no_wrap=True, overflow="ellipsis"),
            ),
            console=console,
            refresh_per_second=REFRESHES,
            redirect_stdout=False,
        )
        self._task: TaskID | None = None

    def report(self, session: Session, event: Event) -> None:
        """Move the bar; it appears with the first event and stays where it was when the sweep ends."""
        if self._task is None:
            self._task = self._progress.add_task("", total=session.plan.cells, left="")
            self._progress.start()
            atexit.register(self._progress.stop)  # a sweep that breaks must not leave the cursor hidden
        _tell_trouble(session, event)
        job = harmless(job_text(session))
        self._progress.update(self._task, description=job, completed=session.ended_points)
        if isinstance(event, PointStarted):
            self._progress.update(self._task, left=_left(session, "about "), refresh=True)
        elif isinstance(event, PlanFinished):
            self._progress.update(self._task, left="")
            self._progress.stop()


def _tell_trouble(session: Session, event: Event) -> None:
    match event:
        case PointFailed(index=index, status=status, reason=reason):
            tell(f"{_place(session, index)}: {status}: {reason}")
        case LogLine(level="warning" | "error", source=source, text=text):
            tell(f"{source}: {text}")
        case _:
            pass


def _left(session: Session, words: str) -> str:
    """The time left after these words; empty when it is not known."""
    left = seconds_left(session)
    return "" if left is None else f"{words}{elapsed_text(left)} left"


def _place(session: Session, index: int) -> str:
    point, cells = session.points[index].point, session.plan.cells
    place = f"{index + 1} of {cells}" if index < cells else repeat_text(session, index)
    return f"{place}  {point.kernel}  {place_words(point.problem)}"
