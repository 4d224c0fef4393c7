"""One quantity of the row watched over its tiles, right and with a fault, on one axis."""

from dataclasses import replace

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import ZOOM
from flashscope.app.plots.stepper.row_chart import (
    ChartAxes,
    MaximumChart,
    OutputChart,
    RowChart,
    SumChart,
    TileSeries,
)
from flashscope.app.stepper.numbers import number
from flashscope.app.stepper.step_view import StepView

DASHES = [3.0, 2.0]  # of the faulty line, in multiples of its width
ARM = 4.0  # pixels from the middle of a cross to its corners


class PairChart(RowChart):
    """The right series as the Stepper draws it, and the faulty one dashed; a cross is no number.

    Attributes:
        broken: The step of the faulty trace, None before it is there.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.broken: StepView | None = None

    def show_pair(self, view: StepView, broken: StepView | None) -> None:
        """Show a step of both traces."""
        self.broken = broken
        self.show_view(view)

    def words(self, view: StepView) -> str:
        """The values of both so far."""
        if self.broken is None:
            return super().words(view)
        series = self.series(self.broken)
        known = ", ".join(number(float(value)) for value in series.values[: series.known])
        return f"{super().words(view)}; with the fault: {known or 'none yet'}"

    def draw(self, painter: QPainter, view: StepView) -> None:
        """Paint both on the axis that has room for them."""
        right = self.series(view)
        broken = self.series(self.broken) if self.broken is not None else None
        if broken is not None:
            right = replace(right, low=min(right.low, broken.low), high=max(right.high, broken.high))
        axes = self.draw_axes(painter, view, right)
        self.draw_series(painter, axes, right)
        if broken is not None:
            self._draw_broken(painter, axes, broken)

    def readout(self, view: StepView) -> str:
        """The newest value of both."""
        right = super().readout(view)
        series = self.series(self.broken) if self.broken is not None else None
        if series is None or not series.known:
            return right
        told = number(float(series.values[series.known - 1]))
        return f'{right} <span style="color:{self.theme.error}; font-weight:600">┅ {told}</span>'

    def _draw_broken(self, painter: QPainter, axes: ChartAxes, series: TileSeries) -> None:
        pen = QPen(QColor(self.theme.error), 2.0 * ZOOM.factor)
        line = QPolygonF()
        for k, value in enumerate(series.values[: series.known]):
            slot = axes.slot(k)
            if np.isfinite(value):
                for x in (slot.left(), slot.right()):
                    line.append(QPointF(x, axes.y(value)))
            else:
                painter.setPen(pen)
                draw_cross(painter, QPointF(slot.center().x(), axes.frame.top() + 2 * ARM))
        pen.setDashPattern(DASHES)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen)
        painter.drawPolyline(line)


def draw_cross(painter: QPainter, at: QPointF) -> None:
    """A cross in the pen in use."""
    arm = ARM * ZOOM.factor
    for lean in (-1, 1):
        painter.drawLine(at + QPointF(-arm, -arm * lean), at + QPointF(arm, arm * lean))


class PairMaximum(PairChart, MaximumChart):
    """The running maximum of both."""


class PairSum(PairChart, SumChart):
    """The running sum of both."""


class PairOutput(PairChart, OutputChart):
    """The output so far of both, and the exact one."""


PAIR_CHARTS: tuple[type[PairChart], ...] = (PairMaximum, PairSum, PairOutput)
