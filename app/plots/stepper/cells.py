"""Numbers as coloured cells with their values, rows and columns by their numbers, and a scale."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QHideEvent,
    QLinearGradient,
    QMouseEvent,
    QPainter,
    QPen,
)

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.plots.stepper.cell_image import CellColours, bounds_of, cell_image, runs
from flashscope.app.plots.stepper.ink import on_fill, role_colour
from flashscope.app.plots.stepper.panel import SMALL, PanelOf, ViewKind, put, width_of
from flashscope.app.stepper.numbers import brief, number
from flashscope.app.stepper.recording import RecordedFloats

LARGEST_CELL = (144.0, 90.0)
VALUES = (2.0, 1.7, 1.4, 1.2, 1.0, 0.9)  # times a caption's letters; the first with room
AIR = 1.6  # times as wide and high as larger letters a cell is to be
STEPS = 256
BAR_ROOM = 18.0  # pixels: a gap, the colour bar, a gap, and a little air
VISIBLE_GAP = 6  # pixels: larger cells stand apart
LEAST_CELL = 0.01  # pixels, in a panel that has no room
WIDE = 100.0  # values from here on are written without decimals

CellIndex = tuple[int, int]


@dataclass(frozen=True)
class Area:
    """Where the cells of a tile lie."""

    x: float
    y: float
    width: float
    height: float
    rows: int
    columns: int

    @property
    def gap(self) -> float:
        """Pixels between two cells, where they are so large that one can see it."""
        return 1.0 if min(self.width, self.height) > VISIBLE_GAP else 0.0

    def rect(self, row: int, column: int) -> QRectF:
        """The rectangle of a cell, with the gap right of it and under it."""
        return QRectF(self.x + column * self.width, self.y + row * self.height, self.width, self.height)

    def row(self, row: int) -> QRectF:
        """The rectangle of a row."""
        return QRectF(self.x, self.y + row * self.height, self.columns * self.width, self.height)

    def column(self, column: int) -> QRectF:
        """The rectangle of a column."""
        return QRectF(self.x + column * self.width, self.y, self.width, self.rows * self.height)

    def find(self, x: float, y: float) -> CellIndex | None:
        """The cell at a place."""
        row, column = int((y - self.y) // self.height), int((x - self.x) // self.width)
        return (row, column) if 0 <= row < self.rows and 0 <= column < self.columns else None


@dataclass(frozen=True)
class CellFrame:
    """What a panel of cells shows of a step.

    Attributes:
        values: The numbers (rows, columns); None before they are computed.
        levels: The values at the two ends of the colour scale, the same over a whole trace.
        shape: Rows and columns on show.
        most: Those that there are at most over the trace: cells are as large in every step.
        first: The numbers of the first row and column.
        last: The largest number of a row: its letters have room.
        empty: Why there are no values.
        watched: The row that is watched; None: none is.
        rings: The column to ring in each row, -1 for none; None: no ring.
    """

    values: RecordedFloats | None
    levels: tuple[float, float]
    shape: tuple[int, int]
    most: tuple[int, int]
    first: tuple[int, int]
    last: int
    empty: str
    watched: int | None = None
    rings: NDArray[np.intp] | None = None


class CellPanel(PanelOf[ViewKind]):
    """Numbers on a colour scale that stays fixed over the trace.

    Signals:
        cell_hovered: The pointer is over another cell ((row, column) in the tile, or None).
        row_chosen: A row was clicked (its number in the tile).
    """

    cell_hovered = Signal(object)
    row_chosen = Signal(int)

    def __init__(self, theme: Theme, name: str, scale: str, digits: int) -> None:
        super().__init__(theme, name)
        self.hovered: CellIndex | None = None
        self._digits = digits
        self._colours, self._fills = _scale_of(scale)
        self.setMouseTracking(True)
        keep(self, self.setMinimumSize, 160, 120)

    def frame(self, view: ViewKind) -> CellFrame:
        """What to show of a step."""
        raise NotImplementedError

    def set_hovered(self, cell: CellIndex | None) -> None:
        """Light a cell's row and column."""
        if cell != self.hovered:
            self.hovered = cell
            self.update()

    @guarded()
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell the other panels what is under the pointer."""
        self.cell_hovered.emit(self._cell_at(event))

    @guarded()
    def leaveEvent(self, event: QEvent) -> None:
        """Nothing is under the pointer any more."""
        del event
        self.let_go()

    @guarded()
    def hideEvent(self, event: QHideEvent) -> None:
        """The same where another page comes."""
        super().hideEvent(event)
        self.let_go()

    def let_go(self) -> None:
        """Light no cell any more, in no panel."""
        self.cell_hovered.emit(None)

    @guarded()
    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Watch the row that was clicked; the right button opens a menu."""
        cell = self._cell_at(event) if event.button() == Qt.MouseButton.LeftButton else None
        if cell is not None:
            self.row_chosen.emit(cell[0])

    def draw(self, painter: QPainter, view: ViewKind) -> None:
        """Paint the cells, their values, the rings, the row watched, labels and the scale."""
        frame = self.frame(view)
        area = self._area(frame)
        painter.setFont(self.sized(SMALL))
        if frame.values is None:
            self._draw_empty(painter, area, frame.empty)
        else:
            self._draw_cells(painter, frame, area, frame.values)
            self._draw_rings(painter, frame, area)
        painter.setFont(self.sized(SMALL))
        self._draw_labels(painter, frame, area)
        self._draw_marks(painter, frame, area)
        self._draw_scale(painter, frame, area)

    def _cell_at(self, event: QMouseEvent) -> CellIndex | None:
        if self.view is None:
            return None
        return self._area(self.frame(self.view)).find(event.position().x(), event.position().y())

    def _area(self, frame: CellFrame) -> Area:
        (rows, columns), unit = frame.shape, self.unit()
        metrics = QFontMetricsF(self.sized(SMALL))
        left = metrics.horizontalAdvance(str(frame.last)) + px(7)
        widest = max(width_of(_end(level), self.sized(SMALL)) for level in frame.levels)
        right, top = widest + px(BAR_ROOM), 1.2 * unit
        most_rows, most_columns = frame.most
        width = min((self.width() - left - right) / most_columns, px(LARGEST_CELL[0]))
        height = min((self.height() - top - 4) / most_rows, px(LARGEST_CELL[1]))
        x = left + max(0.0, (self.width() - left - right - width * most_columns) / 2)
        y = top + max(0.0, (self.height() - top - 4 - height * most_rows) / 2)
        return Area(x, y, max(width, LEAST_CELL), max(height, LEAST_CELL), rows, columns)

    def _draw_empty(self, painter: QPainter, area: Area, words: str) -> None:
        painter.setPen(QPen(QColor(self.theme.line), 1))
        painter.setBrush(QColor(self.theme.raised))
        for row in range(area.rows):
            for column in range(area.columns):
                painter.drawRect(area.rect(row, column).adjusted(0.5, 0.5, -0.5, -0.5))
        whole = area.row(0).united(area.row(area.rows - 1))
        metrics = QFontMetricsF(painter.font())
        pill = QRectF(0, 0, metrics.horizontalAdvance(words) + 16, metrics.height() + 6)
        pill.moveCenter(whole.center())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self.theme.panel))
        painter.drawRoundedRect(pill, 6, 6)
        put(painter, pill, words, self.theme.dim, Qt.AlignmentFlag.AlignHCenter)

    def _draw_cells(self, painter: QPainter, frame: CellFrame, area: Area, values: RecordedFloats) -> None:
        low, high = frame.levels
        digits = self._digits if max(abs(low), abs(high)) < WIDE else 0
        widest = brief(low or high, digits)
        fitting = (self.sized(SMALL * share) for share in VALUES)
        font = next((font for font in fitting if _fits(widest, font, area, self.unit())), None)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        if font is None:
            self._fill_cells(painter, area, values, (low, high))
        else:
            painter.setFont(font)
            for row, column in np.ndindex(area.rows, area.columns):
                value = float(values[row, column])
                self._draw_cell(painter, area.rect(row, column), value, (low, high), digits)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _fill_cells(
        self, painter: QPainter, area: Area, values: RecordedFloats, levels: tuple[float, float]
    ) -> None:
        """The same of cells without room for their values, of which there may be thousands."""
        gap, dense = area.gap, painter.device().devicePixelRatioF()
        rows, columns = (
            bounds_of(first * dense, size * dense, count, gap * dense)
            for first, size, count in ((area.y, area.height, area.rows), (area.x, area.width, area.columns))
        )
        image = cell_image(self._fills_of(values, levels), rows, columns)
        image.setDevicePixelRatio(dense)
        painter.drawImage(QPointF(columns[0, 0] / dense, rows[0, 0] / dense), image)
        masked = values == -np.inf
        for hatched, colour in ((masked, self.theme.dim), (~np.isfinite(values) & ~masked, self.theme.error)):
            brush = QBrush(QColor(colour), Qt.BrushStyle.BDiagPattern)
            for row, first, end in runs(hatched, apart=bool(gap)):
                whole = area.rect(row, first).united(area.rect(row, end - 1))
                painter.fillRect(whole.adjusted(0, 0, -gap, -gap), brush)

    def _fills_of(self, values: RecordedFloats, levels: tuple[float, float]) -> CellColours:
        """The colour of every value, as `colour_of` has it; of one that is not finite the ground's."""
        low, high = levels
        known = np.isfinite(values)
        above = np.where(known, values, low).astype(np.float64) - low
        shares = above / (high - low) if high > low else np.full_like(above, 0.5)
        fills = self._fills[np.clip(shares * (STEPS - 1), 0, STEPS - 1).astype(np.intp)]
        return np.where(known, fills, np.uint32(QColor(self.theme.raised).rgba()))

    def _draw_cell(
        self, painter: QPainter, rect: QRectF, value: float, levels: tuple[float, float], digits: int
    ) -> None:
        inner = rect.adjusted(0, 0, -1, -1)
        if not np.isfinite(value):
            painter.fillRect(inner, QColor(self.theme.raised))
            masked = value == -np.inf  # anything else that is not finite is wrong
            hatching = self.theme.dim if masked else self.theme.error
            painter.fillRect(inner, QBrush(QColor(hatching), Qt.BrushStyle.BDiagPattern))
            return
        fill = self.colour_of(value, levels)
        painter.fillRect(inner, fill)
        painter.setPen(on_fill(fill))
        text = brief(value, digits)
        letters = painter.font()
        if "e" in text:  # other than those that the letters were chosen for
            painter.setFont(_narrowed(letters, text, inner.width()))
        painter.drawText(inner, Qt.AlignmentFlag.AlignCenter, text)
        painter.setFont(letters)

    def colour_of(self, value: float, levels: tuple[float, float]) -> QColor:
        """The colour of a finite value."""
        low, high = levels
        share = (value - low) / (high - low) if high > low else 0.5
        return self._colours[max(0, min(STEPS - 1, int(share * (STEPS - 1))))]

    def _draw_rings(self, painter: QPainter, frame: CellFrame, area: Area) -> None:
        columns = frame.rings
        if columns is None:
            return
        painter.setPen(QPen(QColor(role_colour(self.theme, "m")), 2.4))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for row, column in enumerate(columns):
            if column >= 0:
                painter.drawRect(area.rect(row, int(column)).adjusted(0.8, 0.8, -1.6, -1.6))

    def _draw_labels(self, painter: QPainter, frame: CellFrame, area: Area) -> None:
        unit, (first_row, first) = self.unit(), frame.first
        every_row = max(1, int(np.ceil(unit / area.height)))
        free = area.y  # below the labels of the columns, and from then on below the one before
        for row in range(0, area.rows, every_row):
            top = max(free, area.rect(row, 0).center().y() - unit / 2)
            free = top + unit
            rect = QRectF(0, top, area.x - px(5), unit)
            watched = row == frame.watched
            colour = self.theme.text if watched else self.theme.dim
            label = str(first_row + row)
            put(painter, rect, label, colour, Qt.AlignmentFlag.AlignRight)
        apart = QFontMetricsF(painter.font()).horizontalAdvance(str(first + area.columns)) + unit / 2
        every_column = max(1, int(np.ceil(max(unit * 1.9, apart) / area.width)))
        for column in range(0, area.columns, every_column):
            above = area.rect(0, column)
            rect = QRectF(above.left(), area.y - unit - 1, above.width(), unit)
            label = str(first + column)
            put(painter, rect, label, self.theme.dim, Qt.AlignmentFlag.AlignHCenter)

    def _draw_marks(self, painter: QPainter, frame: CellFrame, area: Area) -> None:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if frame.watched is not None:
            rect = area.row(frame.watched).adjusted(-1, -1, 0, 0)
            for colour, width in ((self.theme.panel, 3.6), (self.theme.text, 1.6)):  # seen on any cell
                painter.setPen(QPen(QColor(colour), width))
                painter.drawRect(rect)
        if self.hovered and self.hovered[0] < area.rows and self.hovered[1] < area.columns:
            painter.setPen(QPen(QColor(self.theme.accent), 1.6, Qt.PenStyle.DashLine))
            painter.drawRect(area.row(self.hovered[0]))
            painter.drawRect(area.column(self.hovered[1]))

    def _draw_scale(self, painter: QPainter, frame: CellFrame, area: Area) -> None:
        unit = self.unit()
        height = max(area.rows * area.height, 4 * unit)
        middle = area.y + area.rows * area.height / 2
        top = max(0.0, middle - height / 2)
        bar = QRectF(area.x + area.columns * area.width + px(6), top, px(6), height)
        gradient = QLinearGradient(bar.bottomLeft(), bar.topLeft())
        for share in np.linspace(0, 1, 9):
            gradient.setColorAt(float(share), self._colours[int(share * (STEPS - 1))])
        painter.fillRect(bar, gradient)
        low, high = frame.levels
        for value, y in ((high, bar.top() + unit / 2), (low, bar.bottom() - unit / 2)):
            rect = QRectF(bar.right() + px(3), y - unit / 2, self.width() - bar.right() - px(3), unit)
            put(painter, rect, _end(value), self.theme.dim)


@cache
def _scale_of(name: str) -> tuple[Sequence[QColor], CellColours]:
    """The steps of a colour scale: as colours, and as pixels have them."""
    table = pg.colormap.get(name).getLookupTable(0.0, 1.0, STEPS)
    colours = [QColor(*(int(c) for c in entry[:3])) for entry in table]
    return colours, np.array([colour.rgba() for colour in colours], np.uint32)


def _end(level: float) -> str:
    """An end of the colour scale as its label."""
    return number(level, 1 if abs(level) < WIDE else 0)


def _narrowed(font: QFont, text: str, room: float) -> QFont:
    """The letters, as narrow as the text needs to have room."""
    narrow = QFont(font)
    needed = QFontMetricsF(font).horizontalAdvance(text)
    if needed > room:
        narrow.setStretch(max(1, int(100 * room / needed)))
    return narrow


def _fits(text: str, font: QFont, area: Area, unit: float) -> bool:
    """Whether the cells have room; where letters are larger than those of captions, with air around them."""
    metrics = QFontMetricsF(font)
    air = AIR if metrics.height() > unit else 1.0
    wide, tall = air * metrics.horizontalAdvance(text) + 2, air * metrics.ascent() + 2
    return area.width >= wide and area.height >= tall
