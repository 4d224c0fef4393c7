"""The title of a card that can show any quantity: it opens the list of them."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QMenu, QToolButton, QWidgetAction

from flashscope.app.control.guard import guarded
from flashscope.app.look.zoom import px
from flashscope.app.plots.sweep.quantity_list import QuantityList
from flashscope.app.widgets.plain import set_tip
from flashscope.app.words.kinds import in_full
from flashscope.profiles.results.quantities.quantity import Quantity

ARROW_PX = 15  # of the mark behind the text, with a gap on either side


class QuantityChooser(QToolButton):
    """Names the quantity on show and offers all others.

    Attributes:
        quantities: What is offered.

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
        self.quantities = QuantityList()
        self.quantities.picked.connect(self._pick)
        around = QWidgetAction(self)
        around.setDefaultWidget(self.quantities)
        self._menu = QMenu(self)
        self._menu.addAction(around)
        self._menu.aboutToShow.connect(lambda: self.quantities.begin(self._shown))
        self.setMenu(self._menu)

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

    def take_stage(self, *, on: bool) -> None:
        """Be a title that opens nothing, as on a stage, or open the list again."""
        self.setProperty("stage", on)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents, on)
        self.style().unpolish(self)
        self.style().polish(self)

    def show_quantity(self, quantity: Quantity) -> None:
        """Name what is on show."""
        self._shown = quantity.key
        if self.text() != quantity.title:
            self.setText(quantity.title)
            self.updateGeometry()
            self.setAccessibleName(f"Quantity of this plot: {quantity.title}")
        set_tip(self, f"{in_full(quantity)} Click to show another quantity.")

    def _pick(self, key: str) -> None:
        self._menu.close()
        if key != self._shown:
            self.chosen.emit(key)
