"""The card of memory over context."""

from msgspec.structs import asdict
from PySide6.QtCore import QSize, Qt

from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.pages.compare.legend import KernelLegend
from flashscope.app.plots.context_plot import ContextPlot, Drawn
from flashscope.app.plots.export.button import ExportButton
from flashscope.app.plots.export.contents import Export, ExportCell
from flashscope.app.plots.plot_menu import PlotMenu
from flashscope.app.widgets.card import Card
from flashscope.app.words.learn.planning import outlook_summary
from flashscope.app.words.version import own_version
from flashscope.profiles.plan.seqlens import LONGEST
from flashscope.profiles.results.planner.outlook import Outlook, Prospect, ledger_curve

PICTURE = (760, 420)  # pixels at 100 % of the plot in an exported picture, at least
SHORTEST, STEPS = 256, 4  # tokens, and places a doubling
LENGTHS = tuple(round(SHORTEST * 2 ** (k / STEPS)) for k in range(STEPS * (LONGEST // SHORTEST).bit_length()))
UNIT = "model: exact ledger · log"


class MemoryCard(Card):
    """What each kernel holds over N, beside the device's memory.

    Attributes:
        plot: Draws it.
        legend: Which curve is whose, for a stage.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__("Memory over context", UNIT)
        self._theme = theme
        self._found: Outlook | None = None
        self.plot = ContextPlot(theme)
        self.export_button = ExportButton("memory over context", self.make_export, theme)
        self.header.addWidget(self.export_button)
        self.plot_menu = PlotMenu(self, self.export_button.exporter)
        self.legend = KernelLegend(theme)  # off a stage the table beside it has the marks
        self.legend.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.legend.hide()
        self.body.addWidget(self.legend)
        self.body.addWidget(self.plot, 1)
        self.setContentsMargins(0, -4, -6, -6)

    def show_outlook(self, found: Outlook) -> None:
        """Draw the outlook."""
        self._found = found
        self.legend.show_kernels([one.kernel for one in found.prospects if one.longest], ())
        limits = {one.kernel: one.longest.tokens for one in found.prospects if one.longest}
        self.plot.draw(
            Drawn(
                curves={one.kernel: self._curve(one) for one in found.prospects if one.longest},
                limits=limits,
                named=(found.standard.kernel, found.tiled.kernel),
                capacity=found.capacity,
                context=found.setting.context,
            )
        )

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        self.plot.apply_theme(theme)
        self.legend.apply_theme(theme)
        self.export_button.apply_theme(theme)

    def make_export(self) -> Export | None:
        """What the export menu writes."""
        found = self._found
        if found is None:
            return None
        shown = [one for one in found.prospects if one.longest]
        rows: list[list[ExportCell]] = [[one.kernel, *point] for one in shown for point in self._curve(one)]
        return Export(
            title=f"Memory over context, bytes: {found.model.name}",
            name="context",
            plots=[self.plot],
            theme=self._theme,
            provenance=_header(found),
            columns=["kernel", "context", "held_bytes"],
            rows=rows,
            kernels=[one.kernel for one in shown],
            least=QSize(*map(px, PICTURE)),
        )

    def _curve(self, one: Prospect) -> tuple[tuple[int, int], ...]:
        assert self._found is not None  # noqa: S101 - it is drawn
        return ledger_curve(self._found.model, self._found.setting, one.kernel, LENGTHS)


def _header(found: Outlook) -> dict[str, str]:
    """What was asked, the finding, and that nothing of it was measured."""
    model, setting = (
        ", ".join(f"{name} {value}" for name, value in asdict(told).items())
        for told in (found.model, found.setting)
    )
    return {
        "source": "A model: the exact ledger of what kernels allocate, nothing measured",
        "problem": outlook_summary(found),
        "model": model,
        "setting": setting,
        "capacity": f"{found.capacity} bytes of {found.place}",
        "written by": f"Flashscope {own_version()}",
    }
