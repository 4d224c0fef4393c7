"""What the view of a watched kernel says of itself; it has no form for a stage."""

from msgspec.structs import replace

from flashscope.app.control.controller import Controller
from flashscope.app.pages.staging import Staging
from flashscope.app.words.results.provenance import Provenance, of_machine


class WatchStaging(Staging):
    """Says in the badge that versions are measured here and now, whatever session is on show elsewhere."""

    def __init__(self, controller: Controller) -> None:
        super().__init__("watch", controller)
        controller.watch_own.changed.connect(self.changed)

    @property
    def provenance(self) -> Provenance:
        """This machine, on the backend that versions are measured on; while there are none, as elsewhere."""
        prepared = self.controller.watch_own.prepared
        if prepared is None:
            return super().provenance
        here = of_machine(self.controller.machine, prepared.plan.backend)
        return replace(here, of=f"versions of {prepared.watched.name}")
