"""What the Designer says of itself to the badge: a model of a card, or what this machine measures."""

from collections.abc import Callable

from msgspec.structs import replace

from flashscope.app.control.controller import Controller
from flashscope.app.pages.staging import Staging
from flashscope.app.words.provenance import Provenance, of_machine
from flashscope.kernels.cuda.design.card import GpuCard


class DesignerStaging(Staging):
    """The Designer has nothing for a stage.

    Args:
        controller: Has the session on show.
        card: The card that is chosen; None: tiles are measured on this CPU.
    """

    def __init__(self, controller: Controller, card: Callable[[], GpuCard | None]) -> None:
        super().__init__("designer", controller)
        self._card = card

    @property
    def provenance(self) -> Provenance:
        """A model of the card, or this machine."""
        card = self._card()
        if card is None:
            return replace(of_machine(self.controller.machine, "cpu"), of="tiles of flash2")
        return Provenance("model", "cuda", card.name)
