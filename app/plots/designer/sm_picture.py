"""One multiprocessor: bars of shared memory, registers and warps, filled with blocks up to their limits."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen

from flashscope.app.figures.sm_bars import RESERVED, SmBar, bar_words, bars_sentence
from flashscope.app.look.fonts import ui_font
from flashscope.app.look.theme import CAPTION_PX, Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.plots.designer.painted import Painted
from flashscope.app.plots.stepper.ink import mix
from flashscope.kernels.cuda.design.estimate import Part

LEAST_PX = 300, 190
MOST_BAR_PX, GAP_PX = 40, 6
TINT = 0.55  # of a tenant's colour towards the card


class SmPicture(Painted):
    """Draws the bars of one cut."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "One SM, filled with blocks of the cut")
        self.bars: Sequence[SmBar] = ()
        keep(self, self.setMinimumSize, *LEAST_PX)

    def show_bars(self, bars: tuple[SmBar, ...]) -> None:
        """Show another cut."""
        self.bars = bars
        self.setAccessibleDescription(bars_sentence(bars))
        self.update()

    def draw(self, painter: QPainter) -> None:
        """A bar under the words of each limit."""
        if not self.bars:
            return
        caption, text = ui_font(CAPTION_PX), ui_font()
        room = self.height() / len(self.bars)
        for place, bar in enumerate(self.bars):
            top = place * room
            painter.setFont(text)
            words = QRectF(0, top, self.width(), painter.fontMetrics().height())
            self._write(painter, bar, words)
            height = min(px(MOST_BAR_PX), room - words.height() - px(GAP_PX) - px(4))
            painter.setFont(caption)
            self._draw_bar(painter, bar, QRectF(1, words.bottom() + px(2), self.width() - 2, height))

    def _write(self, painter: QPainter, bar: SmBar, room: QRectF) -> None:
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setPen(QColor(self.theme.text))
        painter.drawText(room, middle, bar.limit.value)
        colour = self.theme.error if not bar.fits else self.theme.warn if bar.binds else self.theme.dim
        painter.setPen(QColor(colour))
        painter.drawText(room, middle | Qt.AlignmentFlag.AlignRight, bar_words(bar))

    def _draw_bar(self, painter: QPainter, bar: SmBar, room: QRectF) -> None:
        scale = room.width() / bar.length
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QBrush(QColor(self.theme.raised)))
        painter.drawRect(QRectF(room.left(), room.top(), bar.capacity * scale, room.height()))
        x = room.left()
        for _ in range(bar.drawn):
            begins = x
            for part in bar.block:
                self._draw_part(painter, part, QRectF(x, room.top(), part.size * scale, room.height()))
                x += part.size * scale
            painter.setPen(QPen(QColor(self.theme.panel), px(2)))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(begins, room.top(), x - begins, room.height()))
        self._draw_limit(painter, bar, room, scale)

    def _draw_part(self, painter: QPainter, part: Part, room: QRectF) -> None:
        """A tenant, a line between two of its stages, and its name where that has room."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QBrush(self._colour(part.name)))
        painter.drawRect(room)
        painter.setPen(QPen(QColor(self.theme.panel), 1))
        for stage in range(1, part.stages):
            x = room.left() + room.width() * stage / part.stages
            painter.drawLine(QPointF(x, room.top()), QPointF(x, room.bottom()))
        painter.setPen(QColor(self.theme.text))
        wide = room.width() / part.stages
        if painter.fontMetrics().horizontalAdvance(part.name) + px(4) <= wide:
            for stage in range(part.stages):
                place = QRectF(room.left() + stage * wide, room.top(), wide, room.height())
                painter.drawText(place, Qt.AlignmentFlag.AlignCenter, part.name)

    def _draw_limit(self, painter: QPainter, bar: SmBar, room: QRectF, scale: float) -> None:
        """An outline of what there is; where more is asked for, it ends inside of the bar."""
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(self.theme.dim if bar.fits else self.theme.error), px(1)))
        end = room.left() + bar.capacity * scale
        painter.drawRect(QRectF(room.left(), room.top(), end - room.left(), room.height()))
        if not bar.fits:
            painter.setPen(QPen(QColor(self.theme.error), px(2)))
            painter.drawLine(QPointF(end, room.top() - px(3)), QPointF(end, room.bottom() + px(3)))

    def _colour(self, name: str) -> QColor:
        theme = self.theme
        colours = {"Q": theme.accent, "dO": theme.accent, "K": theme.ok, "V": theme.warn}
        colours |= dict.fromkeys((RESERVED, "barriers", "states"), theme.dim)
        colours |= dict.fromkeys(("P", "dS"), theme.error)
        return mix(colours.get(name, theme.accent), theme.panel, TINT)
