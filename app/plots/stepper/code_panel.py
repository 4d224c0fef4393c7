"""The algorithm in pseudocode with the line that has just been executed."""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFontMetricsF, QPainter

from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.plots.stepper.ink import mix
from flashscope.app.plots.stepper.panel import Panel, PanelOf, ViewKind, put
from flashscope.app.stepper.numbers import plain
from flashscope.app.stepper.pseudocode import lines
from flashscope.app.stepper.step_view import StepView
from flashscope.app.words.inside.tracing import MEMORIES

SMALLEST = 0.77  # 10 px beside 13 px text
LEAST_PX = 130  # however few lines there are


class Coded(NamedTuple):
    """A line as it is drawn.

    Attributes:
        depth: How deep it is indented.
        text: What it says, as HTML.
        active: Whether it has just been executed.
    """

    depth: int
    text: str
    active: bool


class CodeOf(PanelOf[ViewKind]):
    """All lines of an algorithm, the active ones marked by a bar and full ink."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Algorithm")
        keep(self, self.setMinimumSize, 220, LEAST_PX)

    def show_view(self, view: ViewKind) -> None:
        """Show another step, with room for every line: a launch in parts has more of them."""
        line = QFontMetricsF(self.sized(SMALLEST)).height()
        least = max(px(LEAST_PX), round(len(self.coded(view)) * line))
        if least != self.minimumHeight():
            self.setMinimumHeight(least)
        super().show_view(view)

    def coded(self, view: ViewKind) -> Sequence[Coded]:
        """The lines at a step."""
        raise NotImplementedError

    def words(self, view: ViewKind) -> str:
        """The active lines."""
        return "; ".join(plain(line.text) for line in self.coded(view) if line.active)

    def draw(self, painter: QPainter, view: ViewKind) -> None:
        """Paint the lines."""
        code = self.coded(view)
        height = min(self.height() / len(code), self.unit() * 1.65)
        share = min(0.96, max(SMALLEST, 0.72 * height / self.unit()))
        painter.setFont(self.sized(round(share, 2)))
        for k, line in enumerate(code):
            self._draw_line(painter, QRectF(0, k * height, self.width(), height), line)

    def _draw_line(self, painter: QPainter, rect: QRectF, line: Coded) -> None:
        if line.active:
            painter.fillRect(rect, mix(self.theme.accent, self.theme.panel, 0.88))
            painter.fillRect(QRectF(rect.left(), rect.top(), 3, rect.height()), QColor(self.theme.accent))
        indent = 9 + line.depth * self.unit() * 1.1
        put(
            painter,
            rect.adjusted(indent, 0, 0, 0),
            line.text,
            self.theme.text if line.active else self.theme.dim,
        )


class CodePanel(CodeOf[StepView], Panel):
    """All lines of the loop order."""

    def coded(self, view: StepView) -> list[Coded]:
        """Those of the trace on show."""
        recording = view.recording
        code = lines(
            recording.order,
            local_max=view.local_max,
            reverse=recording.request.reverse,
            memory=MEMORIES[recording.request.backend][0],
            lazy=recording.headroom > 0,
            fault=recording.fault,
            splits=recording.splits,
            in_8_bits=recording.in_8_bits,
        )
        return [Coded(line.depth, line.text, line.active(view.step)) for line in code]
