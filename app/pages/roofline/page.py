"""The Roofline page: what points reach under what their device reaches, and what binds the chosen one."""

from collections.abc import Collection, Sequence
from functools import partial
from typing import ClassVar

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QCloseEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QPushButton, QStackedWidget

from flashscope.app.control.actions import Action
from flashscope.app.control.chores import Chores
from flashscope.app.control.controller import Controller
from flashscope.app.control.guard import guarded
from flashscope.app.figures.series import kernels_of
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.pages.base import Page
from flashscope.app.pages.instead import LeadButton
from flashscope.app.pages.roofline.card import RooflineCard
from flashscope.app.pages.roofline.memories_card import MemoriesCard
from flashscope.app.pages.roofline.staging import RooflineStaging
from flashscope.app.pages.roofline.stops import fastest_first
from flashscope.app.pages.roofline.why_panel import WIDTH, WhyPanel
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.plain import set_tip
from flashscope.app.words.glossary import line_of
from flashscope.profiles.results.model.curves import Curve, by_curve, curve_with
from flashscope.profiles.results.model.rows import LiveRows, PointRow
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.theory.roofline import Roofline, Spot, roofline
from flashscope.profiles.wire.events import CeilingsMeasured, Event, PlanResumed, PointFailed, PointMeasured

BESIDE_PX = 460  # the plot needs so much for the panel to stand beside it
OUTCOMES = (CeilingsMeasured, PlanResumed, PointMeasured, PointFailed)
NOTHING = Roofline((), ())
TURN = "Show the device's memories, or the roofline"
TIPS = {
    "Memories": line_of("Memories"),
    "Roofline": "What the points reach under these rates.",
}


