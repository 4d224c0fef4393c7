"""The two cards of plots: the ratio, over N or as a heat map, and the curves themselves."""

from collections.abc import Iterator
from typing import Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget

from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.pages.compare.exports import exported
from flashscope.app.pages.compare.findings import Findings
from flashscope.app.plots.compare.heat_plot import HeatPlot
from flashscope.app.plots.compare.ratio_plot import RatioPlot
from flashscope.app.plots.compare.scale_bar import ScaleBar
from flashscope.app.plots.compare.strand_plot import StrandPlot
from flashscope.app.plots.export.button import ExportButton
from flashscope.app.plots.export.contents import Export
from flashscope.app.plots.plot_menu import PlotMenu
from flashscope.app.plots.show_all import show_all_button
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.plain import button_text, set_tip
from flashscope.app.widgets.term_label import TermLine
from flashscope.app.words.glossary import with_line
from flashscope.app.words.kinds import unit_short, unit_text, words_of
from flashscope.app.words.results.verdicts import pair_ratio_text, spoken
from flashscope.profiles.results.compare import kernel_over
from flashscope.profiles.results.compare.wording import change_text, change_word
from flashscope.profiles.results.model.curves import Curve
from flashscope.profiles.results.quantities.registry import RUNTIME

View = Literal["lines", "map"]
NO_RATIO = "No point of these has a partner: what is nearest stands below."
PROBLEM_CHARACTERS = 16
LEGEND = "hollow: no sure change · band: too small to count"


class RatioCard(Card):
    """The ratio to the baseline.

    Attributes:
        view: Whether it shows lines over N or the heat map.

    Signals:
        picked: A pair was clicked: its place (int).
        view_chosen: Show the other view.
    """

    picked = Signal(int)
    view_chosen = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__("Ratio to the baseline")
        self.view: View = "lines"
        self._theme = theme
        self._findings: Findings | None = None
        self.lines = RatioPlot(theme)
        self._map: HeatPlot | None = None
        self._kernels: tuple[str, ...] = ()
        self.bar = ScaleBar(theme)
        self.switch = text_button("Heat map", "Show the heat map", self.view_chosen.emit, "quiet")
        does(self.switch, "compare.view")
        self.export_button = ExportButton("the ratio", self.make_export, theme)
        self.plot_menu = PlotMenu(self, self.export_button.exporter, ("compare.all", "compare.view"))
        self._words = TermLine()
        self._words.setProperty("role", "unit")
        self._all = show_all_button("the heat map", self.show_all, "compare.all")
        self.header.addWidget(self._words)
        self.header.addWidget(self._all)
        self.header.addWidget(self.switch)
        self.header.addWidget(self.export_button)
        self._stack = QStackedWidget()
        self.lines.picked.connect(self.picked)
        self._stack.addWidget(self.lines)
        self.body.setSpacing(2)
        self.body.addWidget(self._stack, 1)
        self.body.addWidget(self.bar)
        self.setContentsMargins(0, -4, -6, -6)
        self.show_view("lines")

    @property
    def map(self) -> HeatPlot:
        """The heat map; it is made when it is first asked for."""
        if self._map is None:
            self._map = HeatPlot(self._theme)
            self._map.picked.connect(self.picked)
            self._map.parted.connect(lambda _part: self._offer_all())
            self._stack.addWidget(self._map)
        return self._map

    def show_all(self) -> None:
        """Show all of the heat map."""
        self.map.show_all()

    def show_view(self, view: View) -> None:
        """Bring lines or heat map to the front."""
        self.view = view
        maps = view == "map"
        shown = self.map if maps else self.lines
        if self._map is not None:
            self._map.ask_for_room(maps)  # while it is in front: hidden, it would not be heard
        self._stack.setCurrentWidget(shown)
        self.bar.setVisible(maps)
        self._offer_all()
        self.switch.setText("Over N" if maps else "Heat map")
        self.switch.setAccessibleName("Show lines over N" if maps else "Show the heat map")
        set_tip(
            self.switch, with_line(self.switch.text(), f"{self.switch.accessibleName()}, kernels by problems")
        )

    def _offer_all(self) -> None:
        """Offer the way back while some of the columns are out of sight."""
        self._all.setVisible(self.view == "map" and self.map.shows_part)

    def draw(self, findings: Findings, curve: Curve, current: int, hidden: set[str]) -> Iterator[None]:
        """Draw a curve's lines and the current session's map, in steps."""
        self._findings = findings
        sheet, quantity = findings.sheets[curve], findings.comparison.quantity
        self._kernels = tuple(kernel for kernel in sheet.kernels if kernel not in hidden)
        more = change_word(quantity, more=True)
        if self.view == "map":
            names = [findings.members[place].name for place in (current, 0)]
            self._words.setText(" over the baseline, ".join(names))
            yield
            self._draw_map(findings, current)
            return
        self._words.setText(f"above 1: {more} · {LEGEND}")
        self.lines.show_band(sheet.band)
        self.lines.show_hint("" if any(one.value.size for one in sheet.ratios) else NO_RATIO)
        yield from self.lines.draw_in_steps(sheet.ratios, hidden, sheet.seqlens)

    def _draw_map(self, findings: Findings, current: int) -> None:
        grid, quantity = findings.grids[current - 1], findings.comparison.quantity
        worse = quantity.better != "higher"
        self.map.show_grid(grid, more_is_worse=worse, tip=self._tip)
        ends = [change_word(quantity, more=more) for more in (not worse, worse)]
        self.bar.show_span(grid.span, *ends)

    def _tip(self, place: int) -> str:
        return "" if self._findings is None else _tip(self._findings, place)

    def show_place(self, place: int) -> None:
        """Mark a pair in what there is of both."""
        self.lines.show_place(place)
        if self._map is not None:
            self._map.show_place(place)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        if self._map is not None:
            self._map.apply_theme(theme)
        for part in (self.lines, self.bar, self.export_button):
            part.apply_theme(theme)

    def make_export(self) -> Export | None:
        """What the export menu writes."""
        if self._findings is None:
            return None
        plot, kernels = (self.map, ()) if self.view == "map" else (self.lines, self._kernels)
        return exported(self._findings, plot, "Ratio to the baseline", kernels, self._theme)


