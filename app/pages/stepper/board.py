"""The cards of the Stepper and the panels in them, laid out so that nothing is clipped at 1280 x 720."""

from collections.abc import Sequence

from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.pages.stepper.arranging import GAP, let_go_of, row_of, staged
from flashscope.app.pages.stepper.mode_board import ModeBoard
from flashscope.app.pages.stepper.panel_card import PanelCard
from flashscope.app.plots.stepper.code_panel import CodePanel
from flashscope.app.plots.stepper.formula_panel import FormulaPanel
from flashscope.app.plots.stepper.heatmap import CellIndex, Heatmap, ScoreHeatmap, WeightHeatmap
from flashscope.app.plots.stepper.memory_panel import MemoryPanel
from flashscope.app.plots.stepper.naive_panel import NaivePanel
from flashscope.app.plots.stepper.panel import Panel
from flashscope.app.plots.stepper.row_chart import ROW_CHARTS, MaximumChart, OutputChart, RowChart
from flashscope.app.plots.stepper.tile_map import TileMap
from flashscope.app.plots.style import stands_still
from flashscope.app.stage.story import PANELS
from flashscope.app.stepper.merging import addition_words
from flashscope.app.stepper.step_view import StepView
from flashscope.app.widgets.paint_turns import PaintTurns, nothing
from flashscope.app.widgets.plain import escaped
from flashscope.app.words.inside.tracing import broken, page_words, row_words
from flashscope.app.words.plain import MOST_OF_NAME, cut_short
from flashscope.profiles.results.model.curves import mask_words

WIDTHS = (920, 640, 480)  # pixels that the cards need side by side, three in a row, two in a row
STAGED = ("formulas", "scores")
CHART_TITLES = {"MaximumChart": "max m", "SumChart": "sum ℓ", "FactorChart": "rescale α"}


