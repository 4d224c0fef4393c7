"""The Ranks page: efficiency and memory of each scheme over N, what each rank did when, and what is right."""

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from flashscope.app.control.actions import Action, staged
from flashscope.app.control.bundled import ranks_recording
from flashscope.app.control.controller import Controller
from flashscope.app.control.guard import guarded
from flashscope.app.figures.scheme_curves import efficiency_curves, memory_curves
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.pages.base import Page
from flashscope.app.pages.compare.table import ListTable
from flashscope.app.pages.ranks.cards import RankLanesCard, SchemeCard, SchemeWords
from flashscope.app.pages.ranks.columns import MODEL, WIDTHS, PassRow, pass_columns
from flashscope.app.pages.ranks.staging import RanksStaging
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.empty_view import EmptyView
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.words.ranks import (
    HOW_TO_MEASURE,
    WHAT_RANKS_ARE,
    beside_model_text,
    by_kind,
    model_text,
    notes_of,
    refusals_of,
    sentence_of,
    where_text,
)
from flashscope.app.words.results.provenance_header import session_header
from flashscope.profiles.results.model.ranks import (
    ModelledPass,
    RanksPass,
    beside_of,
    best_of,
    modelled,
    passes_of,
)
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.events import Event, RanksReady
from flashscope.profiles.wire.ranks import RanksResult

SENTENCE_PX = 320  # of the sentence beside the box, at least
FULL = 1  # the place of what is shown where there are results
BESIDE_PX = 900  # the plots stand beside one another from this width on
TABLE_PX = 150  # of the table's height, at least
SWITCHES = "Memory of a rank", "Lanes of each rank", "Efficiency over N"  # what each plot leads to
TURN = "Show the next plot on the stage: efficiency, memory, lanes"
RECORDED = "ranks.recorded"
OPEN_RECORDED = "Open the recording of attention on two and four H100"


class _Full(QWidget):
    """What is shown where there are results."""

    @guarded(bool)
    def hasHeightForWidth(self) -> bool:
        """No: its words would make the page as high as its plots would like to be."""
        return False


