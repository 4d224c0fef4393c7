"""The Designer on a stage: the cuts side by side, and which is the fastest.

Its badge says whether they are a model, were recorded, or are measured here.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec.structs import replace
from PySide6.QtWidgets import QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.figures.cut_grid import CutCell, CutGrid
from flashscope.app.figures.cut_times import verdict
from flashscope.app.pages.designer.choices import DesignChoices
from flashscope.app.pages.designer.landscape_card import LandscapeCard
from flashscope.app.pages.designer.lineup import LandscapeLineup
from flashscope.app.pages.staging import Staging
from flashscope.app.stage.scene import Scene
from flashscope.app.stage.story import Stop
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.words.inside.landscapes import badge_words
from flashscope.app.words.results.provenance import Provenance, of_kept, of_machine
from flashscope.kernels.cuda.reading.cards import GpuCard
from flashscope.kernels.workload.cut import Cut
from flashscope.kernels.workload.landscape import CutLandscape
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.results.model.curves import curve_of_problem


class DesignerBoard(Protocol):
    """What is on show.

    Attributes:
        choices: Kernel, card and problem.
        landscape: The cuts side by side.
        lineup: Which recorded ones are on show.
        sentence: Whether the cut runs.
        grid: The cuts around it.
    """

    choices: DesignChoices
    landscape: LandscapeCard
    lineup: LandscapeLineup
    sentence: PlainLabel
    grid: CutGrid[CutCell]

    @property
    def problem(self) -> Problem:
        """What the cuts compute."""

    @property
    def shipped(self) -> Cut:
        """The cut that the kernel ships with."""

    @property
    def card(self) -> GpuCard:
        """The GPU whose limits count."""


class DesignerStaging(Staging):
    """Shows the cuts side by side; of tiles in NumPy, all of them.

    Args:
        controller: Has the session on show.
        board: What is on show.
        aside: What is put away.
    """

    def __init__(self, controller: Controller, board: DesignerBoard, aside: Sequence[QWidget]) -> None:
        card = board.landscape
        tools = [card.rows, card.colours, card.export_button]
        super().__init__("designer", controller, [*aside, *tools], [card])
        self._board = board

    @property
    def scene(self) -> Scene:
        """The N of the cuts."""
        problem = self._board.problem
        return Scene(seqlen=problem.seqlen_q, kernel=self._board.choices.kernel)

    @property
    def sentence(self) -> str:
        """Which cut is the fastest; where none was timed, whether the one that is framed runs."""
        board = self._board
        if board.choices.on_cpu:
            return ""
        times = {cell.cut: cell.times for row in board.grid.cells for cell in row if cell.times.ms}
        return verdict(times, board.shipped) or board.sentence.text()

    @property
    def exhibits(self) -> Sequence[QWidget]:
        """The cuts side by side."""
        return (self._board.landscape,)

    @property
    def stop(self) -> Stop:
        """The landscape on show, by its kernel and its problem."""
        shown = self._board.lineup.shown
        if shown is None:
            return super().stop
        curve = curve_of_problem(shown.problem).label
        return replace(super().stop, kernels=(shown.kernel,), curve=curve, seqlen=shown.problem.seqlen_q)

    def show_stop(self, stop: Stop) -> None:
        """Show a landscape of what it names; what is on show stays where that is one, or there is none."""
        super().show_stop(stop)
        lineup = self._board.lineup
        meant = [one for one in lineup.landscapes if _is_of(one, stop)]
        if meant and lineup.shown not in meant:
            lineup.show_one(meant[0])

    @property
    def provenance(self) -> Provenance:
        """A model of a card, but where times are on show: recorded ones, or those of the device in use."""
        board, shown = self._board, self._board.lineup.shown
        if shown is not None:
            return replace(self._of_landscape(shown), of=badge_words(shown))
        if not board.choices.on_cpu and not board.landscape.measured:
            return Provenance("model", "cuda", board.card.name)
        backend: Backend = "cpu" if board.choices.on_cpu else "cuda"
        of = "tiles of flash2" if board.choices.on_cpu else f"cuts of {board.choices.kernel}"
        return replace(of_machine(self.controller.machine, backend), of=of)

    def _of_landscape(self, shown: CutLandscape) -> Provenance:
        """The session's that has it, perhaps kept there on another device; else that in use."""
        backend = shown.device.backend
        if shown in self._board.lineup.kept:
            return of_kept(super().provenance, backend, shown.device.name)
        return of_machine(self.controller.machine, backend)


def _is_of(landscape: CutLandscape, stop: Stop) -> bool:
    """Whether a landscape is what a stop names; a stop that names none means any."""
    problem = landscape.problem
    return (
        (not stop.kernels or landscape.kernel == stop.kernels[-1])
        and stop.curve in {"", curve_of_problem(problem).label}
        and stop.seqlen in {None, problem.seqlen_q}
    )
