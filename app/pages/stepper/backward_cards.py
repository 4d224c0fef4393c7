"""The panels of a backward pass on their cards: what they say, and where they stand."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.pages.stepper.arranging import GAP, let_go_of, row_of, staged
from flashscope.app.pages.stepper.panel_card import PanelCard
from flashscope.app.plots.stepper.backward_panels import (
    NAMES,
    BackwardCode,
    BackwardFormulas,
    BackwardTiles,
    PairCells,
    SumCells,
)
from flashscope.app.plots.stepper.cells import CellIndex
from flashscope.app.plots.stepper.panel import PanelOf
from flashscope.app.plots.style import stands_still
from flashscope.app.stepper.backward.code import D
from flashscope.app.stepper.backward.recording import SUMS
from flashscope.app.stepper.backward.view import BackwardView
from flashscope.app.widgets.paint_turns import PaintTurns, nothing
from flashscope.app.widgets.plain import escaped
from flashscope.app.words.inside.tracing import backward_words

WIDE, HALF = 920, 480  # pixels that the cards need side by side, and two in a row
NOTES = {"p": "exp(S − L)", "dp": "dO V<sup>T</sup>", "ds": "P ∘ (dP − δ)"}


class BackwardCards(QWidget):
    """All panels over one step.

    Attributes:
        panels: In the order of their cards.
        cards: What each stands on.

    Signals:
        tile_chosen: A tile was clicked (its index in the order in which they are told).
        pair_chosen: A pair was clicked ((row, key) in the tile).
    """

    tile_chosen = Signal(int)
    pair_chosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.tiles = BackwardTiles(theme)
        self.pairs = tuple(PairCells(theme, name) for name in NAMES)
        self.sums = tuple(SumCells(theme, name) for name in reversed(SUMS))
        self.formulas, self.code = BackwardFormulas(theme), BackwardCode(theme)
        self.panels: tuple[PanelOf[BackwardView], ...] = (
            *(self.tiles, *self.pairs, self.formulas),
            *(*self.sums, self.code),
        )
        names = ("tiles", *NAMES, "formulas", *reversed(SUMS), "code")
        self._card_of = {
            panel: PanelCard(panel, f"backward-{name}", _header)
            for panel, name in zip(self.panels, names, strict=True)
        }
        self._turns = PaintTurns(self, dict.fromkeys(self.panels, nothing))
        self._view: BackwardView | None = None
        self._alone: QWidget | None = None
        self._staged = False
        self._across = 0
        self._grid = QVBoxLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(GAP)
        self._connect()
        self._lay_out()

    @property
    def cards(self) -> Sequence[PanelCard]:
        """What each panel stands on."""
        return [*self._card_of.values()]

    @property
    def shown(self) -> Sequence[PanelCard]:
        """Those on show: on a stage the formulas, dS and dK, else all."""
        chosen = (self.formulas, self.pairs[2], self.sums[1]) if self._staged else self.panels
        return [self._card_of[panel] for panel in chosen]

    def take_stage(self, *, on: bool) -> None:
        """Show what tells most of a step, as large as there is room; or all again."""
        self._staged = on
        self.fill_with(None)

    def show_view(self, view: BackwardView) -> None:
        """Show a step in every panel."""
        self._view = view
        for panel in self.panels:
            panel.show_view(view)
        self._write_titles()

    def paint_in_turns(self) -> None:
        """Paint the panels of another trace one after the other: all at once take too long."""
        self._turns.start_covered()

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        """The same where nothing of them was in sight."""
        super().showEvent(event)
        self.paint_in_turns()

    def words(self) -> str:
        """All panels in words, one a line."""
        return "\n".join(panel.accessibleDescription() for panel in self.panels)

    def apply_theme(self, theme: Theme) -> None:
        """Repaint every panel in other colours."""
        for panel in self.panels:
            panel.apply_theme(theme)
        self._write_titles()

    def fill_with(self, card: QWidget | None) -> None:
        """Let one of the cards have all the room; None: they share it."""
        self._alone = card
        self._lay_out()

    def arrange(self, width: int) -> None:
        """Put fewer cards into a row where this width has no room, in pixels; it may not be on show yet."""
        across = next((needed for needed in (WIDE, HALF) if width >= px(needed)), 0)
        if across != self._across:
            self._across = across
            self._lay_out()

    def _connect(self) -> None:
        self.tiles.tile_chosen.connect(self.tile_chosen)
        for panel in self.pairs:
            panel.cell_hovered.connect(self._light)
            panel.pair_chosen.connect(self.pair_chosen)
        for one in self.sums:
            one.cell_hovered.connect(partial(self._light_sum, one))

    def _light(self, cell: CellIndex | None) -> None:
        if stands_still(self):
            cell = None
        for panel in self.pairs:
            panel.set_hovered(cell)
        self._write_titles()

    def _light_sum(self, panel: SumCells, cell: CellIndex | None) -> None:
        panel.set_hovered(None if stands_still(self) else cell)
        self._write_titles()

    def _write_titles(self) -> None:
        view = self._view
        if view is None:
            return
        cards, place = self._card_of, view.place
        trace = view.recording.trace
        where = f"<sub>{place.i},{place.j}</sub>" if view.started else ""
        head = f"head {place.head}" if trace.request.group > 1 else ""
        launch = "dQ’s launch" if view.recording.apart(view.tile) else "" if head else "keys outside"
        cards[self.tiles].write("Tiles", " · ".join(filter(None, (head, launch))))
        for panel in self.pairs:
            cards[panel].write(f"{NAMES[panel.name]}{where}", panel.readout() or NOTES[panel.name])
        row, key = view.pair
        query, number = view.area[0].start + row, view.area[1].start + key
        pair = f"Query {query}, key {number}" if view.started else "Formulas"
        cards[self.formulas].write(pair, "component 0 of the sums" if view.started else "")
        for one in self.sums:
            index = f"<sub>{place.i if one.name == 'dq' else place.j}</sub>" if view.started else ""
            so_far = "what this tile adds" if view.added else self._so_far(view, one)
            cards[one].write(f"{D[one.name]}{index}", one.readout() or so_far)
        cards[self.code].write(
            f"Algorithm of {escaped(trace.request.kernel)}", f"step {view.cursor.at} of {view.cursor.last}"
        )

    @staticmethod
    def _so_far(view: BackwardView, panel: SumCells) -> str:
        if not view.started or not view.recording.has(panel.name, view.tile):
            return ""
        whole = view.tile in view.recording.finishes[panel.name] and view.step.reached(panel.name)
        scale = "" if panel.name == "dv" else ", unscaled"
        return f"{'whole' if whole else 'so far'}{scale}"

    def _lay_out(self) -> None:
        let_go_of(self._grid)
        across, shown = self._across, self.shown
        if self._alone is not None:
            self._grid.addWidget(self._alone)
        elif self._staged:
            self._grid.addLayout(staged(shown))
        elif across == WIDE:
            self._grid.addLayout(_wide(shown))
        else:
            each = 2 if across else 1
            for first in range(0, len(shown), each):
                row = shown[first : first + each]
                self._grid.addLayout(row_of(row, (1,) * len(row)))
        for card in self.cards:
            card.setVisible(card is self._alone if self._alone is not None else card in shown)


def _wide(cards: Sequence[QWidget]) -> QGridLayout:
    """Tiles, P, dP and dS over dV, dK and dQ; the formulas and the algorithm at their right."""
    tiles, p, dp, ds, formulas, dv, dk, dq, code = cards
    grid = QGridLayout()
    grid.setSpacing(GAP)
    grid.addLayout(row_of((tiles, p, dp, ds), (22, 26, 26, 26)), 0, 0)
    grid.addLayout(row_of((dv, dk, dq), (1, 1, 1)), 1, 0)
    grid.addWidget(formulas, 0, 1)
    grid.addWidget(code, 1, 1)
    for index, stretch in enumerate((70, 30)):
        grid.setColumnStretch(index, stretch)
    for index in (0, 1):
        grid.setRowStretch(index, 1)
    return grid


def _header(view: BackwardView) -> dict[str, str]:
    """What recorded the trace, of what, and which step it is."""
    trace = view.recording.trace
    return {
        "device": trace.device,
        "recorded": trace.source,
        "problem": backward_words(trace.request),
        "step": f"{view.cursor.at} of {view.cursor.last}",
    }
