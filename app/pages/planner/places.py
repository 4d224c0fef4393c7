"""Where a model is to run: the GPUs that are known, or a memory of the user's choice."""

from collections.abc import Sequence

from PySide6.QtCore import Signal

from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.plain import button_text, set_tip
from flashscope.kernels.workload.device import Device

CHOSEN = "a chosen memory"
PLACE = "a device"


class Places(DropDown):
    """A choice among GPUs; the last entry is any device, with as much memory as is typed.

    Signals:
        place_chosen: The user has chosen one (Device, or None for the last).
    """

    place_chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._devices: list[Device] = []
        self._is_kept = False  # by the user: what is found later changes nothing
        self.setAccessibleName("device")
        set_tip(
            self, "A GPU of this machine or of the session on show, or any with as much memory as you say"
        )
        self.setMinimumContentsLength(15)
        self.addItem(CHOSEN)
        self.activated.connect(self._choose)

    @property
    def device(self) -> Device | None:
        """The GPU chosen; None: any."""
        place = self.currentIndex()
        return self._devices[place] if 0 <= place < len(self._devices) else None

    @property
    def words(self) -> str:
        """What has the memory."""
        return self.device.name if self.device else PLACE

    def offer(self, devices: Sequence[Device]) -> None:
        """Offer these, the first of them chosen unless the user has chosen before."""
        kept = self.device
        self._devices = list({(one.name, one.memory_bytes): one for one in devices}.values())
        self.clear()
        self.addItems([*(button_text(one.name).replace("&&", "&") for one in self._devices), CHOSEN])
        if self._is_kept:
            self.setCurrentIndex(self._devices.index(kept) if kept in self._devices else len(self._devices))
        else:
            self.setCurrentIndex(0)

    def leave(self) -> None:
        """Another memory was typed than that of the GPU."""
        self._is_kept = True
        self.setCurrentIndex(self.count() - 1)

    def _choose(self) -> None:
        self._is_kept = True
        self.place_chosen.emit(self.device)
