"""How far the answer so far is from the truth, tile by tile, beside what passes."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPen

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import ZOOM, keep
from flashscope.app.plots.stepper.ink import mix
from flashscope.app.plots.stepper.pair_charts import draw_cross
from flashscope.app.plots.stepper.panel import SMALL, Panel, put
from flashscope.app.stepper.comparison import RowComparison
from flashscope.app.stepper.numbers import number, plain
from flashscope.app.stepper.step_view import StepView

LEAST_DECADES = 4
RADIUS = 3.0  # pixels of a dot


class DistancePanel(Panel):
    """|O - exact| on a logarithmic axis: dots right, crosses broken, a dashed line at what passes.

    Attributes:
        compared: The row's answers as they are judged, None before the faulty trace is there.

    Signals:
        tile_chosen: A tile was clicked (its index in running order).
    """

    tile_chosen = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Distance of the answer so far from the exact one")
        self.compared: RowComparison | None = None
        keep(self, self.setMinimumSize, 240, 120)

    def show_row(self, view: StepView, compared: RowComparison | None) -> None:
        """Show a step, with the row's answers as they are judged."""
        self.compared = compared
        self.show_view(view)

    def words(self, view: StepView) -> str:
        """The newest distances, and the first wrong tile."""
        row, done = self.compared, view.finished
        if row is None or not len(row.tiles):
            return "nothing to compare"
        told = []
        if done:
            right, broken = row.right[done - 1], row.broken[done - 1]
            told.append(
                f"distance from the exact answer: right {plain(number(right.error))}, "
                f"broken {plain(number(broken.error))}, {plain(number(right.bound))} passes"
            )
        wrong = row.first_wrong
        told.append("no wrong tile" if wrong is None else f"first wrong tile: {self._place(wrong.t) + 1}")
        return "; ".join(told)

    def draw(self, painter: QPainter, view: StepView) -> None:
        """Paint the axis, the mark of the first wrong tile, what passes, and both answers."""
        row = self.compared
        painter.setFont(self.sized(SMALL))
        if row is None or not len(row.tiles):
            said = "Recording the broken trace …" if row is None else "This row meets no tile."
            put(painter, QRectF(self.rect()), said, self.theme.dim, Qt.AlignmentFlag.AlignHCenter)
            return
        frame, (low, high) = self._frame(), _decades(row)
        self._draw_axis(painter, frame, low, high)
        self._draw_blocks(painter, frame, view)
        self._draw_first_wrong(painter, frame)
        y = _heights(frame, low, high)
        self._draw_bounds(painter, [y(one.bound) for one in row.right])
        size = RADIUS * ZOOM.factor
        for k in range(view.finished):
            x = self._slot(k).center().x()
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self.theme.accent))
            painter.drawEllipse(QPointF(x, y(row.right[k].error)), size, size)
            painter.setPen(QPen(QColor(self.theme.error), 2 * ZOOM.factor))
            error, lower = row.broken[k].error, 0.0
            if not math.isfinite(error):
                lower = self.unit()
            draw_cross(painter, QPointF(x, y(error) + lower))
            if lower:
                over = QRectF(x - 40, frame.top() + lower * 1.6, 80, lower)
                put(painter, over, number(error), self.theme.error, Qt.AlignmentFlag.AlignHCenter)

    @guarded()
    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Go to the end of the tile that is clicked."""
        super().mouseReleaseEvent(event)
        if self.compared is None or event.button() != Qt.MouseButton.LeftButton:
            return
        for k, t in enumerate(self.compared.tiles.tolist()):
            if self._slot(k).contains(event.position()):
                self.tile_chosen.emit(t)

    def _place(self, t: int) -> int:
        """The place of a tile among those of the row."""
        return 0 if self.compared is None else int(np.searchsorted(self.compared.tiles, t))

    def _frame(self) -> QRectF:
        unit = self.unit()
        return QRectF(unit * 3, unit * 1.3, self.width() - unit * 3 - 6, self.height() - unit * 2.7)

    def _slot(self, k: int) -> QRectF:
        frame, count = self._frame(), len(self.compared.tiles) if self.compared is not None else 1
        width = frame.width() / max(1, count)
        return QRectF(frame.left() + k * width, frame.top(), width, frame.height())

    def _draw_axis(self, painter: QPainter, frame: QRectF, low: int, high: int) -> None:
        unit = self.unit()
        every = max(1, math.ceil((high - low) * unit * 1.2 / max(1.0, frame.height())))
        for decade in range(low, high + 1, every):
            y = frame.bottom() - (decade - low) / (high - low) * frame.height()
            painter.setPen(QPen(QColor(self.theme.grid), 1))
            painter.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))
            label = QRectF(0, y - unit / 2, frame.left() - 5, unit)
            text = f"10<sup>{decade}</sup>".replace("-", "−")
            put(painter, label, text, self.theme.dim, Qt.AlignmentFlag.AlignRight)

    def _draw_blocks(self, painter: QPainter, frame: QRectF, view: StepView) -> None:
        unit, blocks = self.unit(), view.history.blocks
        current = view.history.passed(view.step.tile) - 1
        if view.local_row is not None and current >= 0:
            painter.fillRect(self._slot(current), mix(self.theme.accent, self.theme.panel, 0.82))
        every = max(1, math.ceil(unit * 1.3 * len(blocks) / max(1.0, frame.width())))
        for k in range(0, len(blocks), every):
            x = self._slot(k).center().x()
            rect = QRectF(x - unit, frame.bottom() + unit * 0.15, 2 * unit, unit)
            put(painter, rect, str(int(blocks[k])), self.theme.dim, Qt.AlignmentFlag.AlignHCenter)

    def _draw_first_wrong(self, painter: QPainter, frame: QRectF) -> None:
        wrong = self.compared.first_wrong if self.compared is not None else None
        if wrong is None:
            return
        slot = self._slot(self._place(wrong.t))
        painter.fillRect(slot, mix(self.theme.error, self.theme.panel, 0.85))
        painter.setPen(QPen(QColor(self.theme.error), 1.5 * ZOOM.factor))
        painter.drawLine(slot.topLeft(), slot.bottomLeft())
        width = self.unit() * 9
        x = min(max(slot.center().x() - width / 2, frame.left()), frame.right() - width)
        over = QRectF(x, 0, width, self.unit() * 1.2)
        put(painter, over, "▼ first wrong tile", self.theme.error, Qt.AlignmentFlag.AlignHCenter)

    def _draw_bounds(self, painter: QPainter, heights: Sequence[float]) -> None:
        painter.setPen(QPen(QColor(self.theme.dim), 1.6 * ZOOM.factor, Qt.PenStyle.DashLine))
        for k, y in enumerate(heights):
            slot = self._slot(k)
            painter.drawLine(QPointF(slot.left(), y), QPointF(slot.right(), y))


def _decades(row: RowComparison) -> tuple[int, int]:
    """The powers of ten at both ends of an axis with room for all that is above 0."""
    judged = (*row.right, *row.broken)
    values = [value for one in judged for value in (one.error, one.bound) if 0 < value < math.inf]
    if not values:
        return -8, 0
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    low = max(low, high - 16)  # what is exact but for float64 stands at the bottom
    return low, max(high, low + LEAST_DECADES)


def _heights(frame: QRectF, low: int, high: int) -> Callable[[float], float]:
    """Where a value stands; what is 0 at the bottom, what is no number at the top."""

    def height(value: float) -> float:
        if not math.isfinite(value):
            share = 1.0
        elif value <= 0:
            share = 0.0
        else:
            share = min(1.0, max(0.0, (math.log10(value) - low) / (high - low)))
        return frame.bottom() - share * frame.height()

    return height
