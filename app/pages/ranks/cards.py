"""The cards of the Ranks page: curves of the schemes, and the lanes of one pass, each with its export."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from PySide6.QtCore import QSize

from flashscope.app.figures.scheme_curves import SchemeCurve
from flashscope.app.look.scheme_marks import GLYPHS, scheme_ink
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.plots.export.button import ExportButton
from flashscope.app.plots.export.contents import Export
from flashscope.app.plots.plot_menu import PlotMenu
from flashscope.app.plots.ranks.curves_plot import SchemeCurvesPlot
from flashscope.app.plots.ranks.rank_lanes_plot import RankLanesPlot
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.plain import FormulaLabel
from flashscope.app.words.kinds import KINDS
from flashscope.app.words.ranks import title_of
from flashscope.app.words.units import ms_text
from flashscope.kernels.context_parallel.schemes import Scheme
from flashscope.profiles.results.model.ranks import RanksPass, exposed_of
from flashscope.profiles.results.quantities.quantity import QuantityKind

PICTURE = (640, 360)  # pixels at 100 % of a plot in an exported picture, at least
Header = Callable[[], Mapping[str, str]]
RanksPlot = TypeVar("RanksPlot", SchemeCurvesPlot, RankLanesPlot)


class SchemeWords(NamedTuple):
    """What a card says.

    Attributes:
        title: What it shows.
        kind: Of its values.
        dashed: What the dashed lines say.
        whole: A value that is always in view, with 0; None: none.
    """

    title: str
    kind: QuantityKind
    dashed: str
    whole: float | None = None


class RanksCard(Card, Generic[RanksPlot]):
    """A plot under its legend, with its export.

    Args:
        title: What it shows.
        exported: What the export button calls it.
        plot: The plot.
        header: Who measured what, for what is exported.
        theme: The colours in use.
    """

    def __init__(self, title: str, exported: str, plot: RanksPlot, header: Header, theme: Theme) -> None:
        super().__init__(title)
        self._header, self._theme = header, theme
        self.plot: RanksPlot = plot
        self.legend = FormulaLabel()
        self.legend.setWordWrap(True)
        self.export_button = ExportButton(exported, self.make_export, theme)
        self.plot_menu = PlotMenu(self, self.export_button.exporter)
        self.header.addWidget(self.export_button)
        self.body.addWidget(self.legend)
        self.body.addWidget(self.plot, 1)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        self.plot.apply_theme(theme)
        self.export_button.apply_theme(theme)
        self._write_legend()

    @abstractmethod
    def make_export(self) -> Export | None:
        """What the menu writes; None while there is nothing to show."""

    @abstractmethod
    def _write_legend(self) -> None:
        """Say what the colours mean."""


class SchemeCard(RanksCard[SchemeCurvesPlot]):
    """Curves of one quantity.

    Args:
        words: What it says.
        header: Who measured what, for what is exported.
        theme: The colours in use.
    """

    def __init__(self, words: SchemeWords, header: Header, theme: Theme) -> None:
        plot = SchemeCurvesPlot(f"{words.title} over N", KINDS[words.kind], theme, words.whole)
        super().__init__(words.title, words.title.lower(), plot, header, theme)
        self._words = words
        self._curves: Sequence[SchemeCurve] = ()
        self._model = ""

    def show_curves(self, curves: Sequence[SchemeCurve], why_none: str, model: str = "") -> None:
        """Draw these in place of those before; `model` says what their hollow marks are."""
        self._curves, self._model = curves, model
        self.plot.show_curves(curves, why_none)
        self._write_legend()

    def make_export(self) -> Export | None:
        """What the menu writes; None while there is nothing to show."""
        if not self._curves:
            return None
        rows = [
            [curve.scheme, n, dict(curve.points).get(n), bound, dict(curve.model).get(n)]
            for curve in self._curves
            for n, bound in curve.bound
        ]
        return Export(
            title=self._words.title,
            name=f"ranks-{self._words.title.split()[0].lower()}",
            plots=[self.plot],
            theme=self._theme,
            provenance=self._header(),
            columns=["scheme", "seqlen", self._words.kind, self._words.dashed, "model"],
            rows=rows,
            least=QSize(*map(px, PICTURE)),
            heads=[
                "   ".join([*(f"{GLYPHS[one.scheme]} {one.scheme}" for one in self._curves), *self._lines()])
            ],
        )

    def _write_legend(self) -> None:
        told = [_marked(one.scheme, self._theme) for one in self._curves]
        self.legend.setText(" &nbsp; ".join([*told, *self._lines()]))

    def _lines(self) -> list[str]:
        """What dashed lines and hollow marks say; none where there is no curve."""
        return [f"dashed: {self._words.dashed}", *filter(None, [self._model])] if self._curves else []


def _marked(scheme: Scheme, theme: Theme) -> str:
    """A scheme behind its mark, as rich text."""
    return f'<span style="color: {scheme_ink(scheme, theme)}">{GLYPHS[scheme]}</span> {scheme}'


class RankLanesCard(RanksCard[RankLanesPlot]):
    """Lanes of the typical run of one pass."""

    def __init__(self, header: Header, theme: Theme) -> None:
        super().__init__("Lanes of each rank", "the lanes", RankLanesPlot(theme), header, theme)
        self.shown: RanksPass | None = None

    def show_pass(self, one: RanksPass | None) -> None:
        """Draw this pass in place of the one before."""
        self.shown = one
        self.plot.show_ranks(one.measured.ranks if one else ())
        self._write_legend()

    def make_export(self) -> Export | None:
        """What the menu writes; None while there is nothing to show."""
        if self.shown is None:
            return None
        steps = [
            [rank.rank, step.lane, step.step, step.begin_ms, step.end_ms]
            for rank in self.shown.measured.ranks
            for step in rank.steps
        ]
        return Export(
            title=f"Lanes of each rank, {title_of(self.shown.asked)}, {self.shown.measured.passes}, ms",
            name="ranks-lanes",
            plots=[self.plot],
            theme=self._theme,
            provenance=self._header(),
            columns=["rank", "lane", "step", "begin_ms", "end_ms"],
            rows=steps,
            least=QSize(*map(px, PICTURE)),
            heads=["above: products   below: transfers"],
        )

    def _write_legend(self) -> None:
        one = self.shown
        if one is None:
            self.legend.setText("")
            return
        exposed = f"at most {ms_text(exposed_of(one.measured))} exposed".replace(" ", "&nbsp;")
        self.legend.setText(
            f"{title_of(one.asked)}, {one.measured.passes} &nbsp; "
            f'<span style="color: {self._theme.accent}">■</span>&nbsp;product &nbsp; '
            f'<span style="color: {self._theme.warn}">■</span>&nbsp;transfer &nbsp; {exposed}'
        )