class RanksPage(Page):
    """A sentence over three plots and a table, whose row chooses the pass of the lanes.

    Attributes:
        passes: What is on show: those that differ in scheme and N alone.
    """

    key = "ranks"

    def __init__(self, controller: Controller, theme: Theme) -> None:
        super().__init__(controller, theme)
        self.setObjectName("page")
        self.passes: list[RanksPass] = []
        self._results: Sequence[RanksResult] = ()
        self._modelled: Sequence[ModelledPass] = ()
        self._kinds: dict[str, list[RanksPass]] = {}
        self.sentence, self.notes = PlainLabel(wordWrap=True), PlainLabel(wordWrap=True)
        self.kinds, self.stack = DropDown(), QStackedWidget()
        self.efficiency = SchemeCard(
            SchemeWords(
                "Efficiency against one device at the same N", "share", "what the mask allows", whole=1.0
            ),
            self._header,
            theme,
        )
        self.memory = SchemeCard(
            SchemeWords("Memory of a rank", "bytes", "an nth of the tensors, by formula"), self._header, theme
        )
        self.lanes = RankLanesCard(self._header, theme)
        self.table = ListTable("Passes on several ranks", pass_columns(), WIDTHS, spread=True)
        self._lay_out()
        self.switches: Sequence[QWidget] = self._switches()
        tools = [card.export_button for card in self.cards]
        aside = [self.sentence, self.kinds, self.table, self.notes, *tools]
        self._one_plot = self.staging = RanksStaging(self, controller, aside)
        self.kinds.currentIndexChanged.connect(lambda _place: self._show_kind())
        self.table.picked.connect(lambda number: self.lanes.show_pass(self.passes[number]))
        controller.events_arrived.connect(self._take_events)
        self.let_export(card.export_button.exporter for card in self.cards)
        self.show_session(controller.session)

    def _lay_out(self) -> None:
        self.sentence.setProperty("role", "title")
        self.sentence.setAccessibleName("What several ranks reach")
        self.notes.setProperty("role", "dim")
        self.kinds.setAccessibleName("Pass, mask and ranks on show")
        self._plots = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._plots.setSpacing(8)
        for card in self.cards:
            self._plots.addWidget(card, 1)
        full = _Full()
        column = self._column = QVBoxLayout(full)
        column.setContentsMargins(12, 8, 12, 10)
        column.setSpacing(8)
        column.addWidget(Lines((self.sentence, self.kinds), (self.sentence,), 8))
        column.addLayout(self._plots, 3)
        column.addWidget(self.table, 2)
        column.addWidget(self.notes)
        self.empty = EmptyView(WHAT_RANKS_ARE, HOW_TO_MEASURE)
        recorded = text_button("Open recorded: two and four H100", OPEN_RECORDED, self.open_recorded)
        self.open_button = does(recorded, RECORDED)
        if ranks_recording() is not None:
            self.empty.add(self.open_button)
        self.stack.addWidget(self.empty)
        self.stack.addWidget(full)
        keep(self.sentence, self.sentence.setMinimumWidth, SENTENCE_PX)
        keep(self.table, self.table.setMinimumHeight, TABLE_PX)
        outer = QHBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.stack)

    def _switches(self) -> list[QPushButton]:
        """In the header of each card a button that leads to the next one, where a stage shows one alone."""
        made = []
        for card, text in zip(self.cards, SWITCHES, strict=True):
            button = does(text_button(text, f"Show: {text}", self.turn, "link"), "ranks.turn")
            button.hide()
            card.header.insertWidget(card.header.count() - 1, button)
            made.append(button)
        return made

    @property
    def kind(self) -> str:
        """Pass, mask and ranks on show, in words."""
        return self.kinds.currentText()

    def show_like(self, words: str) -> None:
        """Show the first kind that has all these words, between commas; none has: what is on show stays."""
        wanted = set(filter(None, words.split(", ")))
        meant = [kind for kind in self._kinds if wanted <= {*kind.split(", ")}]
        if wanted and meant and self.kind not in meant:
            self.kinds.setCurrentText(meant[0])

    @property
    def cards(self) -> tuple[SchemeCard, SchemeCard, RankLanesCard]:
        """The plots."""
        return self.efficiency, self.memory, self.lanes

    def actions_offered(self) -> list[Action]:
        """What a user can do here."""
        return [
            *staged(
                Action("ranks.next", "Choose the next pass and mask", self._step(1), "Ranks", "Alt+Right"),
                Action(
                    "ranks.before", "Choose the pass and mask before", self._step(-1), "Ranks", "Alt+Left"
                ),
                Action("ranks.turn", TURN, self.turn, "Ranks", "M", possible=lambda: self.staging.on),
            ),
            Action(RECORDED, OPEN_RECORDED, self.open_recorded, "Ranks"),
        ]

    @guarded(QSize)
    def minimumSizeHint(self) -> QSize:
        """As narrow as one of its plots: they go under one another; as high as its words are at its width.

        Without results the plots, which are not to be seen, take no room.
        """
        wide = self.efficiency.minimumSizeHint().width() + px(24)
        if self.stack.currentIndex() != FULL:
            return QSize(wide, self.empty.minimumSizeHint().height())
        least, words = super().minimumSizeHint().height(), self._column.minimumHeightForWidth(self.width())
        return QSize(wide, max(least, words))

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the plots beside one another, or under."""
        super().resizeEvent(event)
        beside = self.width() >= px(BESIDE_PX)
        self._plots.setDirection(
            QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        )
        if event.oldSize().width() != self.width():
            self.updateGeometry()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        super().apply_theme(theme)
        for card in self.cards:
            card.apply_theme(theme)

    def show_session(self, session: Session | None) -> None:
        """Show another session's results, or how to have some."""
        self._results = list(session.ranks) if session else ()
        self._modelled = modelled(self._results)
        self._kinds = by_kind(passes_of(self._results))
        self.kinds.blockSignals(True)
        self.kinds.clear()
        self.kinds.addItems(list(self._kinds))
        self.kinds.setCurrentIndex(0)
        self.kinds.blockSignals(False)
        self.stack.setCurrentIndex(FULL if self._results else 0)
        self.updateGeometry()
        self._show_kind()

    def open_recorded(self) -> None:
        """Show what comes with the program, if this copy has it."""
        path = ranks_recording()
        if path is not None:
            self.file_chosen.emit(path)

    def turn(self) -> None:
        """On a stage, bring the next plot to the front."""
        self._one_plot.turn()

    def _take_events(self, events: Sequence[Event]) -> None:
        if any(isinstance(event, RanksReady) for event in events):
            self.show_session(self.controller.session)

    def _show_kind(self) -> None:
        """Draw the passes of the chosen kind, and the lanes of the best."""
        self.passes = self._kinds.get(self.kind, [])
        told = sentence_of(self.passes)
        self.sentence.setText(told)
        beside = [one for one in self._modelled if one.told in self.passes]
        self.efficiency.show_curves(efficiency_curves(self.passes, beside), told, beside_model_text(beside))
        self.memory.show_curves(memory_curves(self.passes), "")
        self.table.list.set_rows([PassRow(one, beside_of(one.measured, beside)) for one in self.passes])
        self.table.setColumnHidden(MODEL, not beside)
        best = best_of(self.passes) or next(iter(self.passes), None)
        self.lanes.show_pass(best)
        if best is not None:
            self.table.show_number(self.passes.index(best))
        chosen = [result for result in self._results if any(one.asked is result.asked for one in self.passes)]
        notes = [f"{where_text(chosen)}."] if self.passes else []
        everything = passes_of(self._results)
        notes += [*notes_of(self.passes, everything), *refusals_of(self._results), model_text(self.passes)]
        self.notes.setText(" ".join(filter(None, notes)))
        self.staging.changed.emit()

    def _header(self) -> Mapping[str, str]:
        session = self.controller.session
        told = {} if session is None else session_header(session)
        return told | {"problem": self.kind}

    def _step(self, by: int) -> Callable[[], None]:
        def go() -> None:
            if self._kinds:
                self.kinds.setCurrentIndex((self.kinds.currentIndex() + by) % len(self._kinds))

        return go
