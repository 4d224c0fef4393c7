"""Where the claims' figures come from: they stand on no stage, and the badge tells of them all the same."""

from collections.abc import Callable

from flashscope.app.control.controller import Controller
from flashscope.app.pages.staging import Staging
from flashscope.app.words.learn.claims import RECORDED_ON
from flashscope.app.words.results.provenance import Provenance
from flashscope.kernels.workload.device import Device


class ClaimsStaging(Staging):
    """Tells of the GPU that measures here, or of the recordings; whatever needs no GPU runs on this CPU.

    Args:
        controller: Has the session on show, of which no claim is.
        device: The GPU that measures here, None without one.
    """

    def __init__(self, controller: Controller, device: Callable[[], Device | None]) -> None:
        super().__init__("claims", controller)
        self._device = device

    @property
    def provenance(self) -> Provenance:
        """The GPU's figures, and that the others are computed here."""
        device = self._device()
        if device is not None:
            return Provenance("live", "cuda", device.name, of="and CPU")
        return Provenance("saved", "cuda", RECORDED_ON, of="and this CPU")
