"""The title of a card that can show any quantity: it opens the list of them."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton

from flashscope.app.control.guard import guarded
from flashscope.app.look.zoom import px
from flashscope.app.widgets.plain import set_tip
from flashscope.app.words.kinds import in_full
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.registry import QUANTITIES

ARROW_PX = 15  # of the mark behind the text, with a gap on either side


class QuantityChooser(QToolButton):
    """Names the quantity on show and offers all others, the main ones first.

    Signals:
        chosen: Another quantity was picked, by its key (str).
    """

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "chooser")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._shown = ""
        self._list = QMenu(self)
        self._list.setToolTipsVisible(True)
        self._group = QActionGroup(self._list)
        self._list.aboutToShow.connect(self._fill)
        self._list.triggered.connect(self._pick)
        self.setMenu(self._list)

    @guarded(QSize)
    def sizeHint(self) -> QSize:
        """As wide as its text and its arrow; the style would leave room for an icon."""
        self.ensurePolished()
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self.text()) + px(ARROW_PX), metrics.height() + px(4))

    @guarded(QSize)
    def minimumSizeHint(self) -> QSize:
        """Room for all of it."""
        return self.sizeHint()

    def show_quantity(self, quantity: Quantity) -> None:
        """Name what is on show."""
        self._shown = quantity.key
        if self.text() != quantity.title:
            self.setText(quantity.title)
            self.updateGeometry()
            self.setAccessibleName(f"Quantity of this plot: {quantity.title}")
        set_tip(self, f"{in_full(quantity)} Click to show another quantity.")

    def _fill(self) -> None:
        """List the quantities; made anew each time, the registry is the truth."""
        self._list.clear()
        main = [quantity for quantity in QUANTITIES.values() if not quantity.detail]
        details = [quantity for quantity in QUANTITIES.values() if quantity.detail]
        for quantity in main:
            self._list.addAction(self._action(quantity))
        self._list.addSeparator()
        for quantity in details:
            self._list.addAction(self._action(quantity))

    def _action(self, quantity: Quantity) -> QAction:
        action = QAction(quantity.title, self._list, checkable=True)
        action.setData(quantity.key)
        set_tip(action, in_full(quantity))
        action.setChecked(quantity.key == self._shown)
        self._group.addAction(action)
        return action

    def _pick(self, action: QAction) -> None:
        key = str(action.data())
        if key != self._shown:
            self.chosen.emit(key)
