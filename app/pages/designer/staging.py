"""What the Designer says of itself to the badge: a model of a card, or what this machine measures."""

from collections.abc import Callable

from flashscope.app.control.controller import Controller
from flashscope.app.pages.staging import Staging
from flashscope.app.words.provenance import Provenance


class DesignerStaging(Staging):
    """The Designer has nothing for a stage.

    Args:
        controller: Has the session on show.
        provenance: Where the figures on show come from.
    """

    def __init__(self, controller: Controller, provenance: Callable[[], Provenance]) -> None:
        super().__init__("designer", controller)
        self._provenance = provenance

    @property
    def provenance(self) -> Provenance:
        """A model of a card, or this machine."""
        return self._provenance()
