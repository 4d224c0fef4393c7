"""What is known of the row watched when a question is asked: nothing that would tell its answer."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from flashscope.app.look.theme import Theme
from flashscope.app.plots.stepper.ink import Role
from flashscope.app.plots.stepper.panel import put
from flashscope.app.plots.stepper.row_chart import ChartAxes, RowChart, TileSeries, span
from flashscope.app.stepper.numbers import number
from flashscope.app.stepper.quiz import QuestionKind
from flashscope.app.stepper.step_view import StepView

ASKED_OF: dict[QuestionKind, str] = {"rise": "max m", "alpha": "max m", "sum": "sum ℓ"}
"""What is drawn while a question of a kind is asked; of the others nothing is."""


class GuessChart(RowChart):
    """The maximum or the sum over the tiles so far, with a question mark at the one that is asked for."""

    role: Role = "m"
    quantity = "Known so far"

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._known, self._sums, self._asks = 0, False, False

    def show_known(self, view: StepView, kind: QuestionKind, known: int, *, asks: bool) -> None:
        """Show what is known in the first tiles of the row.

        Args:
            view: The step on show.
            kind: What is asked for.
            known: How many tiles are known.
            asks: Whether the value of the next tile is what is asked for.
        """
        self._known, self._asks = known, asks
        self._sums = kind == "sum"
        self.role = "l" if self._sums else "m"
        self.show_view(view)

    def series(self, view: StepView) -> TileSeries:
        """The values so far, on an axis that has room for them alone."""
        history = view.history
        values = (history.l if self._sums else history.m).tolist()
        marks = () if self._sums else tuple(k for k in range(self._known) if history.rises[k])
        return TileSeries(values, self._known, *span(values[: self._known]), marks=marks)

    def words(self, view: StepView) -> str:
        """The values so far."""
        known = ", ".join(number(value) for value in self.series(view).values[: self._known])
        return f"{'sum' if self._sums else 'maximum'} so far: {known or 'none'}"

    def draw_series(self, painter: QPainter, axes: ChartAxes, series: TileSeries) -> None:
        """The steps so far, and the question mark."""
        super().draw_series(painter, axes, series)
        if self._asks and self._known < axes.count:
            slot = axes.slot(self._known)
            painter.setPen(QPen(QColor(self.theme.dim), 1, Qt.PenStyle.DotLine))
            painter.drawLine(
                QPointF(slot.center().x(), slot.top()), QPointF(slot.center().x(), slot.bottom())
            )
            painter.setFont(self.sized(1.6, bold=True))
            unit = self.unit() * 2
            place = QRectF(slot.center().x() - unit, slot.center().y() - unit, 2 * unit, 2 * unit)
            put(painter, place, "?", self.theme.text, Qt.AlignmentFlag.AlignHCenter)
