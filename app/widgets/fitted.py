"""A sentence as large as one line of it may be: it shrinks before it breaks, and breaks before it is cut."""

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.fonts import ui_font
from flashscope.app.look.zoom import px
from flashscope.app.widgets.plain import PlainLabel, set_tip

SIZES = (26, 24, 22, 20, 18, 17, 16, 15, 14)  # pixels of the font, the largest first
BROKEN = 13  # of a sentence in two lines


def fitting_font(text: str, width: int, height: int) -> QFont:
    """The largest bold font in which the text takes one line of that room, else that of two lines."""
    fonts = (ui_font(size, bold=True) for size in SIZES)
    return next((font for font in fonts if _fits(font, text, width, height)), ui_font(BROKEN, bold=True))


def _fits(font: QFont, text: str, width: int, height: int) -> bool:
    metrics = QFontMetrics(font)
    return metrics.horizontalAdvance(text) <= width and metrics.height() <= height


class FittedLabel(PlainLabel):
    """Takes the room that it is given, whatever it says.

    Signals:
        fitted: It has taken one line, or more (bool: more).
    """

    fitted = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent, alignment=Qt.AlignmentFlag.AlignVCenter)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def setText(self, text: str) -> None:
        """Show another text."""
        super().setText(text)
        set_tip(self, text)
        self.setAccessibleName(self.text())
        self._fit()

    @guarded(QSize)
    def minimumSizeHint(self) -> QSize:
        """No size: the label takes what room there is."""
        return QSize(1, 1)

    @guarded(bool)
    def hasHeightForWidth(self) -> bool:
        """No: what is around it need not grow where the sentence takes two lines."""
        return False

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the text into the new room."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        font = fitting_font(self.text(), self.width(), self.height())
        self.setWordWrap(font.pixelSize() == px(BROKEN))
        self.setFont(font)
        self.fitted.emit(self.wordWrap())
