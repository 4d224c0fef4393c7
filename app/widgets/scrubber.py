"""A slider over time or steps that one can click anywhere on, with ticks above its groove."""

from collections.abc import Iterable
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSlider

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.widgets.frame.typing_guard import MOVED_BY_SHORTCUTS
from flashscope.app.widgets.plain import set_tip
from flashscope.app.widgets.wheel import WheelInFocus

MARGIN = 9.0
HANDLE = 7.0


class ScrubberMark(NamedTuple):
    """A mark at a value, in a colour, from `top` to `bottom` pixels above the groove."""

    value: int
    colour: str
    top: float
    bottom: float


class Scrubber(WheelInFocus, QSlider):
    """From 0 to its maximum. It is held down from press to release, and tells every value between.

    Args:
        theme: Its colours.
        name: What a screen reader calls it.
        tip: What its ticks mean.
    """

    def __init__(self, theme: Theme, name: str, tip: str) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.theme = theme
        self.setAccessibleName(name)
        set_tip(self, tip)
        keep(self, self.setMinimumSize, 160, 32)
        self.setProperty(MOVED_BY_SHORTCUTS, True)  # a slider's own Page Down would go back, by ten steps

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self.theme = theme
        self.update()

    def ticks(self) -> Iterable[ScrubberMark]:
        """What is marked."""
        return ()

    @guarded()
    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Jump to the value under the pointer."""
        self.setSliderDown(True)
        self.setValue(self._value_at(event.position().x()))

    @guarded()
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Scrub while a button is down."""
        if event.buttons():
            self.setValue(self._value_at(event.position().x()))

    @guarded()
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Stay: the handle is at the pointer already."""
        event.accept()
        self.setSliderDown(False)

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the ticks, the groove and the handle."""
        del event
        with QPainter(self) as painter:
            self._draw(painter)

    def _draw(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        y, margin, tall = self.height() / 2 + px(6), px(MARGIN), px(4)
        groove = QRectF(margin, y - tall / 2, self.width() - 2 * margin, tall)
        left, wide, most, used = groove.left(), groove.width(), max(1, self.maximum()), ""
        places = {(round(left + wide * tick.value / most), *tick[1:]) for tick in self.ticks()}
        for x, colour, top, bottom in sorted(places):
            if colour != used:  # pens take longer than lines, and there may be hundreds
                painter.setPen(QPen(QColor(colour), px(2)))
                used = colour
            painter.drawLine(QPointF(x, y - px(top)), QPointF(x, y - px(bottom)))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self.theme.line))
        painter.drawRoundedRect(groove, 2, 2)
        painter.setBrush(QColor(self.theme.accent))
        here = self._x(self.value())
        painter.drawRoundedRect(QRectF(groove.left(), groove.top(), here - groove.left(), tall), 2, 2)
        if self.hasFocus():
            painter.setPen(QPen(QColor(self.theme.text), 2))
        painter.drawEllipse(QPointF(here, y), px(HANDLE), px(HANDLE))

    def _x(self, value: int) -> float:
        return px(MARGIN) + (self.width() - 2 * px(MARGIN)) * value / max(1, self.maximum())

    def _value_at(self, x: float) -> int:
        share = (x - px(MARGIN)) / max(1.0, self.width() - 2 * px(MARGIN))
        return round(min(1.0, max(0.0, share)) * self.maximum())
