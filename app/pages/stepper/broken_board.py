"""The mode Broken: the trace on show beside the same one with a fault that the user chooses."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.pages.stepper.fault_pair import FaultPair
from flashscope.app.pages.stepper.mode_board import ModeBoard
from flashscope.app.plots.stepper.distance_panel import DistancePanel
from flashscope.app.plots.stepper.pair_charts import PAIR_CHARTS, PairChart
from flashscope.app.plots.stepper.pair_table import PairTable
from flashscope.app.plots.stepper.panel import Panel
from flashscope.app.stage.numbers import raised
from flashscope.app.stepper.cursor import Cursor
from flashscope.app.stepper.lesson import at_the_end, of_all, of_row, rescaled
from flashscope.app.stepper.numbers import plain
from flashscope.app.stepper.step_view import SteppedTrace, StepView
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import FormulaLabel, PlainLabel, plain_tip, set_tip, strong
from flashscope.app.widgets.term_label import TermBox, TermFormula
from flashscope.app.words.inside.faults import WORDS
from flashscope.app.words.inside.tracing import broken
from flashscope.kernels.workload.trace import FAULTS, Fault, Trace

GAP = 8  # pixels
WIDE = 900  # pixels from which on the lesson stands beside the panels
NARROW = 680  # pixels below which each panel has a line of its own
ROW_SHARES = 56, 44  # of the height
LESSON_SHARE = 34  # of the room
SENTENCE = 320  # pixels that what a fault does has at least
RECORDING = "Recording the broken trace …"
NOT_RECORDED = "The broken trace could not be recorded."
SHOWS, HIDDEN = "The fault shows", "The fault does not show"
HEADS = ("This row", "All rows", "At the end", "Rescales")
CHART_TITLES = ("max m", "sum ℓ", "output O")


class BrokenBoard(ModeBoard):
    """Right and broken at the same step of the row watched, and what the fault does in all.

    Attributes:
        pair: Both traces.
        faults: The choice of the fault.
        first: Leads to the first wrong tile.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.told = ""
        self._view: StepView | None = None
        self._theme = theme
        self._refused = False  # one of the traces
        self._goes = False  # to the first wrong tile, once both traces are there
        self.pair = FaultPair(self)
        self.faults = TermBox("Fault", "What the broken trace gets wrong")
        for fault in FAULTS:
            self.faults.addItem(WORDS[fault].title, fault)
            self.faults.setItemData(
                self.faults.count() - 1, plain_tip(WORDS[fault].does), Qt.ItemDataRole.ToolTipRole
            )
        self.first = does(
            text_button("First wrong tile", "Go to the first wrong tile", self.go_to_first_wrong),
            "stepper.first_wrong",
        )
        set_tip(self.first, "Go to the first tile after which the broken answer is beyond what passes")
        for control in (self.faults, self.first):
            control.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.does = PlainLabel(wordWrap=True)
        self.table, self.distance = PairTable(theme), DistancePanel(theme)
        self.charts: tuple[PairChart, ...] = tuple(chart(theme) for chart in PAIR_CHARTS)
        self.panels: tuple[Panel, ...] = (self.table, self.distance, *self.charts)
        self._cards = {panel: _card(panel) for panel in self.panels}
        self.lines = [_line() for _ in range(4)]
        self._lesson = Card("…", "…", label=TermFormula)
        self._rows = tuple(QBoxLayout(QBoxLayout.Direction.LeftToRight) for _ in ROW_SHARES)
        self._staged = False
        self._lay_out()
        self._connect()

    @property
    def cards(self) -> Sequence[Card]:
        """What each panel stands on, and the lesson."""
        return [*self._cards.values(), self._lesson]

    @property
    def shown(self) -> Sequence[QWidget]:
        """Those that are on show."""
        return [card for card in self.cards if not card.isHidden()]

    @property
    def beside(self) -> str:
        """The fault by name."""
        shown = self._view
        if shown is not None and shown.recording.fault:
            return "the right one"
        return broken(self.pair.fault)

    @property
    def fault(self) -> Fault:
        """What the broken trace gets wrong."""
        return self.pair.fault

    @property
    def settled(self) -> bool:
        """Whether both traces are there, or one could not be recorded."""
        return self.pair.comparison is not None or self._refused

    def show_view(self, view: StepView) -> None:
        """Show a step of both traces."""
        self._view = view
        self.pair.show_story(view.story)
        if not self._refused:
            self.pair.ask()  # what is asked for on show drops what was wanted beside it
        self._show()

    def words(self) -> str:
        """The panels and the lesson in words, one a line."""
        told = [panel.accessibleDescription() for panel in self.panels]
        return "\n".join([broken(self.pair.fault), self.does.text(), *told, *map(_bare, self.lines)])

    def apply_theme(self, theme: Theme) -> None:
        """Repaint every panel in other colours."""
        self._theme = theme
        for panel in self.panels:
            panel.apply_theme(theme)
        self._show()

    def result(self, view: StepView) -> str:
        """How far the broken answer is off; it is there from the first step on."""
        del view
        both = self.pair.comparison
        return at_the_end(both).partition(":")[0] if both is not None else ""

    def role(self, view: StepView) -> str:
        """Bad where the check refuses the broken answer."""
        del view
        both = self.pair.comparison
        return "dim" if both is None else "ok" if both.verdict.passed else "error"

    def sentence(self, view: StepView) -> str:
        """What becomes of the row, for a stage."""
        both = self.pair.comparison
        told = raised(of_row(both, view.row)) if both is not None else RECORDING
        return f"{broken(self.pair.fault)}. {told}"

    def take_beside(self, trace: Trace | None) -> None:
        """Take one of the two traces, or say that there will be none."""
        if trace is not None:
            self.pair.take(trace)
        elif self.pair.comparison is None and self.isVisible():  # else another mode had wanted it
            self._refused = True
            self._write((NOT_RECORDED, "", "", ""))

    def take_fault(self, fault: Fault) -> None:
        """Break it in this way."""
        self.faults.setCurrentIndex(FAULTS.index(fault))

    def go_to_first_wrong(self) -> None:
        """Go to the first wrong tile of the row watched; where it has none, to that of all rows."""
        both, view = self.pair.comparison, self._view
        self._goes = both is None
        if both is None or view is None:
            return
        wrong = both.row(view.row).first_wrong or both.first_wrong
        if wrong is None:
            return
        self.tile_chosen.emit(wrong.t)  # first: a row that follows is at its place in the block on show
        if wrong.row != view.row:
            self.row_sought.emit(wrong.row)

    def take_stage(self, panels: Sequence[str]) -> None:
        """Show what tells most: the state of the row, its distance from the truth, and how it ends."""
        del panels
        self._take_stage(on=True)

    def leave_stage(self) -> None:
        """Show all of it."""
        self._take_stage(on=False)

    def fill_with(self, card: QWidget | None) -> None:
        """Let one of the cards have all the room; None: they share it."""
        for one in self.cards:
            one.setVisible(one is card if card is not None else True)
        if card is None:
            self._arrange()

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        """Ask for what is missing now that somebody looks."""
        super().showEvent(event)
        self._refused = False
        self.pair.ask()

    def _lay_out(self) -> None:
        bar = Lines((self.faults, self.first, self.does), (self.does,), GAP)
        self._lesson.body.addSpacing(GAP)
        for line in self.lines:
            self._lesson.body.addWidget(line)
        self._lesson.body.addStretch(1)
        self._lesson.body.setSpacing(12)
        self._panels = QVBoxLayout()
        self._panels.setSpacing(GAP)
        for row, share in zip(self._rows, ROW_SHARES, strict=True):
            row.setSpacing(GAP)
            self._panels.addLayout(row, share)
        top, below = self._rows
        for chart in self.charts:
            below.addWidget(self._cards[chart], 1)
        top.addWidget(self._cards[self.table], 38)
        top.addWidget(self._cards[self.distance], 62)
        self._body = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._body.setSpacing(GAP)
        self._body.addLayout(self._panels, 100 - LESSON_SHARE)
        self._body.addWidget(self._lesson, LESSON_SHARE)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(GAP)
        outer.addWidget(bar)
        outer.addLayout(self._body, 1)
        keep(self, self._arrange)
        keep(self.does, self.does.setMinimumWidth, SENTENCE)

    def _connect(self) -> None:
        self.faults.currentIndexChanged.connect(lambda index: self.pair.choose(FAULTS[index]))
        self.pair.changed.connect(self._take_pair)
        self.pair.wanted.connect(self._want)
        self.distance.tile_chosen.connect(self.tile_chosen)

    def _want(self, request: object) -> None:
        """Have it recorded if somebody looks."""
        if self.isVisible():
            self.beside_wanted.emit(request)

    def _take_pair(self) -> None:
        self._refused = False
        self.faults.choose_quietly(FAULTS.index(self.pair.fault))
        self._show()
        self.changed.emit()
        if self._goes and self.pair.comparison is not None:
            self.go_to_first_wrong()

    def _show(self) -> None:
        view, both, words = self._view, self.pair.comparison, WORDS[self.pair.fault]
        self.does.setText(f"{words.does} {words.note}".rstrip())
        if view is None:
            return
        right = _stepped(both.right, view) if both is not None else view
        wrong = _stepped(both.broken, view) if both is not None else None
        self.table.show_pair(right, wrong)
        for chart in self.charts:
            chart.show_pair(right, wrong)
        self.distance.show_row(right, both.row(right.row) if both is not None else None)
        self.first.setEnabled(both is not None and bool(both.row(right.row).first_wrong or both.first_wrong))
        self._write_titles(right)
        if both is None:
            self._write((NOT_RECORDED if self._refused else RECORDING, "", "", ""))
        else:
            counted = [
                rescaled(both.rescales_of(right.row), f"Row {right.row}"),
                rescaled(both.rescales, "All rows") if right.recording.seqlen_q > 1 else "",
            ]
            told = of_all(both), at_the_end(both)
            if self._staged:  # what becomes of the row stands above
                self._write(("", "", told[1], ""))
            else:
                self._write((of_row(both, right.row), *told, "<br>".join(counted)))

    def _write(self, told: Sequence[str]) -> None:
        for head, line, text in zip(HEADS, self.lines, told, strict=True):
            plain_text = self._staged or self.pair.comparison is None
            line.setText(text if plain_text else f"{strong(head)}<br>{text}")
            line.setVisible(bool(text))

    def _write_titles(self, view: StepView) -> None:
        where = f", tile j = {view.step.j}" if view.local_row is not None else ""
        dims = "component 0 of O" if view.recording.value_dim > 1 and not self._staged else ""
        self._title(self._cards[self.table], f"Row {view.row}{where}", dims)
        dot, cross = (f'<span style="color:{ink}">' for ink in (self._theme.accent, self._theme.error))
        dtype = view.recording.trace.request.problem.dtype
        passes = "passes" if self._staged else f"passes in {dtype}"
        key = f"{dot}●</span> right &nbsp; {cross}×</span> broken &nbsp; ┅ {passes}"
        self._title(self._cards[self.distance], "Distance of O so far", key)
        for chart, title in zip(self.charts, CHART_TITLES, strict=True):
            self._title(self._cards[chart], title, chart.readout(view))
        both = self.pair.comparison
        shows = "" if both is None else HIDDEN if both.verdict.passed else SHOWS
        head = ("", "") if self._staged else (broken(self.pair.fault), shows)  # the sentence says both
        self._title(self._lesson, *head)

    @staticmethod
    def _title(card: Card, title: str, unit: str) -> None:
        if card.property("stepperTitle") != (title, unit):
            card.setProperty("stepperTitle", (title, unit))
            card.set_title(title)
            card.set_unit(unit)

    def _take_stage(self, *, on: bool) -> None:
        self._staged = on
        shares = (1, 0) if on else ROW_SHARES  # on a stage no chart stands in the second row
        for row, share in zip(self._rows, shares, strict=True):
            self._panels.setStretchFactor(row, share)
        self._body.setStretchFactor(self._lesson, 0 if on else LESSON_SHARE)
        self.fill_with(None)
        self._show()

    def _arrange(self) -> None:
        """Put the lesson where there is room, and charts and controls away on a stage."""
        self._body.setDirection(_direction(beside=self.width() >= px(WIDE)))
        for row in self._rows:
            row.setDirection(_direction(beside=self._staged or self.width() >= px(NARROW)))
        for part in (self.faults, self.first, *(self._cards[chart] for chart in self.charts)):
            part.setVisible(not self._staged)


def _direction(*, beside: bool) -> QBoxLayout.Direction:
    return QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom


def _stepped(story: SteppedTrace, view: StepView) -> StepView:
    """The same step and row of another trace of the same tiles."""
    if story.recording.trace is view.recording.trace:
        return view
    return StepView(story, Cursor(view.story.timeline, view.cursor.at).on(story.timeline), view.choice)


def _card(panel: Panel) -> Card:
    card = Card("…", "…", label=TermFormula)
    card.body.addWidget(panel, 1)
    return card


def _line() -> FormulaLabel:
    line = FormulaLabel()
    line.setWordWrap(True)
    line.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
    return line


def _bare(line: FormulaLabel) -> str:
    return plain(line.text())