class CurvesCard(Card):
    """The figures of every session, the baseline's dashed.

    Signals:
        picked: A pair was clicked: its place (int).
        curve_chosen: Show the points of another curve (Curve).
    """

    picked = Signal(int)
    curve_chosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__("Curves")
        self._theme = theme
        self._findings: Findings | None = None
        self._curves: list[Curve] = []
        self._kernels: tuple[str, ...] = ()
        self.plot = StrandPlot("Curves of every session", words_of(RUNTIME), theme)
        self.plot.picked.connect(self.picked)
        self.problems = DropDown()
        self.problems.setSizeAdjustPolicy(DropDown.SizeAdjustPolicy.AdjustToContents)
        self.problems.setMinimumContentsLength(PROBLEM_CHARACTERS)
        self.problems.setAccessibleName("Problems on show")
        set_tip(self.problems, "Problems on show over N")
        self.problems.activated.connect(lambda index: self.curve_chosen.emit(self._curves[index]))
        self.export_button = ExportButton("the curves", self.make_export, theme)
        self.plot_menu = PlotMenu(self, self.export_button.exporter)
        self._words = TermLine()
        self._words.setProperty("role", "unit")
        for widget in (self._words, self.problems, self.export_button):
            self.header.addWidget(widget)
        keep(self.problems, self.problems.setMaximumWidth, 190)
        self.body.addWidget(self.plot, 1)
        self.setContentsMargins(0, -4, -6, -6)

    def draw(self, findings: Findings, curve: Curve, hidden: set[str]) -> Iterator[None]:
        """Draw a curve's points, in steps."""
        quantity, sheet = findings.comparison.quantity, findings.sheets[curve]
        if self._findings is not findings:
            self._findings = findings
            self.plot.set_words(words_of(quantity))
            self._fill(list(findings.sheets))
        self.problems.setCurrentIndex(self._curves.index(curve))
        self._kernels = tuple(kernel for kernel in sheet.kernels if kernel not in hidden)
        self.set_title(quantity.title)
        several = any(one.faint for one in sheet.curves)
        over = kernel_over(findings.comparison.base, quantity)
        runs = f"{unit_short(quantity, over)} · median of runs, each faint"
        unit = runs if several else unit_text(quantity, over)
        self._words.setText(f"{unit} · baseline dashed")
        yield from self.plot.draw_in_steps(sheet.curves, hidden, sheet.seqlens)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        for part in (self.plot, self.export_button):
            part.apply_theme(theme)

    def make_export(self) -> Export | None:
        """What the export menu writes."""
        if self._findings is None:
            return None
        return exported(self._findings, self.plot, "Curves, baseline dashed", self._kernels, self._theme)

    def _fill(self, curves: list[Curve]) -> None:
        self._curves = curves
        self.problems.clear()
        for curve in curves:
            self.problems.addItem(button_text(curve.label).replace("&&", "&"))
        self.problems.setVisible(len(curves) > 1)


def _tip(findings: Findings, place: int) -> str:
    """A pair in words, for the pointer."""
    _, pair = findings.pairs[place]
    told = spoken(pair)
    verdict, change = pair.verdict, pair.change
    by = f" by {change_text(change, verdict)}" if verdict and change and pair.better is not None else ""
    where = f"{pair.kernel}, {findings.curve_at(place).label}, N = {pair.base.seqlen}"
    ratio = f", ratio {pair_ratio_text(pair.ratio)}" if pair.ratio is not None else ""
    return f"{where}\n{told.glyph} {told.word}{by}{ratio}"