class RooflinePage(Page):
    """Draws the session on show, the problems of one curve at a time.

    Attributes:
        found: What is drawn.
        only: The kernels of a stop of a story, which alone are shown; of none of them: all are.

    Signals:
        drawn: Another roofline is on show.
    """

    key = "roofline"

    drawn = Signal()

    wide: ClassVar[int] = WIDTH + BESIDE_PX

    def __init__(self, controller: Controller, theme: Theme) -> None:
        super().__init__(controller, theme)
        self.setObjectName("page")
        self.found = NOTHING
        self.only: Collection[str] = ()
        self._rows: LiveRows | None = None  # of the session on show
        self._curves: dict[Curve, list[PointRow]] = {}
        self._curve: Curve | None = None
        self._stale = True
        self._chores = Chores(self)
        self.card, self.memories, self.why = RooflineCard(theme), MemoriesCard(theme), WhyPanel()
        self.shown = QStackedWidget()
        for card in (self.card, self.memories):
            self.shown.addWidget(card)
        self.lead = LeadButton("link")
        self.lead.view_chosen.connect(self.page_requested)
        self.switches: Sequence[QPushButton] = self._switches()
        self.card.header.insertWidget(self.card.header.indexOf(self.switches[0]), self.lead)
        staging = RooflineStaging(self, controller, (self.why, self.lead))
        self.drawn.connect(staging.tell_marks)
        self.staging = staging
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(12, 8, 12, 10)
        self._row.setSpacing(8)
        self._row.addWidget(self.shown, 1)
        self._row.addWidget(self.why)
        keep(self, self._place_panel)
        self._connect()
        self.show_session(controller.session)

    def _switches(self) -> list[QPushButton]:
        """In the header of each card a button that leads to the other one."""
        made = []
        for card, text in ((self.card, "Memories"), (self.memories, "Roofline")):
            button = does(text_button(text, f"Show: {text}", self.turn, "link"), "roofline.memories")
            set_tip(button, TIPS[text])
            card.header.insertWidget(card.header.count() - 1, button)
            self.setTabOrder(button, card.export_button)  # which stands right of it
            made.append(button)
        return made

    def _connect(self) -> None:
        self.controller.events_arrived.connect(self._take_events)
        self.controller.jumped.connect(self.refresh)
        self.controller.point_chosen.connect(self._follow_point)
        self.card.plot.picked.connect(self.controller.choose_point)
        self.card.kernels_hidden.connect(self._let_hide)
        self.controller.kernels_hidden.connect(lambda _hidden: self._hide())
        self.controller.curve_chosen.connect(self._follow_curve)
        self.let_export(card.export_button.exporter for card in (self.card, self.memories))

    @guarded(QSize)
    def minimumSizeHint(self) -> QSize:
        """As narrow as its widest part: the panel goes under the plot where there is no room beside it."""
        parts = self.card.minimumSizeHint(), self.why.minimumSizeHint()
        return QSize(max(part.width() for part in parts) + px(24), super().minimumSizeHint().height())

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the panel beside the plot, or under it."""
        super().resizeEvent(event)
        self._place_panel()

    def _place_panel(self) -> None:
        beside = self.width() >= px(self.wide)
        self._row.setDirection(
            QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        )
        self.why.setMaximumWidth(px(WIDTH) if beside else self.maximumWidth())

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        """Draw what has changed while another page was in front."""
        super().showEvent(event)
        if self._stale:
            self.refresh()

    @guarded()
    def closeEvent(self, event: QCloseEvent) -> None:
        """Wait for what is being worked out."""
        self._chores.wait()
        super().closeEvent(event)

    def show_session(self, session: Session | None) -> None:
        """Show another session's points."""
        self._rows = None if session is None else LiveRows(session)
        self._curve = None
        self.refresh()

    def refresh(self) -> None:
        """Draw the session on show, when this page is in front."""
        self._stale = not self.isVisible()
        if self._stale:
            return
        session = self.controller.session
        self._curves = by_curve(self._rows.current()) if self._rows else {}
        if self._curve not in self._curves:
            chosen = self.controller.curve
            shared = chosen if chosen in self._curves else curve_with(self._curves, self.controller.point)
            self._curve = shared or next(iter(self._curves), None)
        shown = [] if self._curve is None else self._curves[self._curve]
        known = {} if session is None else dict(session.ceilings)
        self._chores.do_instead(partial(roofline, shown, known), partial(self._draw, session, shown))

    def apply_theme(self, theme: Theme) -> None:
        """Recolour what is painted by hand."""
        super().apply_theme(theme)
        self.card.apply_theme(theme)
        self.memories.apply_theme(theme)

    def actions_offered(self) -> list[Action]:
        """What a user can do here."""
        return [
            Action("roofline.next", "Choose the next point", partial(self._step, 1), "View", "Alt+Right"),
            Action("roofline.memories", TURN, self.turn, "View", "M", staged=True),
            Action("roofline.back", "Choose the point before", partial(self._step, -1), "View", "Alt+Left"),
        ]

    def turn(self) -> None:
        """Bring the device's memories to the front, or the roofline."""
        self.show_memories(self.shown.currentWidget() is self.card)

    def show_memories(self, memories: bool) -> None:
        """Bring the device's memories to the front, or the roofline."""
        self.shown.setCurrentWidget(self.memories if memories else self.card)
        self.staging.changed.emit()

    def show_kernels(self, kernels: Collection[str]) -> None:
        """Show the points of these alone; of all that no view hides where there is none of them."""
        self.only = kernels
        self._hide()

    def _let_hide(self, hidden: Collection[str], among: Sequence[str]) -> None:
        """Whoever hides a kernel by its legend has another choice than the stop."""
        self.only = ()
        self.controller.hide_kernels(hidden, among)

    def _hide(self) -> None:
        self.card.hide_kernels(self._hidden)
        self._show_point()
        self.staging.changed.emit()

    @property
    def _hidden(self) -> Collection[str]:
        there = kernels_of([spot.row for spot in self.found.spots])
        return set(there) - set(self.only) if set(there) & set(self.only) else self.controller.hidden

    def _draw(self, session: Session | None, shown: Sequence[PointRow], found: Roofline) -> None:
        if session is not self.controller.session:
            return
        self.found = found
        self.card.show_roofline(session, shown, found, self._hidden)
        self.memories.show_session(session)
        self.lead.follow(session)
        self._show_point()
        self.drawn.emit()
        self.staging.changed.emit()

    def _take_events(self, events: Sequence[Event]) -> None:
        if any(isinstance(event, OUTCOMES) for event in events):
            self.refresh()

    def _follow_curve(self, curve: Curve) -> None:
        """Show the problems that all views show."""
        self._curve = curve
        self.refresh()

    def _follow_point(self, index: int) -> None:
        """Show the point that was chosen anywhere, and its problems."""
        curve = curve_with(self._curves, index)
        if curve is not None and curve != self._curve:
            self.controller.choose_curve(curve)
        else:
            self._show_point()

    def _show_point(self) -> None:
        """Ring the chosen point and say why; while none is chosen the fastest one at the longest N."""
        chosen = self._spot(self.controller.point) if self.controller.point is not None else self._fastest
        self.card.plot.show_chosen(None if chosen is None else chosen.row.point.index)
        self.why.show_spot(chosen)

    @property
    def _fastest(self) -> Spot | None:
        """None on a stage, which rings what is chosen alone."""
        return next(iter(() if self.staging.on else fastest_first(self.found.spots, self.card.kernels)), None)

    def _spot(self, index: int) -> Spot | None:
        return next((spot for spot in self.found.spots if spot.row.point.index == index), None)

    def _step(self, step: int) -> None:
        """Choose the point after the chosen one, or the first."""
        order = [spot.row.point.index for spot in self.found.spots]
        if order:
            place = order.index(self.controller.point) + step if self.controller.point in order else 0
            self.controller.choose_point(order[place % len(order)])
