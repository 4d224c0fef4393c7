"""The card of cuts side by side, and what its rows and colours stand for."""

from collections.abc import Sequence
from statistics import median

from PySide6.QtCore import Qt, Signal

from flashscope.app.figures.cut_grid import QUANTITIES, SPILLS, CutCell, CutGrid, CutQuantity, row_knobs
from flashscope.app.figures.cut_times import ANEW
from flashscope.app.look.theme import Theme
from flashscope.app.plots.designer.landscape import SHIPPED, DrawnCuts, Landscape
from flashscope.app.plots.export.button import ExportButton
from flashscope.app.plots.export.contents import Export, ExportCell
from flashscope.app.plots.plot_menu import PlotMenu
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.words.inside.landscapes import source_words
from flashscope.app.words.version import own_version
from flashscope.kernels.cuda.design.knobs import Knob
from flashscope.kernels.workload.cut import Cut
from flashscope.kernels.workload.landscape import CutLandscape
from flashscope.profiles.results.formats.landscapes import COLUMNS as RUN_COLUMNS
from flashscope.profiles.results.formats.landscapes import NUMBERS, landscape_lines, numbers_of

LEGEND = f"× does not run   {SPILLS} spills   {SHIPPED} shipped   {ANEW} timed anew"
MODELLED, MEASURED = "model", "measured"
SOURCES = {
    False: "A model: formulas, and NVIDIA's rules of occupancy; registers as compiled",
    True: "Measured: medians of rounds in turns with a cold cache; all but the times is a model",
}
MOST_OF_IT = 100  # of the title line is the words'
RUNTIME, RATIO = "runtime", "ratio"  # the keys of the quantities that are measured
COLUMNS = (
    *(
        "kernel",
        "tile_queries",
        "tile_keys",
        *NUMBERS,
        "runs",
        "why_not",
        "shared_bytes",
        "threads",
        "registers",
    ),
    *("spilled_bytes", "blocks_per_sm", "warps_per_sm", "waves", "loop_bytes", "median_ms", "timed_anew"),
)


class LandscapeCard(Card):
    """The landscape under its two boxes.

    Attributes:
        plot: Draws it.
        told: What the cuts compute, and on what.

    Signals:
        changed: Other rows or colours are chosen.
    """

    changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__("Cuts around it")
        self.told = ElidedLabel()
        self.told.setProperty("role", "unit")
        self.told.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.header.addWidget(self.told, MOST_OF_IT)
        self._theme = theme
        self._told = ""
        self._landscape: CutLandscape | None = None
        self.plot = Landscape(theme)
        self.rows, self.colours = DropDown(), DropDown()
        self.rows.setAccessibleName("What the rows have")
        self.colours.setAccessibleName("What the colours stand for")
        for quantity in QUANTITIES:
            self.colours.addItem(quantity.title)
        for box in (self.rows, self.colours):
            box.currentIndexChanged.connect(lambda _place: self.changed.emit())
        legend = PlainLabel(LEGEND)
        legend.setProperty("role", "unit")
        self.body.addWidget(Lines((self.rows, self.colours, legend), (legend,), 8))
        self.export_button = ExportButton("the cuts", self.make_export, theme)
        self.header.addWidget(self.export_button)
        self.plot_menu = PlotMenu(self, self.export_button.exporter)
        self.body.addWidget(self.plot, 1)
        self._knobs: Sequence[Knob] = ()

    @property
    def knob(self) -> Knob:
        """What the rows have."""
        return self._knobs[max(0, self.rows.currentIndex())]

    @property
    def quantity(self) -> CutQuantity[CutCell]:
        """What the colours stand for."""
        return QUANTITIES[self.colours.currentIndex()]

    @property
    def measured(self) -> bool:
        """Whether the colours stand for what was measured."""
        drawn = self.plot.drawn
        cells = () if drawn is None else (cell for row in drawn.grid.cells for cell in row)
        return self.quantity.key in {RUNTIME, RATIO} and any(cell.times.ms for cell in cells)

    def show_quantity(self, key: str) -> None:
        """Let the colours stand for another quantity, and tell nobody."""
        blocked = self.colours.blockSignals(True)
        self.colours.setCurrentIndex([one.key for one in QUANTITIES].index(key))
        self.colours.blockSignals(blocked)

    def show_rows(self, name: str) -> None:
        """Let the rows have this number, and tell nobody."""
        blocked = self.rows.blockSignals(True)
        self.rows.setCurrentIndex([knob.name for knob in self._knobs].index(name))
        self.rows.blockSignals(blocked)

    def take_kernel(self, cut: Cut) -> None:
        """Offer the numbers of a cut's kernel for the rows."""
        knobs = row_knobs(cut)
        if knobs == self._knobs:
            return
        self._knobs = knobs
        blocked = self.rows.blockSignals(True)
        self.rows.clear()
        for knob in knobs:
            self.rows.addItem(f"rows: {knob.words}")
        self.rows.blockSignals(blocked)

    def next_colours(self) -> None:
        """Show the next quantity."""
        self.colours.setCurrentIndex((self.colours.currentIndex() + 1) % self.colours.count())

    def show_grid(
        self,
        grid: CutGrid[CutCell],
        chosen: Cut,
        shipped: Cut,
        told: str,
        landscape: CutLandscape | None = None,
    ) -> None:
        """Draw cuts; `told` says what they compute and on what card.

        Args:
            grid: The cuts.
            chosen: The one that is framed.
            shipped: The one that the kernel ships with.
            told: What they compute, and on what card.
            landscape: What is on show, if it was recorded: then every run of it is written.
        """
        self._told, self._landscape = told, landscape
        self.plot.show_grid(DrawnCuts(grid, self.quantity, chosen, shipped))
        self.told.setText(f"{told} · {MEASURED if self.measured else MODELLED}")

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        self.plot.apply_theme(theme)
        self.export_button.apply_theme(theme)

    def make_export(self) -> Export | None:
        """What the export menu writes."""
        drawn = self.plot.drawn
        if drawn is None:
            return None
        return Export(
            title=f"Cuts of {drawn.chosen.kernel}: {drawn.quantity.title}",
            name="cuts",
            plots=[self.plot],
            theme=self._theme,
            provenance={
                "source": SOURCES[self.measured],
                "problem": self._told,
                **({} if self._landscape is None else {"timed": source_words(self._landscape)}),
                "written by": f"Flashscope {own_version()}",
            },
            columns=COLUMNS if self._landscape is None else RUN_COLUMNS,
            rows=_rows(drawn.grid) if self._landscape is None else landscape_lines(self._landscape),
            headline=self._told,
        )


def _rows(grid: CutGrid[CutCell]) -> list[list[ExportCell]]:
    return [_row(cell) for row in grid.cells for cell in row]


def _row(cell: CutCell) -> list[ExportCell]:
    cut, found = cell.cut, cell.found
    compiled = None if cell.refused else cell.compiled
    return [
        *(cut.kernel, cut.block_q, *numbers_of(cut), cut.keys),
        *(int(not cell.refused), " ".join(cell.refused), found.shared_bytes, found.threads),
        *((compiled.registers, compiled.spilled) if compiled else (None, None)),
        *(found.occupancy.blocks, found.occupancy.warps, found.waves, found.loop_bytes),
        *((median(cell.times.ms), int(cell.times.anew is not None)) if cell.times.ms else (None, None)),
    ]
