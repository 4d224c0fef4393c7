"""The card of a panel of the Stepper, whose menu writes it as a picture and as numbers."""

from collections.abc import Callable
from math import isnan
from typing import Any

from PySide6.QtCore import QSize

from flashscope.app.look.zoom import px
from flashscope.app.plots.export.contents import Export
from flashscope.app.plots.export.exporter import Exporter
from flashscope.app.plots.plot_menu import PlotMenu
from flashscope.app.plots.stepper.panel import PanelOf
from flashscope.app.stepper.numbers import plain
from flashscope.app.stepper.step_view import StepView
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.term_label import TermFormula
from flashscope.app.words.inside.tracing import trace_words
from flashscope.app.words.version import own_version

PICTURE = (480, 270)  # pixels at 100 % of a panel in an exported picture, at least


class PanelCard(Card):
    """Has a panel under its title.

    Attributes:
        panel: The panel.
        exporter: Writes it as it is.

    Args:
        panel: The panel.
        name: What it is called in a story, and in the names of its files.
        header: What an exported picture says of a step; None: what it says of one of the online softmax.
    """

    def __init__(
        self, panel: PanelOf[Any], name: str, header: Callable[[Any], dict[str, str]] | None = None
    ) -> None:
        super().__init__("…", "…", label=TermFormula)
        self.panel, self._name, self._header = panel, name, header or _header
        self._written = "", ""
        self.exporter = Exporter(self.make_export, self, self._offered, numbers=bool(panel.columns))
        self.plot_menu = PlotMenu(self, self.exporter)
        self.body.addWidget(panel, 1)

    def write(self, title: str, unit: str) -> None:
        """Say above the panel what it shows; both may be HTML."""
        if self._written != (title, unit):
            self._written = title, unit
            self.set_title(title)
            self.set_unit(unit)

    def make_export(self) -> Export | None:
        """What the menu writes; None before the first trace."""
        view = self.panel.view
        if view is None:
            return None
        self.panel.let_go()
        title, _unit = self._written
        return Export(
            title=f"{plain(title)} · step {view.cursor.at} of {view.cursor.last}",
            name=f"stepper-{self._name}",
            plots=[self.panel],
            theme=self.panel.theme,
            provenance=self._header(view) | {"written by": f"Flashscope {own_version()}"},
            columns=self.panel.headings(view),
            rows=[
                [None if isinstance(cell, float) and isnan(cell) else cell for cell in row]
                for row in self.panel.numbers(view)
            ],
            least=QSize(*map(px, PICTURE)),
        )

    def _offered(self) -> bool:
        """Whether there is a step, and this is no stage."""
        return self.panel.view is not None and not self.property("stage")


def _header(view: StepView) -> dict[str, str]:
    """What recorded the trace, of what, and which step it is."""
    trace = view.recording.trace
    return {
        "device": trace.device,
        "recorded": trace.source,
        "problem": trace_words(trace.request),
        "step": f"{view.cursor.at} of {view.cursor.last}",
        "query row": str(view.row),
    }
