"""The update rule with live numbers, in the colours the charts use."""

from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QFont, QPainter

from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.plots.stepper.ink import Role, mix, role_ink
from flashscope.app.plots.stepper.panel import SMALL, Panel, PanelOf, ViewKind, put, width_of
from flashscope.app.stepper.formulas import Formula, formulas
from flashscope.app.stepper.numbers import number, plain
from flashscope.app.stepper.step_view import StepView
from flashscope.app.words.inside.tracing import row_words

ROLES: tuple[Role, ...] = ("m", "a", "l", "o")
WIDEST = "= (0.000 · 00.000 · 00.000 + 00.000) / 00.000 = 00.000"  # letters are as large at every step
LINE = 2.9  # units that a formula takes
INDENT = 9
LARGEST, STEP = 2.0, 0.05  # times as large as elsewhere


def coloured(html: str, theme: Theme) -> str:
    """Value marks replaced by spans in their colours."""
    for role in ROLES:
        style = f'<span style="color:{role_ink(theme, role)}; font-weight:600">'
        html = html.replace(f"<{role}>", style).replace(f"</{role}>", "</span>")
    return html


def unmarked(html: str) -> str:
    """The formula without marks and without HTML."""
    for role in ROLES:
        html = html.replace(f"<{role}>", "").replace(f"</{role}>", "")
    return plain(html)


class ToldFormula(Protocol):
    """A formula as it is drawn.

    Attributes:
        symbols: In symbols, as HTML with the marks of `coloured`.
        numbers: The same with numbers; empty before it is evaluated.
        active: Whether this very step evaluates it.
    """

    @property
    def symbols(self) -> str: ...  # noqa: D102 - as above
    @property
    def numbers(self) -> str: ...  # noqa: D102 - as above
    @property
    def active(self) -> bool: ...  # noqa: D102 - as above


class FormulasOf(PanelOf[ViewKind]):
    """Each formula in symbols, and under it with a step's numbers."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Formulas with live numbers")
        keep(self, self.setMinimumSize, 220, 180)

    def told(self, view: ViewKind) -> Sequence[ToldFormula]:
        """The formulas at a step; none: `idle` is shown."""
        raise NotImplementedError

    def idle(self, view: ViewKind) -> str:
        """What is said where there are none, its lines parted by `; `."""
        raise NotImplementedError

    def words(self, view: ViewKind) -> str:
        """All formulas that have numbers, or the state before the first."""
        shown = self.told(view)
        if not shown:
            return self.idle(view).replace(":; ", ": ")
        return "; ".join(f"{unmarked(f.symbols)} = {unmarked(f.numbers)}" for f in shown if f.numbers)

    def draw(self, painter: QPainter, view: ViewKind) -> None:
        """Paint two lines a formula; the active one on a raised strip."""
        shown = self.told(view)
        if not shown:
            painter.setFont(self.font())
            line = self.unit() * 1.4
            for k, words in enumerate(self.idle(view).split("; ")):
                put(painter, QRectF(0, k * line, self.width(), line), words, self.theme.dim)
            return
        scale = self._scale(len(shown))
        height = min(self.height() / len(shown), scale * self.unit() * LINE)
        for k, formula in enumerate(shown):
            self._draw_formula(painter, QRectF(0, k * height, self.width(), height), formula, scale)

    def _scale(self, count: int) -> float:
        """How much larger than elsewhere the letters of so many formulas have room to be."""
        tall = self.height() / (count * self.unit() * LINE)
        wide = (self.width() - INDENT) / width_of(WIDEST, self.sized(SMALL * 1.04))
        return max(1.0, int(min(tall, wide, LARGEST) / STEP) * STEP)

    def _draw_formula(self, painter: QPainter, rect: QRectF, formula: ToldFormula, scale: float) -> None:
        if formula.active:
            strip = rect.adjusted(0, 1, 0, -1)
            painter.fillRect(strip, mix(self.theme.accent, self.theme.panel, 0.88))
            painter.fillRect(QRectF(strip.left(), strip.top(), 3, strip.height()), QColor(self.theme.accent))
        inner = rect.adjusted(INDENT, 0, 0, 0)
        half = rect.height() / 2
        painter.setFont(self.sized(scale))
        symbols = coloured(formula.symbols, self.theme)
        put(painter, QRectF(inner.left(), inner.top() + 1, inner.width(), half), symbols, self.theme.text)
        numbers = "= " + (coloured(formula.numbers, self.theme) if formula.numbers else "…")
        painter.setFont(self._fitting(numbers, scale * SMALL * 1.04, inner.width()))
        below = QRectF(inner.left(), inner.top() + half - 1, inner.width(), half)
        put(painter, below, numbers, self.theme.dim)

    def _fitting(self, numbers: str, scale: float, room: float) -> QFont:
        """Letters that a line with powers of ten has room for: it may be wider than `WIDEST`."""
        needed = width_of(numbers, self.sized(scale))
        return self.sized(scale * min(1.0, int(room / needed / STEP) * STEP))


class FormulaPanel(FormulasOf[StepView], Panel):
    """The update rule of the row watched."""

    def told(self, view: StepView) -> tuple[Formula, ...]:
        """Its formulas; none while its state does not change."""
        return formulas(view)

    def idle(self, view: StepView) -> str:
        """The state of the row watched, which this tile leaves alone."""
        if not view.started:
            return "Before the first tile:; m = −∞,  ℓ = 0,  O = 0"
        history, known = view.history, view.finished
        name = row_words(view.recording.request, history.row)
        text = f"{name[:1].upper()}{name[1:]} is in another query block:; its state does not change here."
        if known:
            k = known - 1
            text += (
                f"; m = {number(history.m[k])},  ℓ = {number(history.l[k])},  O = {number(history.o[k, 0])}"
            )
        return text
