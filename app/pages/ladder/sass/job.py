"""Has kernels compiled and disassembled by another process, the last that was asked for alone."""

from collections import OrderedDict
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal

from flashscope.app.control.chores import Chores
from flashscope.app.figures.instruction_lines import InstructionLines, by_line
from flashscope.app.pages.ladder.source_diff import PROBLEMS
from flashscope.app.words.inside.sass import GIVEN_UP
from flashscope.kernels.cuda.reading.cards import GpuCard
from flashscope.kernels.cuda.sass.child import ListingAnswer
from flashscope.kernels.cuda.sass.listing import BuildListing
from flashscope.profiles.engine.listing import ListingRun

MOST_KEPT = 16  # builds


class BuildAsked(NamedTuple):
    """A build: the kernel, the label of its problem, and the GPU."""

    kernel: str
    label: str
    card: GpuCard


class ShownBuild(NamedTuple):
    """A build, and the instructions of each of its kernels by their lines."""

    listing: BuildListing
    lines: tuple[InstructionLines, ...]


class SassJob(Chores):
    """One build at a time; the last ones are kept.

    Signals:
        ready: It is there (`BuildAsked`, `ShownBuild`).
        refused: There is none: why, in a sentence, and what the compiler said (`BuildAsked`, str, str).
    """

    ready = Signal(object, object)
    refused = Signal(object, str, str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._kept: OrderedDict[BuildAsked, ShownBuild] = OrderedDict()
        self._run: ListingRun | None = None
        self._wanted: BuildAsked | None = None

    @property
    def active(self) -> bool:
        """Whether a build is being made."""
        return self._run is not None

    def has(self, wanted: BuildAsked) -> bool:
        """Whether this one is kept."""
        return wanted in self._kept

    def ask(self, wanted: BuildAsked) -> None:
        """Have this one made in place of any other, or tell of it at once where it is kept."""
        self.cancel()
        self._wanted = wanted
        if wanted in self._kept:
            self._kept.move_to_end(wanted)
            self.ready.emit(wanted, self._kept[wanted])
            return
        run = self._run = ListingRun(wanted.kernel, PROBLEMS[wanted.label], wanted.card)
        self.do(partial(_made, run), partial(self._take, run, wanted))

    def cancel(self) -> None:
        """Make none any more; the process ends."""
        if self._run is not None:
            self._run.give_up()
            self._run = None

    def wait(self) -> None:
        """Return when no process runs any more; what was being made is given up."""
        if self.active:
            self.cancel()
            self.refused.emit(self._wanted, GIVEN_UP, "")
        super().wait()

    def _take(self, run: ListingRun, wanted: BuildAsked, made: ShownBuild | ListingAnswer | None) -> None:
        if run is not self._run or made is None:
            return  # another was asked for, or none, meanwhile
        self._run = None
        if isinstance(made, ListingAnswer):
            self.refused.emit(wanted, made.refused, made.log)
            return
        self._kept[wanted] = made
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        self.ready.emit(wanted, made)


def _made(run: ListingRun) -> ShownBuild | ListingAnswer | None:
    answer = run.answer()
    if answer is None or answer.listing is None:
        return answer
    listing = answer.listing
    return ShownBuild(
        listing, tuple(by_line(one.instructions, listing.source.file) for one in listing.kernels)
    )
