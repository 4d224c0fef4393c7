"""What the Designer says of itself to the badge: a model, what was recorded, or what is measured here."""

from typing import Protocol

from msgspec.structs import replace

from flashscope.app.control.controller import Controller
from flashscope.app.pages.designer.choices import DesignChoices
from flashscope.app.pages.designer.landscape_card import LandscapeCard
from flashscope.app.pages.designer.lineup import LandscapeLineup
from flashscope.app.pages.staging import Staging
from flashscope.app.words.inside.landscapes import badge_words
from flashscope.app.words.provenance import Provenance, of_kept, of_machine
from flashscope.kernels.cuda.reading.cards import GpuCard
from flashscope.kernels.workload.landscape import CutLandscape
from flashscope.kernels.workload.problem import Backend


class DesignerBoard(Protocol):
    """What the badge goes by.

    Attributes:
        choices: Kernel, card and problem.
        landscape: The cuts side by side.
        lineup: Which recorded ones are on show.
    """

    choices: DesignChoices
    landscape: LandscapeCard
    lineup: LandscapeLineup

    @property
    def card(self) -> GpuCard:
        """The GPU whose limits count."""


class DesignerStaging(Staging):
    """The Designer has nothing for a stage.

    Args:
        controller: Has the session on show.
        board: What is on show.
    """

    def __init__(self, controller: Controller, board: DesignerBoard) -> None:
        super().__init__("designer", controller)
        self._board = board

    @property
    def provenance(self) -> Provenance:
        """A model of a card, but where times are on show: recorded ones, or this machine's."""
        board, shown = self._board, self._board.lineup.shown
        if shown is not None:
            return replace(self._of_landscape(shown), of=badge_words(shown))
        if not board.choices.on_cpu and not board.landscape.measured:
            return Provenance("model", "cuda", board.card.name)
        backend: Backend = "cpu" if board.choices.on_cpu else "cuda"
        of = "tiles of flash2" if board.choices.on_cpu else f"cuts of {board.choices.kernel}"
        return replace(of_machine(self.controller.machine, backend), of=of)

    def _of_landscape(self, shown: CutLandscape) -> Provenance:
        """The session's that has it, perhaps kept there on another device; else this machine's."""
        backend = shown.device.backend
        if shown in self._board.lineup.kept:
            return of_kept(super().provenance, backend, shown.device.name)
        return of_machine(self.controller.machine, backend)
