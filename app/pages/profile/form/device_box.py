"""Which device the next sweep runs on."""

from typing import cast

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.plain import plain_tip, set_tip
from flashscope.app.words.plain import MOST_OF_NAME, cut_short
from flashscope.kernels.workload.problem import Backend


class DeviceBox(DropDown):
    """The backends with their devices; one that has none says why, and cannot be chosen."""

    def __init__(self, controller: Controller, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._controller = controller
        self.setAccessibleName("Device")
        set_tip(self, "Where the next sweep runs, on this machine")
        self.activated.connect(self._choose)
        for signal in (controller.machine_found, controller.running_changed, controller.backend_changed):
            signal.connect(lambda _value: self.refresh())
        self.refresh()

    def refresh(self) -> None:
        """Show the controller's state as it is now."""
        controller = self._controller
        self.setEnabled(not controller.replaying)
        self.clear()
        if controller.machine is None:
            self.addItem("Looking for devices …", None)
            return
        for backend, label in (("cuda", "CUDA"), ("cpu", "CPU")):
            device = controller.machine.device(cast("Backend", backend))
            found = cut_short(device.name, MOST_OF_NAME) if device else "none found"
            self.addItem(f"{label} · {found}", backend)
            if device is None:
                model = cast("QStandardItemModel", self.model())
                model.item(self.count() - 1).setEnabled(False)
                why = plain_tip(controller.machine.why_no_gpu())
                self.setItemData(self.count() - 1, why, Qt.ItemDataRole.ToolTipRole)
        self.setCurrentIndex(self.findData(controller.backend))

    def _choose(self, index: int) -> None:
        backend = self.itemData(index)
        if backend is not None:
            self._controller.choose_backend(backend)
