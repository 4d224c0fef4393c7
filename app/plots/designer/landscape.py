"""Cuts side by side: a colour for a quantity, hatched where one does not run, framed where chosen."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetrics, QHelpEvent, QMouseEvent, QPainter, QPen
from PySide6.QtWidgets import QToolTip

from flashscope.app.control.guard import guarded
from flashscope.app.figures.cut_grid import CutGrid, CutQuantity, GridCell
from flashscope.app.look.fonts import ui_font
from flashscope.app.look.theme import CAPTION_PX, Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.plots.designer.painted import Painted
from flashscope.app.plots.stepper.ink import mix, on_fill
from flashscope.app.widgets.plain import plain_tip
from flashscope.kernels.cuda.design.knobs import inner
from flashscope.kernels.workload.cut import Cut

LEAST_PX = 360, 150
LEFT_PX, BOTTOM_PX, GAP_PX = 76, 34, 3
PALEST = 0.12  # of the accent has the least value
NARROWEST = 75  # percent of their usual width that the letters of a value have at least
SHIPPED = "★"
OF_ROWS = frozenset({"groups", "subtiles"})  # numbers from which the rows follow that a block owns


class DrawnCuts(NamedTuple):
    """What is on show.

    Attributes:
        grid: The cuts.
        quantity: What the colours stand for.
        chosen: The cut that is framed.
        shipped: The cut that the kernel ships with.
    """

    grid: CutGrid[Any]
    quantity: CutQuantity[Any]
    chosen: Cut
    shipped: Cut


class Landscape(Painted):
    """Draws a grid of cuts.

    Signals:
        picked: A cut was clicked (Cut).
    """

    picked = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Cuts side by side")
        self.drawn: DrawnCuts | None = None
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)  # arrows are then the page's, no slider's
        keep(self, self.setMinimumSize, *LEAST_PX)

    def show_grid(self, drawn: DrawnCuts) -> None:
        """Show other cuts, or another quantity of theirs."""
        self.drawn = drawn
        self.setAccessibleDescription(
            f"{drawn.quantity.title} of {drawn.grid.size[0]} times {drawn.grid.size[1]} cuts"
        )
        self.update()

    def cell_at(self, place: QPointF) -> GridCell | None:
        """The cell at a place of the widget."""
        if self.drawn is None:
            return None
        area = self._area
        cells: Sequence[Sequence[GridCell]] = self.drawn.grid.cells
        x, y = place.x() - area.left(), place.y() - area.top()
        if not (0 <= x < area.width() and 0 <= y < area.height()):
            return None
        row, column = int(y / area.height() * len(cells)), int(x / area.width() * len(cells[0]))
        return cells[row][column]

    def box_of(self, row: int, column: int) -> QRectF:
        """Where a cell lies."""
        assert self.drawn is not None  # noqa: S101 - it has cells
        rows, columns = self.drawn.grid.size
        area, gap = self._area, px(GAP_PX) / 2
        wide, high = area.width() / columns, area.height() / rows
        whole = QRectF(area.left() + column * wide, area.top() + row * high, wide, high)
        return whole.adjusted(gap, gap, -gap, -gap)

    @property
    def _left(self) -> int:
        """Room for what the rows have, and for its name under it."""
        name = "" if self.drawn is None else self._name_of_rows
        return max(px(LEFT_PX), QFontMetrics(ui_font(CAPTION_PX)).horizontalAdvance(name) + px(GAP_PX + 8))

    @property
    def _name_of_rows(self) -> str:
        assert self.drawn is not None  # noqa: S101 - it has rows
        return self.drawn.grid.rows.words

    @property
    def _area(self) -> QRectF:
        left, bottom = self._left, px(BOTTOM_PX)
        return QRectF(left, 0, self.width() - left, self.height() - bottom)

    @guarded()
    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Pick the cut under the pointer."""
        cell = self.cell_at(event.position())
        if cell is not None and event.button() == Qt.MouseButton.LeftButton:
            self.picked.emit(cell.cut)

    @guarded(bool)
    def event(self, event: QEvent) -> bool:
        """Say what the cut under the pointer takes, or why it does not run."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            cell = self.cell_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), plain_tip(cell.tip) if cell else "", self)
            return True
        return super().event(event)

    def draw(self, painter: QPainter) -> None:
        """The cells, their values, and what stands beside and under them."""
        if self.drawn is None:
            return
        painter.setFont(ui_font(CAPTION_PX))
        values = self.drawn.grid.values(self.drawn.quantity)
        known = [value for row in values for value in row if value is not None]
        low, high = min(known, default=0.0), max(known, default=0.0)
        painter.setFont(self._narrowed(known))
        for y, row in enumerate(self.drawn.grid.cells):
            for x, cell in enumerate(row):
                value = values[y][x]
                share = None if value is None else self.drawn.quantity.share(value, low, high)
                self._draw_cell(painter, cell, self.box_of(y, x), value, share)
        painter.setFont(ui_font(CAPTION_PX))
        self._draw_axes(painter)

    def _narrowed(self, values: Sequence[float]) -> QFont:
        """Letters in which every value has room in its cell, if they need not be too narrow for that."""
        font, drawn = ui_font(CAPTION_PX), self.drawn
        assert drawn is not None  # noqa: S101 - it is being drawn
        needed = max(
            (QFontMetrics(font).horizontalAdvance(drawn.quantity.text(one)) for one in values), default=0
        )
        room = self.box_of(0, 0).width() - 2 * px(3) - 1
        if 0 < room < needed:
            font.setStretch(max(NARROWEST, int(100 * room / needed)))
        return font

    def _draw_cell(
        self, painter: QPainter, cell: GridCell, box: QRectF, value: float | None, share: float | None
    ) -> None:
        theme, drawn = self.theme, self.drawn
        assert drawn is not None  # noqa: S101 - it is being drawn
        painter.setPen(Qt.PenStyle.NoPen)
        fill = QColor(theme.raised)
        if share is not None:
            fill = mix(theme.panel, theme.accent, PALEST + (1 - PALEST) * share)
        painter.setBrush(QBrush(fill))
        painter.drawRect(box)
        if cell.refused:
            painter.setBrush(QBrush(QColor(theme.line), Qt.BrushStyle.BDiagPattern))
            painter.drawRect(box)
        ink = QColor(theme.dim) if share is None else on_fill(fill)
        marks = SHIPPED * (cell.cut == drawn.shipped) + cell.mark
        words = "×" if cell.refused else "" if value is None else drawn.quantity.text(value)
        self._write(painter, box, ink, words, marks)
        if cell.cut == drawn.chosen:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(theme.text), px(2)))
            painter.drawRect(box)

    @staticmethod
    def _write(painter: QPainter, box: QRectF, ink: QColor, words: str, marks: str) -> None:
        """The value, and the marks beside it."""
        metrics, inset = painter.fontMetrics(), px(3)
        painter.setPen(ink)
        for text, place in places(metrics, box, words, marks, inset):
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)

    def _draw_axes(self, painter: QPainter) -> None:
        drawn = self.drawn
        assert drawn is not None  # noqa: S101 - it is being drawn
        grid, metrics = drawn.grid, painter.fontMetrics()
        painter.setPen(QColor(self.theme.dim))
        for y, value in enumerate(grid.rows.values):
            box = self.box_of(y, 0)
            place = QRectF(0, box.top(), self._left - px(8), box.height())
            right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
            cut = grid.cells[y][0].cut
            what, owned = ("Bc", cut.keys) if cut.backward else ("Br", cut.block_q)
            told = f"{value} · {what} {owned}" if grid.rows.name in OF_ROWS and owned != value else f"{value}"
            painter.drawText(place, right, told)
        passing = inner(drawn.chosen.kernel)
        for x, cell in enumerate(grid.cells[0]):
            box = self.box_of(0, x)
            top = self._area.bottom()
            place = QRectF(box.left(), top, box.width(), metrics.height() + px(2))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, str(getattr(cell.cut, passing.name)))
        under = QRectF(self._left, self.height() - metrics.height(), self._area.width(), metrics.height())
        painter.drawText(under, Qt.AlignmentFlag.AlignCenter, passing.title)
        beside = QRectF(0, self.height() - metrics.height(), self._left - px(8), metrics.height())
        painter.drawText(beside, Qt.AlignmentFlag.AlignRight, self._name_of_rows)


def places(
    metrics: QFontMetrics, box: QRectF, words: str, marks: str, inset: int
) -> Iterator[tuple[str, QRectF]]:
    """Where the value and the marks of a cell stand, never one over the other; what has no room is left out.

    Args:
        metrics: Of the font.
        box: The cell.
        words: The value: in the middle, or where the marks need that under them or on their left.
        marks: In the corner of a high cell, else at the height of the value.
        inset: Pixels between the marks and what is beside them.
    """
    line, long = metrics.height(), metrics.horizontalAdvance(words)
    wide = metrics.horizontalAdvance(marks) + inset if marks else 0
    high = box.height() >= 2 * line
    if long + 2 * wide <= box.width():
        yield words, box
    elif high and long <= box.width():
        yield words, box.adjusted(0, box.height() - line, 0, 0)
    elif long + wide <= box.width():
        yield words, box.adjusted(0, 0, -wide, 0)
    if marks:
        corner = box.adjusted(box.width() - wide, 0, -inset, 0)
        yield marks, corner.adjusted(0, 0, 0, line - box.height()) if high else corner
