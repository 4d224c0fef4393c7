"""Which device everything of the window runs on: one of this machine or of another, or several."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple, cast

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.control.guard import guarded
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.menus import commands_of
from flashscope.app.widgets.plain import plain_tip, set_tip
from flashscope.app.words.devices.far_devices import device_words, place_text, short_name, versions_words
from flashscope.app.words.plain import MOST_OF_NAME, cut_short
from flashscope.app.words.units import bytes_text
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.plan.machine import Machine

LABELS: dict[Backend, str] = {"cuda": "CUDA", "cpu": "CPU"}
TIP = "Where everything runs: the next sweep, and what is recorded and watched"
LEAST_LETTERS, MOST_ROWS = 15, 20
CONNECT = "Connect to another machine …"
HERE = "this machine"
SOME = "Choose several devices …"
SPLIT_TIP = (
    "Sweeps are split: all kernels of a problem run on one device, and the next problem goes to the device "
    "that is free. What Inside records, Live and traces among it, runs on the first, {}"
)
REPEAT_TIP = (
    "Sweeps are repeated: each device measures all of one, into a session of its own, to compare them. What "
    "is shown, and what Inside records, is of the first, {}"
)


class DeviceEntry(NamedTuple):
    """What can be chosen.

    Attributes:
        text: What stands in the box.
        choose: What choosing it does; None: it cannot be.
        tip: More about it, or why it cannot be chosen.
        data: What it is found by.
    """

    text: str
    choose: Callable[[], None] | None
    tip: str = ""
    data: str = ""


class DeviceBox(DropDown):
    """The devices found, here and there; one that cannot be used says why, and cannot be chosen."""

    def __init__(self, controller: Controller, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._controller = controller
        self._entries: list[DeviceEntry] = []
        self.setAccessibleName("Device")
        self.setSizeAdjustPolicy(self.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(LEAST_LETTERS)  # the form has no room for a long name
        self.setMaxVisibleItems(MOST_ROWS)
        set_tip(self, TIP)
        self.activated.connect(self._choose)
        for signal in (controller.machine_found, controller.running_changed, controller.backend_changed):
            signal.connect(lambda _value: self.refresh())
        controller.devices.changed.connect(self.refresh)
        self.refresh()

    def refresh(self) -> None:
        """Show the controller's state as it is now."""
        controller = self._controller
        self.setEnabled(not controller.replaying)
        self._entries = [
            *self._in_use(),
            *self._equal(),
            *self._others(),
            *self._connected(),
            DeviceEntry(CONNECT, partial(self._trigger, "connect")),
        ]
        while self.count() > len(self._entries):
            self.removeItem(self.count() - 1)
        for row, entry in enumerate(self._entries):
            if row == self.count():
                self.addItem("")
            self.setItemText(row, entry.text)  # in its place, as the list may be open
            self.setItemData(row, entry.data)
            self.setItemData(row, plain_tip(entry.tip), Qt.ItemDataRole.ToolTipRole)
            cast("QStandardItemModel", self.model()).item(row).setEnabled(entry.choose is not None)
        self.setCurrentIndex(max(0, self.findData(controller.backend)))
        set_tip(self, controller.devices.lost or TIP)

    @guarded()
    def showPopup(self) -> None:
        """Open the list; who has the devices of the host in use is asked anew."""
        self._controller.devices.look_again()
        super().showPopup()

    def _in_use(self) -> Iterator[DeviceEntry]:
        """The machine that is in use, by its backends."""
        controller, devices = self._controller, self._controller.devices
        if devices.lost:
            yield DeviceEntry(f"Lost: {devices.lost_words}", None, devices.lost, controller.backend)
            yield DeviceEntry("Reconnect", devices.reconnect)
        elif controller.machine is None:
            yield DeviceEntry("Looking for devices …", None)
        elif devices.place is not None and devices.place.several:
            place, repeat = devices.place, devices.place.wanted.repeat
            tip = (REPEAT_TIP if repeat else SPLIT_TIP).format(short_name(place.names[0]))
            text = f"{'Each of ' if repeat else ''}{place_text(place.names, place.host)}"
            yield DeviceEntry(text, lambda: None, tip, controller.backend)
        else:
            yield from self._of(controller.machine, controller.choose_backend)

    def _equal(self) -> Iterator[DeviceEntry]:
        """Over what a sweep can be split: all equal devices of a place, or some; or on which repeated."""
        devices = self._controller.devices
        for group in devices.groups:
            if group.alike and not devices.uses(group):
                tip = SPLIT_TIP.format(short_name(group.names[0]))
                yield DeviceEntry(
                    f"All {place_text(group.names, group.host or HERE)}: split sweeps",
                    partial(devices.use, group),
                    tip,
                )
        if devices.groups:
            yield DeviceEntry(SOME, partial(self._trigger, "devices.several"))

    def _others(self) -> Iterator[DeviceEntry]:
        """What has been found beside that."""
        devices = self._controller.devices
        place = None if devices.lost else devices.place
        used = (place.wanted.named, place.device) if place is not None else None
        for named, found in devices.seen.items():
            for one in found:
                if (named, one.name) != used:
                    why, choose = one.why_not, partial(devices.connect_to, named, one.name)
                    host = devices.hosts[named] if one.told.host == found[0].told.host else one.told.host
                    tip = "\n".join(filter(None, (why, versions_words(one.told.versions))))
                    yield DeviceEntry(device_words(one, host), None if one.obstacle else choose, tip)
        if devices.place is not None and devices.here is not None:
            yield from self._of(devices.here, self._come_back, data=False)

    def _connected(self) -> Iterator[DeviceEntry]:
        """What leaves one of several hosts; to leave the only one is to choose this machine."""
        devices = self._controller.devices
        if len(devices.hosts) > 1:
            for named, host in devices.hosts.items():
                yield DeviceEntry(f"Disconnect {host}", partial(devices.leave, named), named)

    @staticmethod
    def _of(
        machine: Machine, choose: Callable[[Backend], None], *, data: bool = True
    ) -> Iterator[DeviceEntry]:
        """The devices of a machine; it is told which where that is not the one in use."""
        where = machine.host or ("" if data else HERE)
        for backend, label in LABELS.items():
            device = machine.device(backend)
            found = cut_short(device.name, MOST_OF_NAME) if device else "none found"
            text = " · ".join(filter(None, (label, found, where)))
            act = partial(choose, backend) if device else None
            tip = _memory_words(device) if device else machine.why_no_gpu()
            yield DeviceEntry(text, act, tip, backend if data else "")

    def _come_back(self, backend: Backend) -> None:
        self._controller.devices.come_back()
        if self._controller.devices.place is None:
            self._controller.choose_backend(backend)

    def _trigger(self, key: str) -> None:
        for command in commands_of(self, [key]):
            command.trigger()

    def _choose(self, index: int) -> None:
        choose = self._entries[index].choose
        self.refresh()  # the box shows what is in use, until that is another
        if choose is not None:
            choose()


def _memory_words(device: Device) -> str:
    return f"{bytes_text(device.memory_bytes)} of memory"
