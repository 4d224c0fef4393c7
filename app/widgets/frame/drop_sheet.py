"""A frame around the place that will take what is dragged, with words that say what will happen."""

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QVBoxLayout, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import CARD_RADIUS, DARK, Theme
from flashscope.app.look.zoom import px
from flashscope.app.widgets.plain import PlainLabel

LINE_PX = 3
VEIL = 235  # of 255: what is under it is hinted at


class DropSheet(QWidget):
    """Lies over a place, under the pointer of a drag and in no layout.

    Args:
        window: What has all places.

    Attributes:
        words: What will happen.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._theme, self._refused = DARK, False
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAccessibleName("What a drop does")
        self.words = PlainLabel(wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        self.words.setProperty("role", "heading")
        column = QVBoxLayout(self)
        column.setContentsMargins(*(4 * [24]))
        column.addWidget(self.words)
        self.hide()

    def show_over(self, place: QWidget, words: str, *, refused: bool) -> None:
        """Frame a place, and say what will happen there, or why nothing will."""
        self._refused = refused
        self.words.setText(words)
        self.setGeometry(_seen(place))
        self.raise_()
        self.show()
        self.update()

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        self.update()

    @guarded()
    def paintEvent(self, _event: QPaintEvent) -> None:
        """A veil in a frame: whole where something happens, dashed where nothing does."""
        line, theme = px(LINE_PX), self._theme
        veil = QColor(theme.bg)
        veil.setAlpha(VEIL)
        style = Qt.PenStyle.DashLine if self._refused else Qt.PenStyle.SolidLine
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(theme.dim if self._refused else theme.accent), line, style))
            painter.setBrush(veil)
            inside = self.rect().adjusted(line, line, -line, -line)
            painter.drawRoundedRect(inside, px(CARD_RADIUS), px(CARD_RADIUS))


def _seen(place: QWidget) -> QRect:
    """Where a place is to be seen in its window: a page may be scrolled."""
    seen, part = place.rect(), place
    while not part.isWindow() and (around := part.parentWidget()) is not None:
        seen = seen.translated(part.pos()) & around.rect()
        part = around
    return seen
