"""What `cuts` prints: how far a landscape is, on stderr, and what came of it."""

import sys
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from flashscope.app.commands.messages import say, tell
from flashscope.app.commands.printed.printing import print_table
from flashscope.app.words.inside.cuts import cut_words
from flashscope.app.words.inside.landscapes import landscape_sentence, landscape_title, maker_title
from flashscope.app.words.units import ms_text
from flashscope.kernels.workload.landscape import CutLandscape
from flashscope.profiles.results.model.fresh_rounds import FreshRounds
from flashscope.profiles.results.model.landscape_made import LandscapeMaker
from flashscope.profiles.wire.cuts import CutAnswer, CutsRound

PARTS = 4  # of the work, after each of which a line says so


class CutDisplay(Protocol):
    """Shows a user who waits how far a landscape is."""

    def report(self, answer: CutAnswer) -> None:
        """Say what an answer means."""

    def close(self) -> None:
        """Leave the terminal as it was."""


def cut_display(maker: LandscapeMaker, place: str) -> CutDisplay:
    """What fits stderr: a bar that moves on a terminal, else lines.

    Args:
        maker: What is timed.
        place: Which landscape it is of how many.
    """
    title = f"{place}  {maker_title(maker.asked)}: {len(maker.asked.cuts)} cuts"
    console = Console(stderr=True, force_terminal=sys.stderr.isatty())
    return CutBar(title, console) if console.is_terminal and not console.is_dumb_terminal else CutLines(title)


class CutLines:
    """A line for the begin, and one for each quarter of the work."""

    def __init__(self, title: str) -> None:
        self._title, self._told = title, 0
        tell(title)

    def report(self, answer: CutAnswer) -> None:
        """Say so where another quarter is done."""
        if isinstance(answer, CutsRound) and answer.done * PARTS // answer.total > self._told:
            self._told = answer.done * PARTS // answer.total
            tell(f"{self._title}, {answer.done:,} of {answer.total:,} steps")

    def close(self) -> None:
        """Nothing is left open."""


class CutBar:
    """One bar that moves: steps that are done, and the time."""

    def __init__(self, title: str, console: Console) -> None:
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(None, complete_style="cyan", finished_style="green"),
            TextColumn("{task.completed} of {task.total}", markup=False),
            TimeElapsedColumn(),
            console=console,
            redirect_stdout=False,
        )
        self._task = self._progress.add_task(title, total=None)
        self._progress.start()

    def report(self, answer: CutAnswer) -> None:
        """Move the bar."""
        if isinstance(answer, CutsRound):
            self._progress.update(self._task, completed=answer.done, total=answer.total)

    def close(self) -> None:
        """Let it stand as it is."""
        self._progress.stop()


def print_landscape(landscape: CutLandscape) -> None:
    """What it is of, which cut is fastest, and the ones that were timed anew beside the shipped one."""
    fresh = FreshRounds.of_landscape(landscape)
    shipped_ms = dict(fresh.ranked).get(landscape.shipped)
    say(f"{landscape_title(landscape)}, on {landscape.device.name}")
    say(landscape_sentence(landscape))
    if not fresh.ranked:
        return
    lines = [
        (
            f"{cut_words(cut)}{', shipped' if cut == landscape.shipped else ''}",
            ms_text(ms),
            "" if shipped_ms is None else f"{shipped_ms / ms:.3f}",
        )
        for cut, ms in fresh.ranked
    ]
    print_table(("cut", "fresh rounds", "shipped / this"), lines)
