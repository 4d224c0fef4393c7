"""What takes each kernel's memory at the crosshair: bars on one scale, where there is room for them."""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.fonts import ui_font
from flashscope.app.look.kernel_marks import kernel_mark
from flashscope.app.look.theme import CAPTION_PX, Theme
from flashscope.app.look.zoom import px
from flashscope.app.widgets.plain import set_tip
from flashscope.app.words.plain import MOST_OF_NAME, cut_short
from flashscope.app.words.symbols import scripted
from flashscope.app.words.units import bytes_text
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.theory.holdings import FootprintPart, holdings

TITLE = "What takes the memory, by formula"
LINE, BAR, GAP = 20, 12, 10  # pixels of a line of text, of a bar, and between two kernels
LEAST = 2  # pixels of a bar
FEWEST_PARTS = 2  # tensors alone say nothing
BETWEEN = " · "


class Holding(NamedTuple):
    """A kernel's footprint in its parts, the problem's tensors first."""

    kernel: str
    parts: Sequence[FootprintPart]

    @property
    def nbytes(self) -> int:
        """Bytes of all parts."""
        return sum(part.nbytes for part in self.parts)

    @property
    def texts(self) -> Sequence[str]:
        """Every part with its bytes."""
        return [f"{scripted(part.name)} {bytes_text(part.nbytes)}" for part in self.parts]

    @property
    def words(self) -> str:
        """All parts, in one line."""
        return BETWEEN.join(self.texts)


class MemoryBars(QWidget):
    """A line of words and a bar a kernel, as long as its footprint beside the largest on show.

    It takes the room that is left over, and stays empty where that is less than it needs.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._held: Sequence[Holding] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
        self.setAccessibleName(TITLE)

    def show_rows(self, rows: Sequence[PointRow]) -> None:
        """Paint what these hold; nothing where not one of them holds anything but tensors."""
        held = [Holding(row.kernel, parts) for row in rows if (parts := holdings(row))]
        self._held = held if any(len(one.parts) >= FEWEST_PARTS for one in held) else ()
        told = "; ".join(f"{one.kernel}: {one.words}" for one in self._held)
        self.setAccessibleDescription(told)
        set_tip(self, told)  # whatever has no room
        self.update()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        self.update()

    @property
    def has_room(self) -> bool:
        """Whether there is something to paint, and room for all of it."""
        return bool(self._held) and self.height() >= px(GAP + LINE + len(self._held) * (LINE + BAR + GAP))

    @guarded(QSize)
    def sizeHint(self) -> QSize:
        """None of its own."""
        return QSize(0, 0)

    @guarded()
    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the title, and every kernel under it."""
        if not self.has_room:
            return
        largest = max(one.nbytes for one in self._held)
        with QPainter(self) as painter:
            painter.setFont(ui_font(CAPTION_PX))
            self._write(painter, px(GAP), TITLE, self._theme.dim)
            top = px(GAP + LINE)
            for one, lines in zip(self._held, self._lines(QFontMetricsF(painter.font())), strict=True):
                for line in lines:
                    self._write(painter, top, line, self._theme.text)
                    top += px(LINE)
                width = max(px(LEAST), self.width() * one.nbytes / largest)
                self._paint_bar(painter, QRectF(0, top, width, px(BAR)), one)
                top += px(BAR + GAP)

    def _lines(self, metrics: QFontMetricsF) -> Sequence[Sequence[str]]:
        """What is written over each bar: as many lines as it takes, or one where not all have room."""
        whole = [broken(_named(one), one.texts, metrics, self.width()) for one in self._held]
        needed = px(GAP + LINE) + sum(px(LINE) * len(lines) + px(BAR + GAP) for lines in whole)
        return whole if needed <= self.height() else [[f"{_named(one)}{one.words}"] for one in self._held]

    def _write(self, painter: QPainter, top: float, text: str, colour: str) -> None:
        """One line, cut at its end where it has no room."""
        fitting = QFontMetricsF(painter.font()).elidedText(text, Qt.TextElideMode.ElideRight, self.width())
        painter.setPen(QColor(colour))
        place = QRectF(0, top, self.width(), px(LINE))
        painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, fitting)

    def _paint_bar(self, painter: QPainter, bar: QRectF, held: Holding) -> None:
        """Tensors in grey, the kernel's own buffers in its colour, with a line between two of them."""
        grey, own = QColor(self._theme.dim), QColor(kernel_mark(held.kernel).on(self._theme))
        left = bar.left()
        painter.setPen(QPen(QColor(self._theme.panel), px(1)))
        for number, part in enumerate(held.parts):
            width = bar.width() * part.nbytes / held.nbytes
            painter.fillRect(QRectF(left, bar.top(), width, bar.height()), own if number else grey)
            if number and left > bar.left() + px(LEAST):
                painter.drawLine(QPointF(left, bar.top()), QPointF(left, bar.bottom()))
            left += width


def broken(first: str, words: Sequence[str], metrics: QFontMetricsF, width: float) -> list[str]:
    """Lines of these words behind the first, none wider than this if no word is."""
    lines = [first]
    for number, word in enumerate(words):
        longer = f"{lines[-1]}{BETWEEN if number else ''}{word}"
        if number and metrics.horizontalAdvance(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _named(held: Holding) -> str:
    return f"{cut_short(held.kernel, MOST_OF_NAME)}: "