class StepperBoard(ModeBoard):
    """The mode Blocks: all panels over one trace."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.tiles, self.scores, self.weights = TileMap(theme), ScoreHeatmap(theme), WeightHeatmap(theme)
        self.formulas, self.code = FormulaPanel(theme), CodePanel(theme)
        self.memory, self.naive = MemoryPanel(theme), NaivePanel(theme)
        self.charts: tuple[RowChart, ...] = tuple(chart(theme) for chart in ROW_CHARTS)
        self.panels: tuple[Panel, ...] = (
            self.tiles,
            self.scores,
            self.weights,
            self.formulas,
            self.memory,
            *self.charts,
            self.code,
            self.naive,
        )
        self._named = dict(zip(PANELS, self.panels, strict=True))
        self._cards = {panel: PanelCard(panel, name) for name, panel in self._named.items()}
        self._turns = PaintTurns(self, dict.fromkeys(self.panels, nothing))
        self._alone: QWidget | None = None
        self._across = -1  # pixels at 100 % that the rows on show need
        self._outer = QVBoxLayout(self)
        self._outer.setContentsMargins(0, 0, 0, 0)
        self._outer.setSpacing(GAP)
        keep(self, self._arrange)
        self._connect()

    def show_view(self, view: StepView) -> None:
        """Show a step in every panel."""
        for panel in self.panels:
            panel.show_view(view)
        self._write_titles(view)

    def paint_in_turns(self) -> None:
        """Paint one panel after the other."""
        self._turns.start_covered()

    @property
    def cards(self) -> Sequence[PanelCard]:
        """What each panel stands on."""
        return [*self._cards.values()]

    @property
    def shown(self) -> list[QWidget]:
        """The cards of the panels that a stage shows, of all without one."""
        return [self._cards[self._named[name]] for name in self.only] or [*self._cards.values()]

    def show_only(self, names: Sequence[str]) -> None:
        """Show these panels alone, the first one largest; without names all of them."""
        self.only, self._across = tuple(names), -1
        self.fill_with(None)

    def take_stage(self, panels: Sequence[str]) -> None:
        """Show these panels alone, or what tells most of a step."""
        self.show_only(panels or STAGED)

    def leave_stage(self) -> None:
        """Show every panel."""
        self.show_only(())

    def take_limit(self, nbytes: int | None) -> None:
        """Draw what is on the chip against this much room."""
        self.memory.limit = nbytes
        self.memory.update()

    def fill_with(self, card: QWidget | None) -> None:
        """Let one of the cards have all the room; None: they share it."""
        self._alone, self._across = card, -1
        self._arrange()

    def apply_theme(self, theme: Theme) -> None:
        """Repaint every panel in other colours."""
        for panel in self.panels:
            panel.apply_theme(theme)
            if panel.view is not None:
                self._write_titles(panel.view)

    def words(self) -> str:
        """All panels in words, one a line."""
        return "\n".join(panel.accessibleDescription() for panel in self.panels)

    def _arrange(self) -> None:
        """Put fewer cards into a row where they have no room."""
        across = next((width for width in WIDTHS if self.width() >= px(width)), 0)
        if across == self._across:
            return
        self._across = across
        let_go_of(self._outer)
        shown = [self._alone] if self._alone is not None else self.shown
        if self.only:
            self._outer.addLayout(staged(shown))
        elif across == WIDTHS[0]:
            self._outer.addLayout(self._side_by_side())
        for panels in () if self.only else self._rows().get(across, ()):
            self._outer.addLayout(row_of([self._cards[panel] for panel in panels], (1,) * len(panels)))
        for card in self._cards.values():
            card.setVisible(card in shown)

    def _rows(self) -> dict[int, tuple[tuple[Panel, ...], ...]]:
        """Which panels share a row, by the width that this needs in pixels."""
        alone = (self.memory,), (self.code,), (self.naive,)
        halves = self.charts[:2], self.charts[2:]
        heatmaps = self.scores, self.weights
        return {
            WIDTHS[1]: (
                (self.tiles, *heatmaps),
                (self.formulas, self.code),
                (self.memory,),
                self.charts,
                (self.naive,),
            ),
            WIDTHS[2]: (heatmaps, (self.tiles, self.formulas), *alone, *halves),
            0: ((self.tiles,), (self.scores,), (self.weights,), (self.formulas,), *alone, *halves),
        }

    def _side_by_side(self) -> QGridLayout:
        top = row_of([self._cards[p] for p in (self.tiles, self.scores, self.weights)], (24, 38, 38))
        charts = row_of([self._cards[chart] for chart in self.charts], (1, 1, 1, 1))
        left, right = QVBoxLayout(), QVBoxLayout()
        for column in (left, right):
            column.setSpacing(GAP)
        left.addWidget(self._cards[self.memory], 44)
        left.addLayout(charts, 56)
        right.addWidget(self._cards[self.code], 66)
        right.addWidget(self._cards[self.naive], 34)
        grid = QGridLayout()
        grid.setSpacing(GAP)
        grid.addLayout(top, 0, 0)
        grid.addWidget(self._cards[self.formulas], 0, 1)
        grid.addLayout(left, 1, 0)
        grid.addLayout(right, 1, 1)
        for index, stretch in enumerate((66, 34)):
            grid.setColumnStretch(index, stretch)
        for index, stretch in enumerate((42, 58)):
            grid.setRowStretch(index, stretch)
        return grid

    def _connect(self) -> None:
        self.tiles.tile_chosen.connect(self.tile_chosen)
        for heatmap in (self.scores, self.weights):
            heatmap.row_chosen.connect(self.row_chosen)
            heatmap.cell_hovered.connect(self._light)

    def _light(self, cell: CellIndex | None) -> None:
        if stands_still(self):
            cell = None
        heatmaps: Sequence[Heatmap] = (self.scores, self.weights)
        for heatmap in heatmaps:
            heatmap.set_hovered(cell)
        if self.scores.view is not None:
            self._write_titles(self.scores.view)

    def _write_titles(self, view: StepView) -> None:
        step, recording = view.step, view.recording
        in_tile = view.started and not step.merges
        tile = f"<sub>{step.i},{step.j}</sub>" if in_tile else ""
        top = "m̃" if view.local_max else "m′"
        problem = recording.trace.request.problem
        blocks = escaped(cut_short(problem.block_mask.words, MOST_OF_NAME)) if problem.block_mask else ""
        mask = mask_words(causal=problem.causal, window=problem.window, blocks=blocks)
        asked = recording.request
        self._cards[self.tiles].write("Tiles", " · ".join(filter(None, (f"{recording.order} order", mask))))
        twice = in_tile and recording.computed_twice(step.tile).any()
        weighed = f"exp(S − {top}){', computed twice' * bool(twice)}"
        pages = page_words(recording.trace, step.j) if in_tile else ""
        beside = ", ".join(filter(None, ("row maximum ringed" if not step.merges else "", pages)))
        self._cards[self.scores].write(f"Scores S{tile}", self.scores.readout() or beside)
        self._cards[self.weights].write(f"Weights P{tile}", self.weights.readout() or weighed)
        where = f", tile j = {step.j}" if view.local_row is not None else ""
        name = row_words(asked, view.row)
        if step.merges:
            where = f", {addition_words(recording, step.addition)}"
        dims = "component 0 of O" if recording.value_dim > 1 else ""
        self._cards[self.formulas].write(f"{name[:1].upper()}{name[1:]}{where}", dims)
        self._cards[self.memory].write("Memory", "bytes by tile, model")
        step_of = f"step {view.cursor.at} of {view.cursor.last}"
        self._cards[self.code].write(broken(recording.fault) or "Algorithm", step_of)
        self._cards[self.naive].write("Naive against online", self.naive.verdict(view))
        for chart in self.charts:
            self._cards[chart].write(self._chart_title(chart, view), chart.readout(view))

    def _chart_title(self, chart: RowChart, view: StepView) -> str:
        if isinstance(chart, OutputChart):
            component = "<sub>0</sub>" if view.recording.value_dim > 1 else ""
            if view.recording.normalised:
                return f"output O{component}"
            return f"output Ō{component} / ℓ"
        if isinstance(chart, MaximumChart) and view.history.rises.any():
            return "max m ▲"
        return CHART_TITLES[type(chart).__name__]
