"""The card of one quantity over the dates of sessions: its curves, what they are, and their export."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from PySide6.QtCore import QSize

from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.pages.sessions.trend_runs import TOLD
from flashscope.app.plots.export.button import ExportButton
from flashscope.app.plots.export.contents import Export
from flashscope.app.plots.plot_menu import PlotMenu
from flashscope.app.plots.trend_plot import COLOURS, TrendPlot
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.plain import FormulaLabel, escaped
from flashscope.app.words.kinds import column_name, unit_text
from flashscope.app.words.results.provenance import Provenance
from flashscope.app.words.units import thousands
from flashscope.app.words.version import own_version
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.results.findings.trend import Entry, Kind
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.registry import RUNTIME

MARKS = "●■▲◆⬟★"  # as the plot's symbols
PICTURE = (760, 420)  # pixels at 100 % of the plot in an exported picture, at least


class Trend(NamedTuple):
    """What is drawn.

    Attributes:
        curves: The sessions of each curve, by date.
        quantity: What they are compared by.
        kernel: Of which kernel.
        seqlen: At which N.
        several: Whether a point stands for several runs.
        backends: Where each session ran, by its file.
    """

    curves: Mapping[Kind, Sequence[Entry]] = {}
    quantity: Quantity = RUNTIME
    kernel: str = ""
    seqlen: int = 0
    several: bool = False
    backends: Mapping[str, Backend | None] = {}

    @property
    def entries(self) -> list[Entry]:
        """All sessions, the oldest first."""
        held = (entry for entries in self.curves.values() for entry in entries)
        return sorted(held, key=lambda entry: entry.started_at)


class TrendCard(Card):
    """Draws curves over dates, a curve for each machine.

    Attributes:
        plot: The curves.
        legend: Each curve by its mark.
        export_button: Writes them.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self._drawn = theme, Trend()
        self.plot, self.legend = TrendPlot(theme), FormulaLabel()
        self.legend.setWordWrap(True)
        self.export_button = ExportButton("the curves over time", self.make_export, theme)
        self.plot_menu = PlotMenu(self, self.export_button.exporter)
        self.header.addWidget(self.export_button)
        self.body.addWidget(self.legend)
        self.body.addWidget(self.plot, 1)

    def draw(self, drawn: Trend) -> None:
        """Draw these in place of those before."""
        self._drawn = drawn
        self.set_title(drawn.quantity.title if drawn.curves else "")
        self.set_unit(unit_text(drawn.quantity) if drawn.curves else "")
        self.legend.setText(_legend(drawn))
        self.export_button.setVisible(bool(drawn.curves))
        self.plot.show_curves(drawn.curves, drawn.quantity)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        self.plot.apply_theme(theme)
        self.export_button.apply_theme(theme)

    @property
    def provenance(self) -> Provenance | None:
        """The machine of the oldest session, from which day to which, and how many more; None without any."""
        entries = self._drawn.entries
        if not entries:
            return None
        first, others = entries[0], len({kind.device for kind in self._drawn.curves}) - 1
        more = f"and {others} other machine{'s' if others > 1 else ''}" if others else ""
        backend = self._drawn.backends.get(first.file) or "cpu"
        return Provenance("saved", backend, first.kind.machine, _days(entries), more)

    def make_export(self) -> Export | None:
        """What the menu writes; None while there is nothing to show."""
        drawn, entries = self._drawn, self._drawn.entries
        if not entries:
            return None
        quantity, name = drawn.quantity, column_name(drawn.quantity)
        where = f"{drawn.kernel} at N = {thousands(drawn.seqlen)}"
        rows = [
            [one.title, one.started_at, one.kind.device, one.kind.protocol, one.kind.problem]
            + ([figure.value, figure.low, figure.high] if (figure := one.figure) else [None] * 3)
            for one in entries
        ]
        return Export(
            title=f"{quantity.title} of {where}, {unit_text(quantity)}",
            name=f"over-time-{quantity.key}",
            plots=[self.plot],
            theme=self._theme,
            provenance=_header(drawn),
            columns=["session", "started_at", "device", "protocol", "problem", name, "low", "high"],
            rows=rows,
            least=QSize(*map(px, PICTURE)),
            heads=["   ".join(f"{mark} {named}" for mark, _, named in _marked(drawn))],
        )


def _days(entries: Sequence[Entry]) -> str:
    """From which day to which."""
    return " – ".join(dict.fromkeys(entry.started_at[:10] for entry in (entries[0], entries[-1])))


def _header(drawn: Trend) -> dict[str, str]:
    """Which sessions they are, of which point, and who wrote it."""
    entries = drawn.entries
    return {
        "kernel": drawn.kernel,
        "problem": entries[0].kind.problem,
        "sessions": "; ".join(dict.fromkeys(entry.title for entry in entries)),
        "points": TOLD if drawn.several else "a session each",
        "written by": f"Flashscope {own_version()}",
    }


def _marked(drawn: Trend) -> list[tuple[str, str, str]]:
    """The mark of each curve, its colour, and what it is."""
    return [
        (MARKS[place % len(MARKS)], COLOURS[place % len(COLOURS)], f"{kind.device}, {kind.protocol}")
        for place, kind in enumerate(drawn.curves)
    ]


def _legend(drawn: Trend) -> str:
    """Each curve by its mark, and what a point stands for where that is not one session."""
    told = [
        f'<span style="color: {colour}">{mark}</span> {escaped(name)}'
        for mark, colour, name in _marked(drawn)
    ]
    return " &nbsp; ".join([*told, *([TOLD] if told and drawn.several else [])])
