"""The state of the row watched at one step, right and with a fault, side by side."""

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.plots.stepper.ink import Role, role_ink
from flashscope.app.plots.stepper.panel import Panel, put
from flashscope.app.stepper.numbers import number, plain
from flashscope.app.stepper.step_view import StepView

NAMES: tuple[tuple[Role, str], ...] = (("m", "m"), ("a", "α"), ("l", "ℓ"), ("o", "O"))
HEADS = ("right", "broken")


def state_of(view: StepView) -> tuple[str, ...]:
    """m, alpha, l and O / l (component 0) of the row watched, as far as they are known; else a dash."""
    history = view.history
    values = (
        (history.m, view.known),
        (history.alpha, view.known),
        (history.l, view.summed),
        (history.o[:, 0], view.finished),
    )
    return tuple(number(float(column[known - 1])) if known else "–" for column, known in values)


class PairTable(Panel):
    """Four rows and two columns; what differs is marked.

    Attributes:
        broken: The step of the faulty trace, None before it is there.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "State of the row watched, right and broken")
        self.broken: StepView | None = None
        keep(self, self.setMinimumSize, 220, 120)

    def show_pair(self, view: StepView, broken: StepView | None) -> None:
        """Show a step of both traces."""
        self.broken = broken
        self.show_view(view)

    def words(self, view: StepView) -> str:
        """Every value of both."""
        rows = zip(NAMES, *self._columns(view), strict=True)
        return "; ".join(
            f"{name}: {plain(right)} right, {plain(wrong)} broken" for (_, name), right, wrong in rows
        )

    def draw(self, painter: QPainter, view: StepView) -> None:
        """Paint the heads and the rows."""
        height = min(self.height() / 5, self.unit() * 2.2)
        left, width = self.unit() * 3, (self.width() - self.unit() * 3) / 2
        painter.setFont(self.sized(11 / 13))
        for k, head in enumerate(HEADS):
            put(painter, QRectF(left + k * width, 0, width, height), head, self.theme.dim)
        painter.setPen(QPen(QColor(self.theme.line), 1))
        painter.drawLine(0, round(height), self.width(), round(height))
        painter.setFont(self.sized(1.15))
        for k, ((role, name), right, wrong) in enumerate(zip(NAMES, *self._columns(view), strict=True)):
            row = QRectF(0, (k + 1) * height, left, height)
            put(painter, row, self._named(name, view), role_ink(self.theme, role))
            put(painter, QRectF(left, row.top(), width, height), right, self.theme.text)
            other = right != wrong
            colour = self.theme.error if other else self.theme.text
            text = f"{wrong} ≠" if other else wrong
            put(
                painter,
                QRectF(left + width, row.top(), width, height),
                text,
                colour,
                Qt.AlignmentFlag.AlignLeft,
            )

    def _columns(self, view: StepView) -> tuple[tuple[str, ...], tuple[str, ...]]:
        right = state_of(view)
        return right, state_of(self.broken) if self.broken is not None else ("…",) * len(right)

    @staticmethod
    def _named(name: str, view: StepView) -> str:
        return "O<sub>0</sub>" if name == "O" and view.recording.value_dim > 1 else name
