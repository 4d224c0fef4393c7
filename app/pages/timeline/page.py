"""The Timeline page: when and where each stage of each tile of a kernel ran, of one or two kernels."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from flashscope.app.control.actions import Action, staged
from flashscope.app.control.chores import Chores
from flashscope.app.control.controller import Controller
from flashscope.app.control.inside.occupying import LAUNCHED, SAMPLED
from flashscope.app.figures.time_view import TimeRange, TimeView
from flashscope.app.look.stage_colours import stage_colours
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.pages.base import Page
from flashscope.app.pages.timeline.card import LanesCard
from flashscope.app.pages.timeline.detail import DetailLine
from flashscope.app.pages.timeline.exporting import PERFETTO, perfetto_of, timelines_export
from flashscope.app.pages.timeline.live_board import END, END_WORDS, LiveBoard
from flashscope.app.pages.timeline.record_bar import RecordBar
from flashscope.app.pages.timeline.recorded import RECORDED, BundledTimelines, EmptyTimelines
from flashscope.app.pages.timeline.shown_timelines import ShownTimelines
from flashscope.app.pages.timeline.staging import TimelineStaging
from flashscope.app.pages.timeline.to_stepper import step_through
from flashscope.app.pages.timeline.visit import PointVisit
from flashscope.app.plots.export.button import ExportButton
from flashscope.app.plots.export.contents import Export
from flashscope.app.plots.plot_menu import PlotMenu
from flashscope.app.stepper.one_tile import why_no_trace
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.dialogs.file_writer import FileWriter
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import FormulaLabel, PlainLabel, set_tip
from flashscope.app.words.inside.timelines import bar_words, run_name, sentence, source_lines, stages_on_show
from flashscope.kernels.workload.timeline import STAGES, StageTimeline
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.events import Event, TimelineReady

CARDS = 2
PAN, ZOOM = 0.2, 0.5  # of what is on show, a key press
LANES = 3.0
LEGEND_PX = 560  # that the legend asks for at most, or its end is cut off: the narrowest window has them
ALIKE_PX = 600  # cards that want more than this share the room alike
KEEP_WORDS, PERFETTO_WORDS = "Keep in the session on show", "Save for ui.perfetto.dev"
BESIDE_A_SWEEP = "A sweep runs, and a timeline or a launch would disturb it: have one when it has ended."
IN_SHORT = {
    BESIDE_A_SWEEP: "once the sweep that runs has ended",
    LAUNCHED: "once the launch in slow motion has ended",
    SAMPLED: "once the stalls are sampled",
}


class TimelinePage(Page):
    """One or two timelines on one time axis."""

    key = "timeline"

    def __init__(self, controller: Controller, theme: Theme) -> None:
        super().__init__(controller, theme)
        self.bar, self.lineup, self.view = RecordBar(), ShownTimelines(self), TimeView()
        self.live = LiveBoard(controller.live, theme)
        self.headline = PlainLabel(wordWrap=True)
        self.legend = FormulaLabel(room=LEGEND_PX)
        self.cards = [LanesCard(theme) for _ in range(CARDS)]
        self.detail = DetailLine(self.step_through, self.show_source, self.show_all)
        self.chores = Chores(self)  # draws what the Stepper is to show
        self.chosen: tuple[int, int] | None = None  # of which card, and the place of the bar
        self.keep_button = does(text_button("Keep", KEEP_WORDS, self.keep), "timeline.keep")
        perfetto = text_button("Perfetto …", PERFETTO_WORDS, self.save_perfetto)
        self.perfetto = does(perfetto, "timeline.perfetto")
        self.export_button = ExportButton("the timelines", self.make_export, theme)
        self.plot_menu = PlotMenu(self, self.export_button.exporter, ("timeline.perfetto", "timeline.keep"))
        self.visit = PointVisit(self.lineup, controller, self._why_not, self)
        self.writer = FileWriter(self, self.chores, self.noticed.emit, PERFETTO)
        self._lay_out()
        self._connect()
        tools = (self.perfetto, self.keep_button, self.export_button, self.live.end)
        choices = (self.lineup.first, self.lineup.second, self.lineup.by)
        aside = (self.bar, self.visit.line, self.headline, self.detail, *choices, *tools)
        self.staging = TimelineStaging(self, controller, aside)
        self.staging.take_cards([self.live])
        self.show_session(controller.session)
        self.apply_theme(theme)

    def _lay_out(self) -> None:
        self.headline.setProperty("role", "heading")
        self.headline.setAccessibleName("What the timelines say")
        self.legend.setProperty("role", "unit")
        lineup = self.lineup
        parts = (
            *(lineup.first, lineup.second, lineup.by, self.legend),
            *(self.keep_button, self.perfetto, self.export_button),
        )
        full = QWidget()
        column = self.column = QVBoxLayout(full)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(self.headline)
        column.addWidget(Lines(parts, (self.legend,), 8))
        for card in self.cards:
            column.addWidget(card, 1)
        column.addWidget(self.detail)
        column.addStretch(1)  # of what the cards do not want
        self.stack = QStackedWidget()
        self.empty = EmptyTimelines(self.bar.ask, self.open_recorded)
        self.stack.addWidget(self.empty)
        self.stack.addWidget(full)
        self.stack.addWidget(self.live)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(12, 8, 12, 10)
        outer.setSpacing(8)
        outer.addWidget(self.bar)
        outer.addWidget(self.visit.line)
        outer.addWidget(self.stack, 1)

    def _connect(self) -> None:
        told = self.controller.timelines
        self.bar.asked.connect(told.ask)
        self.bar.given_up.connect(told.give_up)
        self.bar.launched.connect(self.controller.live.ask)
        self.live.shown_changed.connect(self._show_front)
        told.ready.connect(self._take)
        told.changed.connect(self._show_asked)
        self.controller.keeping.kept.connect(self._take_kept)
        self.let_export([self.export_button.exporter])
        self.chores.failed.connect(self.controller.error_raised)
        told.progressed.connect(lambda done, total: self.bar.show_progress(told.asked, done, total))
        self.controller.machine_found.connect(self.bar.show_machine)
        self.bar.show_machine(self.controller.machine)
        self.controller.running_changed.connect(lambda _running: self._block())
        self.controller.occupied_changed.connect(lambda _reason: self._block())
        self.controller.events_arrived.connect(self._take_events)
        self.controller.jumped.connect(self._take_kept)
        self.lineup.changed.connect(self._draw)
        for number, card in enumerate(self.cards):
            plot = card.plot
            plot.box.zoomed.connect(self._zoom)
            plot.box.panned.connect(self._pan)
            plot.pointed.connect(self._show_moment)
            plot.hovered.connect(partial(self._hover, number))
            plot.clicked.connect(partial(self.choose, number))
        self._show_asked()
        self._block()

    def actions_offered(self) -> list[Action]:
        """What a user can do here."""

        def act(key: str, title: str, do: Callable[[], None], keys: str) -> Action:
            return Action(f"timeline.{key}", title, do, "Timeline", keys)

        return [
            *self.bar.actions_offered,
            Action(END, END_WORDS, self.live.put_away, "Timeline"),
            act("rows", "Show other rows", self.lineup.next_rows, "B"),
            *staged(
                act("all", "Show all of the time", self.show_all, "A"),
                act("closer", "Zoom in", lambda: self._zoom_middle(ZOOM), "+"),
                act("wider", "Zoom out", lambda: self._zoom_middle(1 / ZOOM), "-"),
                act("earlier", "Go back in time", lambda: self._pan_by(-PAN), "Left"),
                act("later", "Go on in time", lambda: self._pan_by(PAN), "Right"),
                act("up", "Scroll the rows up", lambda: self._scroll(-LANES), "Up"),
                act("down", "Scroll the rows down", lambda: self._scroll(LANES), "Down"),
            ),
            act("next", "Choose the next bar", lambda: self._choose_next(1), "]"),
            act("before", "Choose the bar before", lambda: self._choose_next(-1), "["),
            act("step", "Step through the chosen tile", self.step_through, "Return"),
            act("source", "Show the chosen stage in the source", self.show_source, "S"),
            act("keep", KEEP_WORDS, self.keep, "K"),
            act("perfetto", PERFETTO_WORDS, self.save_perfetto, "P"),
            *(act(one.key, one.title, partial(self.open_recorded, one), "") for one in RECORDED),
        ]

    @property
    def told(self) -> str:
        """What the timelines on show say."""
        return self.headline.text()

    @property
    def shown(self) -> list[LanesCard]:
        """The cards that have a timeline."""
        return self.cards[: len(self.lineup.drawn)]

    @property
    def whole(self) -> TimeRange:
        """All of the time, in µs: that of the longest run on show."""
        return 0.0, max((one.rows.bars.span / 1e3 for one in self.lineup.drawn), default=1.0)

    @property
    def part(self) -> TimeRange:
        """The time on show, in µs."""
        return self.view.of(self.whole)

    def show_session(self, session: Session | None) -> None:
        """Show another session's timelines, beside those recorded here."""
        self.lineup.take_session(() if session is None else session.timelines)
        self._offer_keeping()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        super().apply_theme(theme)
        self._show_legend()
        self.export_button.apply_theme(theme)
        self.live.apply_theme(theme)
        for card in self.cards:
            card.apply_theme(theme)

    def back(self) -> bool:
        """End or close a launch, let go of the chosen bar, show all of the time, or lead back to a point."""
        if self.live.back():
            return True
        if self.chosen is not None:
            self.choose(0, None)
            return True
        zoomed = self.view.leaves_out(self.whole)
        self.show_all()
        return zoomed or self.visit.back()

    def show_all(self) -> None:
        """Show all of the time."""
        self.view.fit()
        self._show_part()

    def choose(self, card: int, place: int | None) -> None:
        """Keep a bar in the line below; None: none."""
        self.chosen = None if place is None else (card, place)
        for number, one in enumerate(self.cards):
            one.plot.choose(place if number == card else None)
        self._tell(*(self.chosen or (0, None)))

    def keep(self) -> None:
        """Write what is on show and in no session into the session on show."""
        shown = (one.rows.timeline for one in self.lineup.drawn)
        self.controller.keeping.keep([one for one in shown if one in self.lineup.recorded])

    def open_recorded(self, recorded: BundledTimelines) -> None:
        """Show timelines that come with the program, if this copy has them."""
        path = recorded.find()
        if path is not None:
            self.lineup.expect(recorded.kernels)
            self.file_chosen.emit(path)

    def save_perfetto(self) -> None:
        """Write what is on show for ui.perfetto.dev."""
        if drawn := self.lineup.drawn:
            self.writer.ask("timeline", partial(perfetto_of, tuple(drawn)))

    def make_export(self) -> Export | None:
        """What the export menu writes; None while there is nothing to show."""
        return timelines_export(self.lineup.drawn, self.shown, self.theme)

    def step_through(self) -> None:
        """Show the chosen tile in the Stepper."""
        if self.chosen is None:
            return
        rows = self.lineup.drawn[self.chosen[0]].rows
        show = partial(self.page_requested.emit, "stepper")
        step_through(
            rows.timeline, tuple(rows.tile[self.chosen[1]].tolist()), self.controller, self.chores, show
        )

    def show_source(self) -> None:
        """Show the chosen stage in the source that ran."""
        if self.chosen is None:
            return
        rows = self.lineup.drawn[self.chosen[0]].rows
        request = rows.timeline.request
        stage = STAGES[int(rows.bars.stage[self.chosen[1]])]
        label, lines = source_lines(request, stage)
        self.page_requested.emit("ladder")
        self.controller.timelines.stage_asked.emit(request.kernel, label, lines)

    def _draw(self) -> None:
        drawn = self.lineup.drawn
        self._show_front()
        for card, one in zip(self.cards, drawn, strict=False):
            card.show_rows(one.rows, one.facts)
        for number, card in enumerate(self.cards):
            card.setVisible(number < len(drawn))
            self.column.setStretchFactor(card, min(card.plot.wanted_px, px(ALIKE_PX)))
        self.headline.setText(sentence([one.rows.timeline for one in drawn], [one.facts for one in drawn]))
        self._show_legend()
        self.choose(0, None)
        self._show_part()
        self._offer_keeping()
        self.staging.take_cards([*self.shown, self.live])
        self.staging.changed.emit()

    def _show_legend(self) -> None:
        """The stages that are on show, in the order in which a tile goes through them."""
        colours = stage_colours(self.theme)
        stages = stages_on_show([one.rows.timeline for one in self.lineup.drawn])
        marks = (f'<span style="color:{colours[stage]}">■</span>&nbsp;{stage}' for stage in stages)
        self.legend.setText(" &nbsp; ".join(marks))

    def _show_front(self) -> None:
        """The launch that runs or ran last, else the timelines, else what leads to some."""
        front = int(bool(self.lineup.drawn))
        self.stack.setCurrentIndex(self.stack.indexOf(self.live) if self.live.in_front else front)
        self.staging.changed.emit()

    def _offer_keeping(self) -> None:
        """Offer to keep what is in no session yet."""
        fresh = any(one.rows.timeline in self.lineup.recorded for one in self.lineup.drawn)
        why = self.controller.keeping.why_not
        self.keep_button.setVisible(fresh and not self.staging.on)
        self.keep_button.setEnabled(not why)
        set_tip(self.keep_button, why or f"{KEEP_WORDS}: it is gone with the window otherwise")

    def _show_part(self) -> None:
        for card in self.shown:
            card.plot.show_part(self.part)
        self.detail.everything.setVisible(self.view.leaves_out(self.whole))

    def _zoom(self, factor: float, around: float) -> None:
        self.view.zoom(factor, around, self.part)
        self._show_part()

    def _zoom_middle(self, factor: float) -> None:
        self._zoom(factor, sum(self.part) / 2)

    def _pan(self, by: float) -> None:
        self.view.pan(by, self.part)
        self._show_part()

    def _pan_by(self, share: float) -> None:
        self._pan(share * (self.part[1] - self.part[0]))

    def _scroll(self, lanes: float) -> None:
        for card in self.shown:
            card.scroll_by(lanes)

    def _show_moment(self, us: float | None) -> None:
        for card in self.shown:
            card.plot.show_moment(us)

    def _hover(self, card: int, place: int | None) -> None:
        if place is None and self.chosen is not None:
            self._tell(*self.chosen)
        else:
            self._tell(card, place)

    def _tell(self, card: int, place: int | None) -> None:
        """Say what a bar is."""
        if place is None or card >= len(self.lineup.drawn):
            self.detail.show_bar("")
            return
        rows = self.lineup.drawn[card].rows
        bars = rows.bars
        row, lane = divmod(int(bars.lane[place]), len(rows.lanes))
        times = int(bars.begin[place]), int(bars.end[place])
        told = bar_words(int(bars.stage[place]), rows.tile[place].tolist(), times, bars.span)
        where = rows.names[row] if len(rows.lanes) == 1 else f"{rows.names[row]}, {rows.lanes[lane]}"
        tile = tuple(rows.tile[place].tolist())
        text = f"{run_name(rows.timeline.request)} · {where} · {told}"
        if self.chosen == (card, place):
            self.detail.show_bar(text, why_no_trace(rows.timeline, tile, self.controller.machine))
        else:
            self.detail.show_bar(text)

    def _choose_next(self, by: int) -> None:
        """Choose the bar after or before the chosen one, and have it on show."""
        if not self.lineup.drawn:
            return
        card, place = self.chosen or (0, -1 if by > 0 else 0)
        rows = self.lineup.drawn[card].rows
        place = min(max(0, place + by), len(rows.bars.lane) - 1)
        self.choose(card, place)
        if self.view.look_at(self.cards[card].plot.box_of(place), self.part):
            self._show_part()

    def _take(self, timeline: StageTimeline) -> None:
        self.lineup.take_recorded(timeline)

    def _take_events(self, events: Sequence[Event]) -> None:
        if any(isinstance(event, TimelineReady) for event in events):
            self._take_kept()

    def _take_kept(self) -> None:
        session = self.controller.session
        self.lineup.take_kept(() if session is None else session.timelines)

    def _show_asked(self) -> None:
        asked = self.controller.timelines.asked
        self.bar.show_asked(asked)
        self.empty.record.setEnabled(asked is None and self.bar.record.isEnabled())

    def _why_not(self) -> str:
        """Why nothing can be recorded now; empty: something can."""
        if self.controller.timelines.asked is not None:  # more are recorded after it
            return ""
        return BESIDE_A_SWEEP if self.controller.measuring else self.controller.others_measure

    def _block(self) -> None:
        reason = self._why_not()
        self.bar.block(reason, IN_SHORT.get(reason, reason))
        self._show_asked()
