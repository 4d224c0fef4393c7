"""The card of one pair: both sets of samples, both figures, the verdict and what stands behind it."""

from collections.abc import Sequence

from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from flashscope.app.figures.statuses import STATUS_MARKS
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.pages.compare.findings import Findings
from flashscope.app.plots.compare.strip_plot import StripPlot
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.widgets.scrolling import Scrolling
from flashscope.app.words.kinds import words_of
from flashscope.app.words.results.verdicts import Tone, interval_text, pair_ratio_text, spoken, verdict_reason
from flashscope.app.words.units import thousands
from flashscope.profiles.results.compare import Pair
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.wire.measurement import Figure

HINT = "Click a point, a cell or a row to see its samples."
LEAST = (240, 132)
ROLES: dict[Tone, str] = {"good": "ok", "bad": "error", "doubt": "warn", "quiet": "dim", "plain": "title"}


class PairDetail(Card):
    """Shows one pair, or how to choose one."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(HINT)
        self.verdict, self.reason = PlainLabel(wordWrap=True), PlainLabel(wordWrap=True)
        self.verdict.setProperty("role", "title")
        self.reason.setProperty("role", "dim")
        self.sides = [(ElidedLabel(), PlainLabel()) for _ in range(2)]
        self._theme = theme
        self._strips: StripPlot | None = None
        self.caption = ElidedLabel()
        self.caption.setMinimumWidth(1)
        self.caption.setProperty("role", "unit")
        words = QVBoxLayout()
        words.setContentsMargins(0, 0, 8, 0)
        words.setSpacing(4)
        words.addWidget(self.verdict)
        words.addLayout(self._grid())
        words.addWidget(self.caption)
        words.addWidget(self.reason)
        content = QWidget()
        content.setLayout(words)
        self._words = words
        self.content = Scrolling(content)
        self.body.addWidget(self.content, 1)
        self.body.addStretch(0)
        self.setContentsMargins(0, -2, 0, -4)
        keep(self, self.setMinimumSize, *LEAST)
        self.content.hide()

    @property
    def strips(self) -> StripPlot:
        """The samples; the plot is made when there are some to be shown."""
        if self._strips is None:
            self._strips = StripPlot(self._theme)
            self._words.insertWidget(self._words.indexOf(self.caption), self._strips, 1)
        return self._strips

    def _grid(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setVerticalSpacing(1)
        grid.setColumnStretch(0, 1)
        for row, (name, figure) in enumerate(self.sides):
            name.setProperty("role", "dim")
            name.setMinimumWidth(1)
            grid.addWidget(name, row, 0)
            grid.addWidget(figure, row, 1)
        return grid

    def show_nothing(self) -> None:
        """Say how to choose a pair."""
        self.set_title(HINT)
        self.set_unit("")
        self.content.hide()

    def show_pair(self, findings: Findings, place: int) -> None:
        """Show the pair at this place of a comparison."""
        session, pair = findings.pairs[place]
        quantity = findings.comparison.quantity
        self.set_title(f"{pair.kernel} · N = {thousands(pair.base.seqlen)}")
        self.set_unit(findings.curve_at(place).label)
        names = findings.members[0].name, findings.members[session].name
        points = findings.points(place)
        figures = pair.base_figure, pair.other_figure
        for (label, value), name, rows, figure, whose in zip(
            self.sides, names, points, figures, ("baseline", "here"), strict=True
        ):
            label.setText(f"{whose} · {name}")
            value.setText(_figure(quantity, rows, figure))
        self.reason.setText(verdict_reason(pair))
        self._show_strips(*points, session)
        self._show_verdict(pair)
        self.content.show()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        if self._strips is not None:
            self._strips.apply_theme(theme)

    def _show_verdict(self, pair: Pair) -> None:
        told = spoken(pair)
        ratio = f"  ratio {pair_ratio_text(pair.ratio)}" if pair.ratio is not None else ""
        ends = f" ({interval_text(pair)})" if interval_text(pair) else ""
        self.verdict.setText(f"{told.glyph} {told.word}{ratio}{ends}")
        self.verdict.setProperty("role", ROLES[told.tone])
        self.verdict.style().polish(self.verdict)

    def _show_strips(self, base: Sequence[PointRow], other: Sequence[PointRow], session: int) -> None:
        self.strips.show_rows(base, other, session)
        scale = ", log scale" if self.strips.logarithmic else ""
        apart = " · by run" if len(base) + len(other) > len(self.sides) else ""
        self.caption.setText(f"raw samples, ms{scale}{apart} · the baseline's above")
        told = [*_told("Above", base), *_told("Below", other)]
        set_tip(self.strips, "\n".join(["Raw samples in ms; the line is the median", *told]))


def _told(whose: str, rows: Sequence[PointRow]) -> list[str]:
    """How many samples each run of a side has."""
    if len(rows) == 1:
        return [f"{whose}: {_counted(rows[0])}"]
    return [f"{whose}, run {number}: {_counted(row)}" for number, row in enumerate(rows, 1)]


def _figure(quantity: Quantity, rows: Sequence[PointRow], figure: Figure | None) -> str:
    """A side's figure with how many samples or runs stand behind it, or what became of the point."""
    row = rows[0]
    if not row.done:
        return STATUS_MARKS[row.status].word
    value = None if figure is None else figure.value
    written = "none" if value is None else words_of(quantity).text(value)
    if quantity.rounds is None or not row.times:
        return written
    return f"{written} · {_counted(row) if len(rows) == 1 else f'{len(rows)} runs'}"


def _counted(row: PointRow) -> str:
    """How many samples count, and how many do not, and why."""
    samples = row.measurement.samples if row.measurement else ()
    rejected = [sample.rejected for sample in samples if sample.rejected is not None]
    reasons = ", ".join(dict.fromkeys(rejected))
    left_out = f", {len(rejected)} rejected (×): {reasons}" if rejected else ""
    return f"{len(samples) - len(rejected)} samples{left_out}"
