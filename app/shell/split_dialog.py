"""Where a user chooses over which of several devices sweeps are split, or on which they are repeated."""

from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QVBoxLayout, QWidget

from flashscope.app.control.far.devices import Devices
from flashscope.app.control.far.places import FEWEST, DeviceGroup
from flashscope.app.look.zoom import px
from flashscope.app.widgets.buttons import DialogButtons
from flashscope.app.widgets.drop_down import choice_of
from flashscope.app.widgets.plain import PlainLabel, button_text
from flashscope.app.widgets.scrolling import Scrolling
from flashscope.app.words.devices.far_devices import place_text
from flashscope.app.words.plain import cut_short

TITLE = "Measure on several devices"
SPLIT, REPEAT = "Split each sweep over them", "Repeat each sweep on all of them, to compare"
ABOUT_SPLIT = (
    "All kernels of a problem run on one device, and the next problem goes to the device that is free. What "
    "Inside records runs on the first device that is ticked."
)
ABOUT_REPEAT = (
    "Each device measures all of a sweep, at the same time, into a session of its own. The window shows that "
    "of the first that is ticked, and leads to the comparison of all at the end."
)
WIDTH, MOST_PX = 480, 240


class SplitDialog(QDialog):
    """Lists the devices of a place, or of several hosts, all ticked, of which at least two are taken.

    Args:
        devices: Has them.
        parent: The window.

    Attributes:
        boxes: One for each device of the place that is chosen.
        way: What they do: share a sweep, or repeat it, which is all that unlike ones can.
    """

    def __init__(self, devices: Devices, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(TITLE)
        self._devices, self._groups = devices, devices.groups
        self.boxes: list[QCheckBox] = []
        places = [(place_text(one.names, one.host or "this machine"), None) for one in self._groups]
        self.place = choice_of("Place of the devices", places)
        self.place.currentIndexChanged.connect(lambda _row: self._list())
        self.way = choice_of("What the devices do with a sweep", [(SPLIT, False), (REPEAT, True)])
        self.way.currentIndexChanged.connect(lambda _row: self._refresh())
        self._scrolling = Scrolling(QWidget())
        self._scrolling.setAccessibleName("Devices that measure")
        self.buttons = DialogButtons(QDialogButtonBox.StandardButton.Cancel)
        self.use_button = self.buttons.addButton("", QDialogButtonBox.ButtonRole.AcceptRole)
        self.use_button.setProperty("role", "primary")
        self.use_button.setDefault(True)
        self.buttons.accepted.connect(self._use)
        self.buttons.rejected.connect(self.reject)
        self._about = PlainLabel(ABOUT_SPLIT, wordWrap=True)
        self._about.setProperty("role", "dim")
        column = QVBoxLayout(self)
        column.setSpacing(8)
        for widget in (self._about, self.place, self.way, self._scrolling, self.buttons):
            column.addWidget(widget)
        self._list()
        self.resize(min(px(WIDTH), parent.width()), self.sizeHint().height())

    @property
    def _group(self) -> DeviceGroup:
        """Those of the place that is chosen."""
        return self._groups[self.place.currentIndex()]

    @property
    def _ticked(self) -> DeviceGroup:
        """Those of the place that are ticked."""
        group = self._group
        pairs = zip(group.devices, self.boxes, strict=True)
        return group._replace(devices=tuple(one for one, box in pairs if box.isChecked()))

    def _list(self) -> None:
        """List the devices of the place that is chosen."""
        listed = QWidget()
        column = QVBoxLayout(listed)
        column.setContentsMargins(0, 0, 0, 0)
        names = self._group.names
        self.boxes = [QCheckBox(button_text(cut_short(name))) for name in names]
        for box in self.boxes:
            box.setChecked(True)
            box.toggled.connect(lambda _on: self._refresh())
            column.addWidget(box)
        column.addStretch(1)
        self._scrolling.setWidget(listed)
        self._scrolling.setMinimumHeight(min(listed.sizeHint().height(), px(MOST_PX)))
        self.boxes[0].setFocus()
        self.way.setEnabled(self._group.alike)
        if not self._group.alike:
            self.way.setCurrentIndex(self.way.findData(True))
        self._refresh()
        self.resize(self.width(), max(self.height(), self.heightForWidth(self.width())))

    def _refresh(self) -> None:
        ticked, repeat = len(self._ticked.devices), self.way.currentData()
        self._about.setText(ABOUT_REPEAT if repeat else ABOUT_SPLIT)
        told = f"Repeat on {ticked}" if repeat else f"Split over {ticked}"
        self.use_button.setText(told if ticked >= FEWEST else "Tick two or more")
        self.use_button.setEnabled(ticked >= FEWEST)

    def _use(self) -> None:
        self.accept()
        self._devices.use(self._ticked, repeat=self.way.currentData())
