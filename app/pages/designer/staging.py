"""What the Designer says of itself to the badge: that all of it is computed."""

from collections.abc import Callable

from flashscope.app.control.controller import Controller
from flashscope.app.pages.staging import Staging
from flashscope.app.words.provenance import Provenance
from flashscope.kernels.cuda.design.card import Card


class DesignerStaging(Staging):
    """The Designer has nothing for a stage; its figures are a model of a card.

    Args:
        controller: Has the session on show.
        card: The card that is chosen.
    """

    def __init__(self, controller: Controller, card: Callable[[], Card]) -> None:
        super().__init__("designer", controller)
        self._card = card

    @property
    def provenance(self) -> Provenance:
        """A model of the card."""
        return Provenance("model", "cuda", self._card().name)
