"""One quantity of the row watched over its tiles: m, l, alpha or O."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import ZOOM, keep
from flashscope.app.plots.stepper.ink import Role, mix, role_colour, role_ink
from flashscope.app.plots.stepper.panel import SMALL, Panel, put, width_of
from flashscope.app.stepper.numbers import number
from flashscope.app.stepper.step_view import StepView

WIDEST_BAR = 40.0  # pixels


@dataclass(frozen=True)
class TileSeries:
    """The values that a chart draws, one for each tile of the row.

    Attributes:
        values: The values, in the order the tiles ran.
        known: How many of them the algorithm has computed.
        low: Value at the bottom of the axis.
        high: Value at its top.
        final: A dotted line at the value to reach, None for none.
        marks: Indices of tiles to mark with a triangle.
    """

    values: Sequence[float]
    known: int
    low: float
    high: float
    final: float | None = None
    marks: tuple[int, ...] = ()


@dataclass(frozen=True)
class ChartAxes:
    """Where the chart lies in the panel, and the range of its values."""

    frame: QRectF
    low: float
    high: float
    count: int

    def y(self, value: float) -> float:
        """The height of a value; beyond the axis it stays at its end."""
        share = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return self.frame.bottom() - min(1.0, max(0.0, share)) * self.frame.height()

    def slot(self, k: int) -> QRectF:
        """The vertical strip of the k-th tile."""
        width = self.frame.width() / max(1, self.count)
        return QRectF(self.frame.left() + k * width, self.frame.top(), width, self.frame.height())


class RowChart(Panel):
    """A chart over the key blocks, with the current one shaded; subclasses say which values it draws."""

    role: Role
    quantity: str
    columns = ("key_block", "value")

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, f"{self.quantity} of the row watched, over its key blocks")
        keep(self, self.setMinimumSize, 80, 70)

    def series(self, view: StepView) -> TileSeries:
        """What to draw."""
        del view
        return TileSeries((), 0, 0.0, 1.0)

    def draw_series(self, painter: QPainter, axes: ChartAxes, series: TileSeries) -> None:
        """Steps between the tiles, a triangle where the series is marked."""
        points = QPolygonF()
        for k, value in enumerate(series.values[: series.known]):
            if np.isfinite(value):
                slot = axes.slot(k)
                points.append(QPointF(slot.left(), axes.y(value)))
                points.append(QPointF(slot.right(), axes.y(value)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(role_colour(self.theme, self.role)), 2.4 * ZOOM.factor))
        painter.drawPolyline(points)
        for k in series.marks:
            if k < series.known:
                self._triangle(painter, QPointF(axes.slot(k).left(), axes.y(series.values[k]) - 3))

    def words(self, view: StepView) -> str:
        """The values so far."""
        series = self.series(view)
        known = ", ".join(number(float(v)) for v in series.values[: series.known])
        text = f"{self.quantity}: {known or 'none yet'}"
        return text + (f"; to reach {number(series.final)}" if series.final is not None else "")

    def numbers(self, view: StepView) -> list[tuple[int, float]]:
        """The values that the algorithm has computed, each by its key block."""
        series = self.series(view)
        blocks = view.history.blocks[: series.known].tolist()
        return [(block, float(value)) for block, value in zip(blocks, series.values, strict=False)]

    def draw(self, painter: QPainter, view: StepView) -> None:
        """Paint the frame, the shaded key block, the series and the labels."""
        series = self.series(view)
        self.draw_series(painter, self.draw_axes(painter, view, series), series)

    def draw_axes(self, painter: QPainter, view: StepView, series: TileSeries) -> ChartAxes:
        """Paint all but the series, and give its place."""
        painter.setFont(self.sized(SMALL))
        axes = self._axes(series)
        self._draw_frame(painter, view, axes, series)
        return axes

    def _axes(self, series: TileSeries) -> ChartAxes:
        labels = (_end(series.low, series), _end(series.high, series))
        left = max(width_of(label, self.sized(SMALL)) for label in labels) + 6
        unit = self.unit()
        frame = QRectF(left, unit / 2, self.width() - left - 4, self.height() - unit * 1.75)
        return ChartAxes(frame, series.low, series.high, len(series.values))

    def _draw_frame(self, painter: QPainter, view: StepView, axes: ChartAxes, series: TileSeries) -> None:
        frame, unit = axes.frame, self.unit()
        current = view.history.passed(view.step.tile) - 1
        if view.local_row is not None and current >= 0:
            painter.fillRect(axes.slot(current), mix(self.theme.accent, self.theme.panel, 0.82))
        painter.setPen(QPen(QColor(self.theme.line), 1))
        for y, value in ((frame.top(), series.high), (frame.bottom(), series.low)):
            painter.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))
            rect = QRectF(0, y - unit / 2, frame.left() - 5, unit)
            put(painter, rect, _end(value, series), self.theme.dim, Qt.AlignmentFlag.AlignRight)
            painter.setPen(QPen(QColor(self.theme.line), 1))
        self._draw_blocks(painter, view, axes)
        if series.final is not None and np.isfinite(series.final):
            painter.setPen(QPen(QColor(self.theme.dim), 1.4, Qt.PenStyle.DotLine))
            y = axes.y(series.final)
            painter.drawLine(QPointF(frame.left(), y), QPointF(frame.right(), y))

    def _draw_blocks(self, painter: QPainter, view: StepView, axes: ChartAxes) -> None:
        unit, count = self.unit(), max(1, axes.count)
        every = max(1, int(np.ceil(unit * 1.3 * count / max(1.0, axes.frame.width()))))
        for k in range(0, axes.count, every):
            slot = axes.slot(k)
            rect = QRectF(slot.center().x() - unit, axes.frame.bottom() + unit * 0.15, 2 * unit, unit)
            label = str(int(view.history.blocks[k]))
            put(painter, rect, label, self.theme.dim, Qt.AlignmentFlag.AlignHCenter)

    def _triangle(self, painter: QPainter, tip: QPointF) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(role_colour(self.theme, self.role)))
        painter.drawPolygon(QPolygonF([tip + QPointF(0, -4), tip + QPointF(-4, 3), tip + QPointF(4, 3)]))

    def readout(self, view: StepView) -> str:
        """The newest value in the quantity's colour, as HTML for the card's unit."""
        series = self.series(view)
        if not series.known:
            return "–"
        value = number(float(series.values[series.known - 1]))
        return f'<span style="color:{role_ink(self.theme, self.role)}; font-weight:600">{value}</span>'


def _end(value: float, series: TileSeries) -> str:
    """The label of an end of the y axis, with enough decimals to differ from the other end."""
    digits = next((d for d in (1, 2, 3) if series.high - series.low >= 4 * 0.1**d), 4)
    return number(value, digits)


def span(values: Sequence[float], *more: float, zero: bool = False) -> tuple[float, float]:
    """A range around all finite values with a little room, from 0 when asked."""
    finite = [float(v) for v in (*values, *more, *((0.0,) if zero else ())) if np.isfinite(v)]
    if not finite:
        return 0.0, 1.0
    low, high = min(finite), max(finite)
    room = 0.12 * (high - low) or 0.5 * abs(high) or 1.0
    return (0.0 if zero and low >= 0 else low - room), high + room


class MaximumChart(RowChart):
    """The running maximum: steps that only rise, a triangle at each rise."""

    role = "m"
    quantity = "Running maximum m"

    def series(self, view: StepView) -> TileSeries:
        """The maximum after each tile; the dotted line is the row's maximum."""
        m = view.history.m.tolist()
        marks = tuple(np.flatnonzero(view.history.rises).tolist())
        final = (max(m) if view.recording.splits > 1 else m[-1]) if m else None
        return TileSeries(m, view.known, *span(m), final=final, marks=marks)


