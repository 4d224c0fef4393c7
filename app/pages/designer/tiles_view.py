"""Tiles of flash2 in NumPy, measured on the machine in use: a landscape, and the fastest measured anew."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QProgressBar, QVBoxLayout, QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.figures.cut_grid import CutGrid, CutQuantity
from flashscope.app.figures.cut_times import ANEW, RoundTimes, verdict
from flashscope.app.figures.landscapes import known_of, maker_of
from flashscope.app.figures.tile_grid import (
    HELD,
    RUNTIME,
    SHIPPED,
    TileCell,
    tile_cell,
    tile_grid,
)
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.pages.designer.beside import why_not_beside
from flashscope.app.pages.designer.compile_bar import STOP, TIME
from flashscope.app.pages.designer.tried import Tried
from flashscope.app.plots.designer.landscape import SHIPPED as STAR
from flashscope.app.plots.designer.landscape import DrawnCuts, Landscape
from flashscope.app.plots.export.button import ExportButton
from flashscope.app.plots.export.contents import Export, ExportCell
from flashscope.app.plots.plot_menu import PlotMenu
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.words.inside.cuts import problem_line
from flashscope.app.words.version import own_version
from flashscope.kernels.cuda.design.knobs import KNOBS
from flashscope.kernels.workload.cut import Cut
from flashscope.kernels.workload.landscape import CutLandscape
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.wire.cuts import ROUNDS, CutRequest, CutsEnded, CutsToTime, CutTimes

BEING_TIMED = "The Designer times tiles, and a sweep beside them would disturb both; stop that first."
BEING_COMPILED = "Cuts are being compiled; stop that first."
NOT_YET = "Time them: each is checked, run in turns with all others, and the five fastest are run anew."
TIP = "Time every tile on the CPU in use; sweeps wait meanwhile"
LEGEND = f"× is another one   {STAR} shipped   {ANEW} measured anew, on fresh rounds"
COLUMNS = ("block_q", "block_k", "held_bytes", "round", "ms", "anew", "why_not")
BAR_PX, MOST_OF_IT = 160, 100


class TilesView(QWidget):
    """A sentence, a button and a landscape.

    Attributes:
        problem: What the tiles compute, in float32.
        grid: The tiles.
        plot: Draws them.

    Signals:
        begun: All are timed from now on: no recorded ones are to be shown.
        made: All of them were timed (CutLandscape).
    """

    begun = Signal()
    made = Signal(object)
    grid: CutGrid[TileCell]

    def __init__(self, controller: Controller, theme: Theme, problem: Problem) -> None:
        super().__init__()
        self.problem = problem
        self._controller, self._theme = controller, theme
        self._tried = Tried()
        self._source: dict[Problem, CutsEnded] = {}
        self._chosen = SHIPPED
        self._occupies = False
        self._landscape: CutLandscape | None = None
        self.sentence = PlainLabel(wordWrap=True)
        self.sentence.setProperty("role", "title")
        self.sentence.setAccessibleName("Which tile is fastest")
        self.time = does(text_button("Time all", "Time all tiles", self.start, "primary"), TIME)
        self.stop = does(text_button("Stop", "Stop timing the tiles", controller.cuts.cancel), STOP)
        set_tip(self.stop, "Time no more; the tiles that are timed stay on show")
        self.bar, self.progress = QProgressBar(textVisible=False), ElidedLabel()
        self.bar.setAccessibleName("Runs of the tiles that are done")
        keep(self.bar, self.bar.setFixedWidth, BAR_PX)
        self.plot = Landscape(theme)
        self.export_button = ExportButton("the tiles", self.make_export, theme)
        self.told, self.chosen = ElidedLabel(), ElidedLabel()
        self._lay_out()
        work = controller.cuts
        self.plot.picked.connect(self.choose)
        work.timed.connect(self._take)
        work.progressed.connect(self._show_progress)
        work.changed.connect(self._show_state)
        work.done.connect(self._take_end)
        controller.devices.moved.connect(self._forget)
        for signal in (controller.running_changed, controller.machine_found):
            signal.connect(lambda _value: self._show_state())
        controller.occupied_changed.connect(lambda _reason: self._show_state())
        self._draw()

    def _lay_out(self) -> None:
        card = self.card = Card("Tiles of flash2 in NumPy")
        self.told.setProperty("role", "unit")
        self.told.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        card.header.addWidget(self.told, MOST_OF_IT)
        card.header.addWidget(self.export_button)
        legend = PlainLabel(LEGEND, wordWrap=True)
        legend.setProperty("role", "unit")
        card.body.addWidget(legend)
        card.body.addWidget(self.plot, 1)
        self.chosen.setProperty("role", "dim")
        card.body.addWidget(self.chosen)
        self.menu = PlotMenu(card, self.export_button.exporter)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.sentence)
        parts = (self.time, self.stop, self.bar, self.progress)
        column.addWidget(Lines(parts, (self.progress,), 8))
        column.addWidget(card, 1)

    def show_problem(self, problem: Problem) -> None:
        """Show the tiles of another problem; those of a landscape are of its own."""
        self.problem = problem if self._landscape is None else self._landscape.problem
        self._draw()

    def turn_inner(self, by: int) -> None:
        """Choose the tile with the next number of keys, or the one before."""
        self._turn("block_k", by)

    def turn_first(self, by: int) -> None:
        """Choose the tile with the next number of rows, or the one before."""
        self._turn("groups", by)

    def show_landscape(self, landscape: CutLandscape | None) -> None:
        """Show tiles as they were recorded; None: what was timed here."""
        self._landscape = landscape

    def _turn(self, name: str, by: int) -> None:
        values = next(knob.values for knob in KNOBS["numpy"] if knob.name == name)
        place = values.index(getattr(self._chosen, name)) + by
        self.choose(replace(self._chosen, **{name: values[min(max(0, place), len(values) - 1)]}))

    def choose(self, cut: Cut) -> None:
        """Frame a tile, and say what is known of it."""
        self._chosen = cut
        self._draw()

    def start(self) -> None:
        """Time all tiles, unless something else is measured."""
        if self._why_not():
            return
        self.begun.emit()
        maker = maker_of(self.grid, self.problem, SHIPPED)
        self._tried.begin(maker)
        self._source.pop(self.problem, None)
        self._draw()
        self._controller.cuts.ask(maker.asked)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        self.plot.apply_theme(theme)
        self.export_button.apply_theme(theme)

    def make_export(self) -> Export:
        """What the export menu writes: every run of every tile."""
        return Export(
            title=f"Tiles of flash2 in NumPy: {self._quantity.title}{self._unit}",
            name="tiles",
            plots=[self.plot],
            theme=self._theme,
            provenance={
                "source": self._told_source(),
                "problem": problem_line(self.problem),
                "written by": f"Flashscope {own_version()}",
            },
            columns=COLUMNS,
            rows=[line for row in self.grid.cells for cell in row for line in _lines(cell)],
            headline=self.sentence.text(),
        )

    @property
    def _of_problem(self) -> Mapping[Cut, RoundTimes]:
        if self._landscape is not None:
            return known_of(self._landscape).times
        return self._tried.times(self.problem)

    @property
    def _timing(self) -> bool:
        return isinstance(self._controller.cuts.asked, CutsToTime)

    @property
    def _quantity(self) -> CutQuantity[TileCell]:
        """The runtime as soon as there is one."""
        return RUNTIME if any(one.ms for one in self._of_problem.values()) else HELD

    @property
    def _unit(self) -> str:
        return ", ms" if self._quantity is RUNTIME else ", bytes"

    def _draw(self) -> None:
        self.grid = tile_grid(self.problem, self._of_problem)
        self.plot.show_grid(DrawnCuts(self.grid, self._quantity, self._chosen, SHIPPED))
        self.sentence.setText(verdict(self._of_problem, SHIPPED) or NOT_YET)
        chosen = tile_cell(self._chosen, self.problem, self._of_problem)
        self.chosen.setText(" · ".join(chosen.tip.splitlines()))
        self.told.setText(f"{self._quantity.title}{self._unit} · {problem_line(self.problem)}")
        self._show_state()

    def _take(self, asked: CutsToTime, timed: CutTimes) -> None:
        if asked.backend != "cpu":
            return
        self._tried.take_timed(asked.problem, timed)
        self._draw()

    def _take_end(self, asked: CutRequest, ended: CutsEnded) -> None:
        if isinstance(asked, CutsToTime) and asked.backend == "cpu":
            self._source[asked.problem] = ended
            self._draw()
            landscape = self._tried.end(ended)
            if landscape is not None:
                self.made.emit(landscape)

    def _forget(self) -> None:
        """What was timed is not known of the device that is in use now."""
        self._tried.forget()
        self._source.clear()
        self._draw()
        self._show_state()

    def _show_progress(self, done: int, total: int) -> None:
        self.bar.setRange(0, total)
        self.bar.setValue(done)

    def _show_state(self) -> None:
        """Offer to stop while tiles are timed, else to time them; keep sweeps away meanwhile."""
        timing, why = self._timing, self._why_not()
        if timing != self._occupies:
            self._occupies = timing
            self.bar.setRange(0, 0)
            self._controller.occupy(self, BEING_TIMED if timing else "")
        self.time.setVisible(not timing)
        self.time.setEnabled(not why)
        set_tip(self.time, why or TIP)
        for part in (self.stop, self.bar):
            part.setVisible(timing)
        self.progress.setText("Each tile in turns with all others …" if timing else self._told_source())

    def _why_not(self) -> str:
        """Why nothing can be timed now; empty: something can."""
        if self._occupies:
            return ""
        return BEING_COMPILED if self._controller.cuts.asked else why_not_beside(self._controller)

    def _told_source(self) -> str:
        """What timed them, where and how; empty where nothing did."""
        ended = self._landscape or self._source.get(self.problem)
        if ended is None or ended.device is None:
            return ""
        return f"{ended.device.name}, {ended.timer}, cold cache, medians of {ROUNDS} rounds"


def _lines(cell: TileCell) -> Sequence[Sequence[ExportCell]]:
    """A line for each run; one for a tile without any."""
    tile = (cell.cut.block_q, cell.cut.block_k, cell.nbytes)
    runs = [
        (*tile, number, ms, int(timed.anew), "")
        for timed in cell.times
        if timed is not None
        for number, ms in enumerate(timed.ms)
    ]
    return runs or [(*tile, None, None, None, " ".join(cell.refused))]
