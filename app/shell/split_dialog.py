"""Where a user chooses over which of several equal devices sweeps are split."""

from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from flashscope.app.control.far.devices import Devices
from flashscope.app.control.far.places import FEWEST, EqualDevices
from flashscope.app.look.zoom import px
from flashscope.app.widgets.buttons import DialogButtons
from flashscope.app.widgets.drop_down import choice_of
from flashscope.app.widgets.plain import PlainLabel, button_text
from flashscope.app.widgets.scrolling import Scrolling
from flashscope.app.words.far_devices import place_text
from flashscope.app.words.plain import cut_short

TITLE = "Split sweeps over several devices"
ABOUT = (
    "All kernels of a problem run on one device, and the next problem goes to the device that is free. What "
    "Inside records runs on the first device that is ticked."
)
WIDTH, MOST_PX = 480, 240


class SplitDialog(QDialog):
    """Lists the equal devices of a place, all of them ticked, of which at least two are taken.

    Args:
        devices: Has them.
        parent: The window.

    Attributes:
        boxes: One for each device of the place that is chosen.
    """

    def __init__(self, devices: Devices, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(TITLE)
        self._devices, self._groups = devices, devices.equal
        self.boxes: list[QCheckBox] = []
        places = [(place_text(one.names, one.host or "this machine"), None) for one in self._groups]
        self.place = choice_of("Place of the devices", places)
        self.place.currentIndexChanged.connect(lambda _row: self._list())
        self._scrolling = Scrolling(QWidget())
        self._scrolling.setAccessibleName("Devices that share a sweep")
        self.buttons = DialogButtons(QDialogButtonBox.StandardButton.Cancel)
        self.split_button = self.buttons.addButton("", QDialogButtonBox.ButtonRole.AcceptRole)
        self.split_button.setProperty("role", "primary")
        self.split_button.setDefault(True)
        self.buttons.accepted.connect(self._split)
        self.buttons.rejected.connect(self.reject)
        about = PlainLabel(ABOUT, wordWrap=True)
        about.setProperty("role", "dim")
        column = QVBoxLayout(self)
        column.setSpacing(8)
        for widget in (about, self.place, self._scrolling, self.buttons):
            column.addWidget(widget)
        self._list()
        self.resize(min(px(WIDTH), parent.width()), self.sizeHint().height())

    @property
    def _ticked(self) -> EqualDevices:
        """Those of the place that are ticked."""
        group = self._groups[self.place.currentIndex()]
        pairs = zip(group.devices, self.boxes, strict=True)
        return group._replace(devices=tuple(one for one, box in pairs if box.isChecked()))

    def _list(self) -> None:
        """List the devices of the place that is chosen."""
        listed = QWidget()
        column = QVBoxLayout(listed)
        column.setContentsMargins(0, 0, 0, 0)
        names = self._groups[self.place.currentIndex()].names
        self.boxes = [QCheckBox(button_text(cut_short(name))) for name in names]
        for box in self.boxes:
            box.setChecked(True)
            box.toggled.connect(lambda _on: self._refresh())
            column.addWidget(box)
        column.addStretch(1)
        self._scrolling.setWidget(listed)
        self._scrolling.setMinimumHeight(min(listed.sizeHint().height(), px(MOST_PX)))
        self.boxes[0].setFocus()
        self._refresh()

    def _refresh(self) -> None:
        ticked = len(self._ticked.devices)
        self.split_button.setText(f"Split over {ticked}" if ticked >= FEWEST else "Tick two or more")
        self.split_button.setEnabled(ticked >= FEWEST)

    def _split(self) -> None:
        self.accept()
        self._devices.split(self._ticked)