class SumChart(RowChart):
    """The running sum."""

    role = "l"
    quantity = "Running sum ℓ"

    def series(self, view: StepView) -> TileSeries:
        """The sum after each tile; the dotted line is the exact denominator under the final maximum.

        Of keys in parts each has a sum of its own, and there is no such line.
        """
        l = view.history.l.tolist()
        final = l[-1] if l and view.recording.splits == 1 else None
        return TileSeries(l, view.summed, *span(l, zero=True), final=final)


class FactorChart(RowChart):
    """The factor on the old state: 1 means that nothing is rescaled."""

    role = "a"
    quantity = "Rescale factor α"

    def series(self, view: StepView) -> TileSeries:
        """Alpha at each tile, from 0 to 1; NaN where there is no old state to rescale."""
        history = view.history
        seen = np.isfinite(np.concatenate([[-np.inf], history.m]))[:-1] & ~history.starts
        return TileSeries(np.where(seen, history.alpha, np.nan).tolist(), view.known, 0.0, 1.0)

    def words(self, view: StepView) -> str:
        """Alpha at each tile; a dash where there is nothing to rescale."""
        return super().words(view).replace("NaN", "–")

    def readout(self, view: StepView) -> str:
        """The newest alpha; a dash where there is nothing to rescale."""
        return super().readout(view).replace("NaN", "–")

    def draw_series(self, painter: QPainter, axes: ChartAxes, series: TileSeries) -> None:
        """A bar for each tile; a dash where there is no old state."""
        colour = QColor(role_colour(self.theme, self.role))
        for k, value in enumerate(series.values[: series.known]):
            slot = axes.slot(k)
            room = max(slot.width() * 0.15, (slot.width() - WIDEST_BAR) / 2)
            bar = slot.adjusted(room, 0, -room, 0)
            if np.isfinite(value):
                bar.setTop(min(axes.y(value), axes.frame.bottom() - 1))
                painter.fillRect(bar, colour)
            else:
                painter.setPen(QPen(QColor(self.theme.dim), 1.5))
                centre = QPointF(bar.center().x(), axes.frame.bottom() - 5)
                painter.drawLine(centre - QPointF(4, 0), centre + QPointF(4, 0))


class OutputChart(RowChart):
    """The output so far, normalised, on its way to the exact value."""

    role = "o"
    quantity = "Output O so far"

    def series(self, view: StepView) -> TileSeries:
        """Component 0 of O / l after each tile; the dotted line is the oracle's value."""
        o, exact = view.history.o[:, 0].tolist(), float(view.history.exact[0])
        return TileSeries(o, view.finished, *span(o, exact), final=exact)


ROW_CHARTS: tuple[type[RowChart], ...] = (MaximumChart, SumChart, FactorChart, OutputChart)
