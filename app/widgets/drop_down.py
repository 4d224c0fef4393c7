"""A drop-down whose text ends in an ellipsis where it has no room: Qt cuts it in the middle of a letter."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QStyle, QStyleOptionComboBox, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.zoom import px
from flashscope.app.widgets.term_label import tell_terms
from flashscope.app.widgets.wheel import ChoiceBox

SCROLL_BAR = 12  # pixels
PADDING = 4  # pixels that styles leave at either side of the text


class DropDown(ChoiceBox):
    """A box that shows what is chosen, shortened to its width; the list has all of it, with tips.

    An entry that is a term says what it means.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model().rowsInserted.connect(lambda *_: tell_terms(self))

    @property
    def shown(self) -> str:
        """The text as far as it has room."""
        option = self._option()
        field = QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option, field, self).width()
        return self.fontMetrics().elidedText(
            self.currentText(), Qt.TextElideMode.ElideRight, room - 2 * PADDING
        )

    @guarded(QSize)
    def sizeHint(self) -> QSize:
        """As wide as its widest entry with what styles leave at either side."""
        return super().sizeHint() + QSize(2 * PADDING, 0)

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
