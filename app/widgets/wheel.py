"""The wheel scrolls the page; it changes a field only while that has the keyboard focus."""

from typing import TYPE_CHECKING, Any, TypeAlias

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.zoom import px

SCROLL_BAR = 12  # pixels
ROUNDING_PX = 2
WIDEST = 340  # pixels that a box insists on, where nothing else is said

# What every kind of field extends; it stands before Qt's class of each, and Qt's classes allow no other.
if TYPE_CHECKING:
    _Field: TypeAlias = QWidget
else:
    _Field = object


class WheelInFocus(_Field):
    """A field that takes the wheel only while it has the focus, which the wheel does not give it."""

    def __init__(self, *args: Any, **properties: Any) -> None:
        super().__init__(*args, **properties)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    @guarded()
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Change the value, or leave the wheel to what scrolls."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class ChoiceBox(WheelInFocus, QComboBox):
    """A drop-down that shows what is chosen, shortened to its width; the list has all of it.

    Qt cuts a text that has no room in the middle of a letter.

    Attributes:
        widest: Pixels that it insists on, of those that its widest entry takes.
    """

    widest = WIDEST

    @property
    def shown(self) -> str:
        """The text as far as it has room."""
        option = self._option()
        field = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, field, self).width()
        text, metrics = self.currentText(), self.fontMetrics()
        fits = metrics.horizontalAdvance(text) <= room
        return text if fits else metrics.elidedText(text, Qt.TextElideMode.ElideRight, room)

    @guarded(QSize)
    def sizeHint(self) -> QSize:
        """As wide as its widest entry: Qt's sum of rounded lengths may lack a pixel for it."""
        return super().sizeHint() + QSize(ROUNDING_PX, 0)

    @guarded(QSize)
    def minimumSizeHint(self) -> QSize:
        """As wide as its widest entry where it follows its entries: Qt keeps that of the first ones."""
        least, policy = super().minimumSizeHint(), self.sizeAdjustPolicy()
        if policy != self.SizeAdjustPolicy.AdjustToContents or self.minimumContentsLength():
            return least + QSize(ROUNDING_PX, 0)
        return QSize(min(self.sizeHint().width(), px(self.widest)), least.height())

    @guarded()
    def showPopup(self) -> None:
        """Open a list that is as wide as its widest entry."""
        self.view().setMinimumWidth(self.view().sizeHintForColumn(self.modelColumn()) + px(SCROLL_BAR))
        super().showPopup()

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the box, and in it what has room."""
        del event
        option = self._option()
        option.currentText = self.shown
        with QPainter(self) as painter:
            self.style().drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option, painter, self)
            self.style().drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option, painter, self)

    def _option(self) -> QStyleOptionComboBox:
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        return option
