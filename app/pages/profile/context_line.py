"""What all views of a session share, each chosen once: the problems, N, the kernels, the baseline."""

from collections.abc import Collection, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QMenu, QPushButton, QWidget

from flashscope.app.look.theme import TEXT_PX, Theme
from flashscope.app.look.zoom import keep
from flashscope.app.widgets.buttons import icon_button, recolour
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.menus import pop_up
from flashscope.app.widgets.plain import PlainLabel, button_text, set_tip
from flashscope.app.words.plain import MOST_OF_NAME, cut_short
from flashscope.app.words.units import seqlen_text
from flashscope.profiles.results.model.curves import Curve

HEIGHT_PX = TEXT_PX + 11
LEAST_COLUMNS = 5  # characters that a box shows where there is no room for more


class ContextLine(QWidget):
    """Offers what the session on show has.

    Attributes:
        curves: The problems.
        baseline: What speed-ups are over.

    Signals:
        curve_chosen: Show these problems (Curve).
        baseline_chosen: Speed-ups are to be over this kernel (str).
        kernel_toggled: Show this kernel, or hide it (str, bool).
        stepped: Go to the next N (1), or to the one before (-1) (int).
    """

    curve_chosen = Signal(object)
    baseline_chosen = Signal(str)
    kernel_toggled = Signal(str, bool)
    stepped = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._offered: tuple[Curve, ...] = ()
        self._kernels: tuple[str, ...] = ()
        self._hidden: frozenset[str] = frozenset()
        self.curves = _choice("Problems on show", "The problems on show, in every view of this session")
        self.curves.activated.connect(lambda place: self.curve_chosen.emit(self._offered[place]))
        self.seqlen = PlainLabel()
        self._back = icon_button("mdi6.chevron-left", "Previous N", lambda: self.stepped.emit(-1))
        self._next = icon_button("mdi6.chevron-right", "Next N", lambda: self.stepped.emit(1))
        self.kernels = QPushButton()
        self.kernels.setAccessibleName("Kernels on show")
        set_tip(self.kernels, "Which kernels are on show, in every view of this session")
        self.kernels.clicked.connect(self._open_kernels)
        self.baseline = _choice(
            "Baseline of the speed-up", "Every kernel's runtime is divided into this kernel's at the same N"
        )
        self.baseline.activated.connect(
            lambda place: self.baseline_chosen.emit(self.baseline.itemData(place))
        )
        self._lay_out()
        self.apply_theme(theme)

    def _lay_out(self) -> None:
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        row.addStretch(1)
        row.addWidget(self.curves)
        for button, key in ((self._back, "profile.back"), (self._next, "profile.next")):
            keep(button, button.setFixedHeight, HEIGHT_PX)
            does(button, key)
        for widget in (self._back, self.seqlen, self._next, self.kernels, self.baseline):
            row.addWidget(widget)

    def stand_first(self, widget: QWidget) -> None:
        """Let this stand before all else."""
        self._row.insertWidget(1, widget)

    def show_curves(self, curves: Sequence[Curve], current: Curve | None) -> None:
        """Offer these problems; a single one is named, and leaves nothing to choose."""
        self._offered = tuple(curves)
        shown = [cut_short(curve.label, MOST_OF_NAME) for curve in curves]
        if [self.curves.itemText(i) for i in range(self.curves.count())] != shown:
            self.curves.clear()
            self.curves.addItems(shown)
        self.curves.setCurrentIndex(-1 if current is None else curves.index(current))
        self.curves.setEnabled(len(shown) > 1)

    def show_kernels(self, kernels: Sequence[str], hidden: Collection[str], baseline: str | None) -> None:
        """Say how many of the kernels are on show, and what speed-ups are over."""
        if tuple(kernels) != self._kernels:
            self._kernels = tuple(kernels)
            self.baseline.clear()
            for kernel in kernels:
                self.baseline.addItem(f"over {cut_short(kernel, MOST_OF_NAME)}", kernel)
        self._hidden = frozenset(hidden)
        shown, all_of_them = len(self._kernels) - len(self._hidden), len(self._kernels)
        self.kernels.setText(f"{shown} of {all_of_them} kernels")
        self.baseline.setCurrentIndex(self.baseline.findData(baseline))

    def show_seqlen(self, seqlen: int | None) -> None:
        """Say where the crosshair stands."""
        self.seqlen.setText("" if seqlen is None else f"N = {seqlen_text(seqlen)}")

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the icons."""
        for button in (self._back, self._next):
            recolour(button, theme)

    def menu(self) -> QMenu:
        """The kernels, each to be shown or hidden."""
        menu = QMenu(self)
        for kernel in self._kernels:
            action = menu.addAction(button_text(kernel))
            action.setCheckable(True)
            action.setChecked(kernel not in self._hidden)
            action.triggered.connect(lambda shown, kernel=kernel: self.kernel_toggled.emit(kernel, shown))
        return menu

    def _open_kernels(self) -> None:
        menu = self.menu()
        pop_up(menu, self.kernels.mapToGlobal(self.kernels.rect().bottomLeft()))


def _choice(name: str, hint: str) -> QComboBox:
    box = DropDown()
    box.setAccessibleName(name)
    set_tip(box, hint)
    keep(box, box.setFixedHeight, HEIGHT_PX)
    box.setMinimumContentsLength(LEAST_COLUMNS)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
    return box
