"""What a user can do about the device that everything runs on, and what the window says of it."""

from functools import partial
from pathlib import Path

from shiboken6 import isValid

from flashscope.app.control.actions import Action
from flashscope.app.control.controller import Controller
from flashscope.app.control.settings import Settings
from flashscope.app.shell.connect_dialog import ConnectDialog
from flashscope.app.shell.paged_window import PagedWindow
from flashscope.app.shell.split_dialog import SplitDialog
from flashscope.app.widgets.frame.error_line import ErrorLine
from flashscope.app.words.devices.far_devices import short_name

ALL = "Everything runs on {} of {} now."
SPLIT = "Sweeps are split over {} of {} now; all else runs on the first, {}."
REPEAT = "Sweeps are repeated on each of {} of {} now; all else runs on the first, {}."
MEASURED = "Each of {} has measured the sweep into a session of its own."


class DeviceActions:
    """The actions of the Sweep menu that lead to another machine and back.

    Args:
        window: Over which the dialog opens; compares sessions.
        controller: Has the devices.
        settings: Keeps what was used lately.
        errors: Tells how connecting goes where the dialog is not open, and that a device is lost.
    """

    def __init__(
        self, window: PagedWindow, controller: Controller, settings: Settings, errors: ErrorLine
    ) -> None:
        self._window, self._devices = window, controller.devices
        self._settings, self._errors = settings, errors
        self._controller = controller
        self._dialog: ConnectDialog | None = None
        self._devices.told.connect(self._tell)
        self._devices.failed.connect(self._fail)
        self._devices.taken.connect(self._tell_taken)
        self._devices.went.connect(self._tell_lost)
        controller.error_raised.connect(lambda *_: self._offer_again())
        controller.running_changed.connect(lambda _running: self._offer_comparison())

    def offered(self) -> list[Action]:
        """All actions, in the order of the menu."""
        devices = self._devices
        return [
            Action("connect", "Connect to another machine", self.open, "Sweep", "Ctrl+Shift+M"),
            Action(
                "devices.several",
                "Measure on several devices: split sweeps, or repeat them",
                self.choose_several,
                "Sweep",
                "Ctrl+Shift+D",
                possible=lambda: bool(devices.groups),
            ),
            Action(
                "connect.again",
                "Reconnect to the device that is lost",
                devices.reconnect,
                "Sweep",
                possible=lambda: bool(devices.lost),
            ),
            Action(
                "connect.leave",
                "Disconnect, and use this machine again",
                devices.come_back,
                "Sweep",
                possible=lambda: devices.place is not None,
            ),
        ]

    def open(self) -> None:
        """Open the dialog."""
        self._opened("")

    def name(self, file: Path) -> None:
        """Open the dialog with a connection file in its field."""
        self._opened(str(file))

    def choose_several(self) -> None:
        """Open the dialog that chooses among the devices of a place."""
        dialog = SplitDialog(self._devices, self._window)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def connect_to(self, *named: str) -> None:
        """Connect at once, in the dialog, to one host after the other, and split sweeps over alike ones."""
        self._connect_next(named, 0)

    def _connect_next(self, named: tuple[str, ...], place: int) -> None:
        """Go on with the host of this place, or have done with the last."""
        if place < len(named):
            dialog = self._opened(named[place])
            dialog.accepted.connect(partial(self._connect_next, named, place + 1))
            dialog.begin()
        elif len(named) > 1:
            self._split_over(named)

    def _split_over(self, named: tuple[str, ...]) -> None:
        """Split sweeps over the devices of these hosts, where they have alike ones."""
        groups = (one for one in self._devices.groups if one.alike)
        over_all = [one for one in groups if {host.named for host in one.wanted().hosts} == {*named}]
        if over_all:
            self._devices.use(over_all[0])

    def _opened(self, named: str) -> ConnectDialog:
        """The dialog, with this in its field."""
        if self._dialog is not None and self._open:
            self._dialog.reject()
        self._dialog = ConnectDialog(self._devices, self._settings, self._window, named)
        self._dialog.finished.connect(self._dialog.deleteLater)
        self._dialog.open()
        return self._dialog

    @property
    def _open(self) -> bool:
        return self._dialog is not None and isValid(self._dialog) and self._dialog.isVisible()

    def _tell(self, text: str) -> None:
        if not self._open:
            self._errors.show_progress(text)
            self._errors.offer("Cancel", self._devices.cancel)

    def _fail(self, reason: str) -> None:
        if not self._open:
            self._errors.show_error(reason)
            self._errors.offer("Connect …", self.open)
            self._offer_again()

    def _tell_taken(self) -> None:
        if (place := self._devices.place) is not None:
            for named in filter(None, (one.named for one in place.wanted.hosts)):
                self._settings.add_connection(named if "://" in named else str(Path(named).absolute()))
            where = place.host or "this machine"
            told = REPEAT if place.wanted.repeat else SPLIT if place.several else ALL
            self._errors.show_notice(told.format(place.device, where, short_name(place.names[0])))

    def _tell_lost(self, reason: str) -> None:
        self._errors.show_error(reason)
        self._offer_again()

    def _offer_comparison(self) -> None:
        """Lead from a sweep that several devices have measured to the comparison of their sessions."""
        place, sweep, first = self._devices.place, self._controller.sweep, self._controller.sweep_path
        if place is None or self._controller.measuring or sweep is None or sweep.outcome == "failed":
            return
        if first is not None and place.files and not self._devices.lost:
            self._errors.show_progress(MEASURED.format(place.device))
            self._errors.offer("Compare", partial(self._window.show_files, "compare", (first, *place.files)))

    def _offer_again(self) -> None:
        """Let an error lead back to the device while that is lost."""
        if self._devices.lost:
            self._errors.offer("Reconnect", self._devices.reconnect)
