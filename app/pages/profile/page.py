"""The page of one sweep: its form, plots over N, telemetry, results and notes, each a view of its own."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QCloseEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from flashscope.app.control.actions import Action
from flashscope.app.control.controller import Controller
from flashscope.app.control.findable import Findable
from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.pages.host import Host
from flashscope.app.pages.profile.bottom import BottomCard, below_handle
from flashscope.app.pages.profile.finding import findables
from flashscope.app.pages.profile.form.form import WIDTH as FORM_PX
from flashscope.app.pages.profile.form_page import FormPage
from flashscope.app.pages.profile.headline_bar import HeadlineBar
from flashscope.app.pages.profile.notes import NotesPanel
from flashscope.app.pages.profile.offers import offers
from flashscope.app.pages.profile.plots_view import PlotsView
from flashscope.app.pages.profile.replay_bar import ReplayBar
from flashscope.app.pages.profile.results_staging import ResultsStaging
from flashscope.app.pages.profile.run_chooser import RunChooser
from flashscope.app.pages.profile.staging import ProfileStaging
from flashscope.app.pages.profile.telemetry_staging import TelemetryStaging
from flashscope.app.pages.staging import Staging
from flashscope.app.widgets.paint_turns import Draw, PaintTurns, draw_unless_waiting
from flashscope.app.widgets.split import Split
from flashscope.profiles.results.model.curves import baselines
from flashscope.profiles.results.model.rows import LiveRows, PointRow
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.events import (
    Event,
    PlanFinished,
    PlanResumed,
    PointFailed,
    PointMeasured,
    PointProgress,
    PointStarted,
    Reading,
    Readings,
    TelemetryStarted,
)

MARGIN = 12  # pixels at the left and right of the plots
ROUNDING = 4  # pixels that the sizes of many parts make together
OUTCOMES = (PlanResumed, PointStarted, PointMeasured, PointFailed, PlanFinished)


class ProfilePage(FormPage):
    """Where sweeps are set up, run and watched.

    While something is measured or replayed the telemetry stands under the curves, too: memory climbs there
    while they bend.
    """

    key = "profile"

    def __init__(self, controller: Controller, theme: Theme) -> None:
        super().__init__(controller, theme)
        self.headline = HeadlineBar()
        self.plots = PlotsView(theme)
        self.bottom = BottomCard(theme, NotesPanel(controller))
        self.replay = ReplayBar(controller, theme)
        self.runs = RunChooser(controller)
        self.plots.context.stand_first(self.runs)
        self._view = self.key
        self._rows: LiveRows | None = None  # of the session on show
        self._shown: Sequence[PointRow] = ()
        strip = self.bottom.strip
        turns: dict[QWidget, Draw] = {
            self.headline: self._say,
            **{card: card.draw_in_steps for card in self.plots.cells},
            self.plots.panel: self.plots.draw_panel_in_steps,
            self.bottom.table: self._draw_table,
        }
        self._lanes = list(strip.rows.values())
        turns.update({row: partial(strip.draw_lane, row.about) for row in self._lanes})
        turns[strip.others] = strip.draw_others
        self._turns = PaintTurns(self, turns, leading=[self.headline])
        self._lay_out()
        self._connect()
        self.form.set_machine(controller.machine)
        self.show_session(controller.session)
        if controller.session is None and controller.telemetry is not None:
            self.take_events([controller.telemetry, Readings(readings=tuple(controller.live_readings))])

    def _lay_out(self) -> None:
        bottom = below_handle(self.bottom)
        split = Split(self.plots, bottom, shares=(430, 204))
        split.handle(1).setAccessibleName("Height of the telemetry")
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(MARGIN, 6, MARGIN, 10)
        work = self.headline, self.form, self.replay
        self.staging = ProfileStaging(self.controller, self.plots, [*work, bottom])
        results = ResultsStaging(self.controller, self.plots, [*work, split])
        self._stagings = {
            "profile": self.staging,
            "telemetry": TelemetryStaging(self.controller, self.bottom, bottom, [*work, self.plots]),
            "results": results,
            "notes": Staging("notes", self.controller),
        }
        for staging in self._stagings.values():
            staging.setParent(self)
        column.addWidget(self.staging.legend)
        column.addWidget(results.table, 1)
        column.addWidget(self.headline)
        column.addWidget(split, 1)
        column.addWidget(self.replay)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(0)
        self._row.addWidget(self.form)
        self._row.addWidget(right, 1)
        self._right, self._split, self._bottom = right, split, bottom
        keep(self, self._place_form)
        self.large = (self.form, self.plots, bottom)

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the form beside the plots, or under them."""
        super().resizeEvent(event)
        self._place_form()

    def _place_form(self) -> None:
        """Under them as soon as the page is no wider than the two need: then it may become narrower."""
        beside = self.width() > px(FORM_PX + ROUNDING) + self._right.minimumSizeHint().width()
        self.form.stand(alone=not beside)
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.BottomToTop
        if direction != self._row.direction():
            self._row.setDirection(direction)

    def staging_of(self, view: str) -> Staging:
        """What the curves, the telemetry or the results do on a stage."""
        return self._stagings[view]

    def show_view(self, key: str) -> None:
        """Show the curves, the telemetry, the results or the notes."""
        if key != self._view:
            self.plots.full.back()
            self._view = key
        self.place_parts()

    def place_parts(self) -> None:
        """Give the room to what the view shows."""
        curves, alone = self._view == self.key, self.plots.full.card is not None
        self.bottom.show_part("telemetry" if curves else self._view)
        self.plots.setVisible(curves)
        if any(staging.on for staging in self._stagings.values()):
            return
        wanted = {
            self._bottom: not curves or (self.controller.moving and not alone),
            self.form: self.form_open and not alone,
        }
        resized = self.isVisible() and any(part.isHidden() is shown for part, shown in wanted.items())
        if resized:
            self._turns.start_covered()  # all of another size at once would take too long
        for part, shown in wanted.items():
            part.setVisible(shown)
        if resized:
            self._row.activate()  # before a part is uncovered: it would be painted twice, beside the others
            QCoreApplication.sendPostedEvents(self._split, QEvent.Type.LayoutRequest.value)

    def _place_soon(self) -> None:
        """The same in a turn of its own where the page is in sight: every plot gets another size."""
        if self.isVisible():
            self._turns.start_after(self.place_parts)
        else:
            self.place_parts()

    def _connect(self) -> None:
        self.controller.running_changed.connect(self._running_changed)
        for staging in self._stagings.values():
            staging.left.connect(self.place_parts)
        self.form_shown.connect(lambda _opened: self.place_parts())
        self.controller.events_arrived.connect(self.take_events)
        self.controller.jumped.connect(self.show_moment)
        self.controller.machine_found.connect(self.form.set_machine)
        self.controller.backend_changed.connect(self.set_backend)
        self.form.changed.connect(self._form_changed)
        self.form.copy_requested.connect(self.copy_command_line)
        self.form.use_session_requested.connect(self.use_session)
        self.plots.cursor_moved.connect(self.controller.seqlen_chosen)
        self.controller.seqlen_chosen.connect(self.plots.show_seqlen)
        self.plots.drawn.connect(self._tell_curve)
        self.controller.curve_chosen.connect(self.plots.follow_curve)
        self.plots.kernels_hidden.connect(self.controller.hide_kernels)
        self.controller.kernels_hidden.connect(self.plots.follow_hidden)
        self.plots.baseline_changed.connect(lambda: self._turns.start([self.bottom.table]))
        self.plots.changing.connect(lambda parts: self._turns.start([self.headline, *parts]))
        for told in (self.plots.drawn, self.plots.cursor_moved):
            told.connect(lambda *_: draw_unless_waiting(self.headline, self._say))
            told.connect(lambda *_: draw_unless_waiting(self.bottom.table, self._mark_shown))
        self.plots.point_requested.connect(self._do_with_point)
        self.plots.panel.inside_wanted.connect(partial(self.action_requested.emit, "inside"))
        self.plots.full.changed.connect(lambda _alone: self.place_parts())
        self.headline.lead.view_chosen.connect(self.page_requested)
        for way in (self.headline, self.runs):
            way.file_chosen.connect(self.file_chosen)
        self.runs.noticed.connect(self.noticed)
        self.bottom.strip.looked.connect(
            lambda: self._turns.start([*self._lanes[1:], self.bottom.strip.others])
        )
        self.bottom.strip.time.turned.connect(lambda: self._turns.start([self._lanes[0]]))
        self.plots.quantities_chosen.connect(self._show_hints_and_flight)
        self.bottom.table.point_chosen.connect(self.replay.go_to_point)
        notes = self.bottom.notes
        self.bottom.table.point_selected.connect(partial(setattr, notes, "point"))
        self.bottom.table.point_selected.connect(self.controller.choose_point)
        self.bottom.table.point_selected.connect(self.plots.show_point)
        self.controller.point_chosen.connect(self._show_point)
        self.controller.point_chosen.connect(lambda _index: self._name_inside())
        self.bottom.strip.time.moment.chosen.connect(partial(setattr, notes, "at_s"))
        notes.point_chosen.connect(self._go_to_point)
        notes.moment_chosen.connect(self._go_to_moment)
        notes.noticed.connect(self.noticed)
        buttons = *(card.export_button for card in self.plots.cells), self.bottom.export_button
        self.let_export(button.exporter for button in buttons)

    def join(self, host: Host) -> None:
        """Let Run follow the form, and the plots show what they showed at the last start."""
        super().join(host)
        self.run_blocked.connect(host.block_run)
        self.form_shown.connect(host.form_shown)
        host.form_shown(self.form_open)
        host.share(self.key, self.plots.context)
        host.block_run(self.form.blocked_reason or "")
        self.plots.show_quantities(host.settings.quantities)
        self.plots.quantities_chosen.connect(partial(setattr, host.settings, "quantities"))
        self.controller.running_changed.connect(
            lambda running: host.show_top(self) if running and not self.controller.unasked else None
        )

    def show_session(self, session: Session | None) -> None:
        """Show a session, or what the form's sweep would need."""
        self._rows = None if session is None else LiveRows(session)
        if session is not None and not (self.controller.unasked and self.controller.sweep_on_show):
            self.open_form(False)
        self._place_soon()
        self.form.use_button.setEnabled(session is not None)
        self._turns.start()
        self.bottom.show_session(session)
        self.refresh()

    def show_moment(self) -> None:
        """Show the session on show as it is now, whatever it was before."""
        self._turns.start()
        self.bottom.strip.rewind()
        self.refresh()

    def take_events(self, events: Sequence[Event]) -> None:
        """Take in a batch that the controller has applied to the session."""
        readings: list[Reading] = []
        for event in events:
            match event:
                case Readings():
                    readings.extend(event.readings)
                case TelemetryStarted():
                    self.bottom.strip.watch(event)
                case _:
                    pass
        self.bottom.strip.take(readings)
        self._follow_sweep(events)
        self._turns.start([self._lanes[0]])
        if readings:
            self.follow_free_memory()

    def _follow_sweep(self, events: Sequence[Event]) -> None:
        """Draw what the events changed in the plots, which are painted one after the other."""
        if any(isinstance(event, OUTCOMES) for event in events):
            self._turns.start()
            self.refresh()
        elif any(isinstance(event, PointProgress) for event in events):
            self._turns.start(self.plots.cells)
            self._show_flight()

    @guarded()
    def closeEvent(self, event: QCloseEvent) -> None:
        """Wait for what is being worked out."""
        self.form.close()
        super().closeEvent(event)

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        """Paint plot after plot: Run shows this page in the turn that starts a sweep."""
        super().showEvent(event)
        self._turns.start_covered()
        self.replay.take_keys()

    def refresh(self) -> None:
        """Draw the session on show, or the preview of the form's sweep."""
        session = self.controller.session
        self._shown = self.form.preview() if self._rows is None else self._rows.current()
        self.plots.show_rows(session, self._shown)
        self._show_hints_and_flight()
        draw_unless_waiting(self.bottom.table, self._draw_table)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour everything painted by hand."""
        super().apply_theme(theme)
        for staging in self._stagings.values():
            staging.apply_theme(theme)
        self.form.kernels.apply_theme(theme)
        self.plots.apply_theme(theme)
        self.bottom.apply_theme(theme)
        self.replay.apply_theme(theme)
        self._turns.start_covered()

    def kept(self) -> Callable[[], None]:
        """Give back baseline, kernels, problems and crosshair."""
        return partial(self.plots.give_back, self.plots.kept)

    def back(self) -> bool:
        """Show the whole page again."""
        return self.plots.full.back()

    def findables(self) -> Iterator[Findable]:
        """What is found here by its name."""
        yield from findables(self.plots, partial(self.page_requested.emit, self.key))
        for preset in self.presets.all()[0]:
            if preset.request is not None:
                yield Findable("preset", preset.name, partial(self.use_preset, preset))

    def actions_offered(self) -> list[Action]:
        """What a user can do here."""
        return offers(self)

    def _tell_curve(self) -> None:
        """Let the other views show the same problems; a preview's are of no session."""
        if self._rows is not None:
            self.controller.choose_curve(self.plots.curve)

    def _say(self) -> None:
        told = self.plots.headline()
        self.headline.say(told, self.controller.session)
        self.controller.spoken_of = self.plots.point_of(told.kernel if told is not None else "")
        self._name_inside()

    def _running_changed(self, running: bool) -> None:
        """What is begun has the room: the form has said what it is. What begins by itself takes none."""
        if running and not self.controller.unasked:
            self.open_form(False)
        self._place_soon()

    def fit(self) -> None:
        """Show all of the data in all plots."""
        self.plots.four.autorange()
        self.bottom.strip.fit()

    def _go_to_point(self, index: int) -> None:
        self.replay.go_to_point(index)
        self.bottom.table.choose_point(index)

    def _show_point(self, index: int | None) -> None:
        if index not in {None, self.bottom.notes.point}:
            self.plots.show_point(index)
            self.bottom.table.choose_point(index)

    def _name_inside(self) -> None:
        """Say what the readout leads into."""
        self.plots.panel.name_inside(self.controller.point_meant)

    def _do_with_point(self, index: int, command: str) -> None:
        self.controller.choose_point(index)
        self.action_requested.emit(command)

    def _go_to_moment(self, at_s: float) -> None:
        self.replay.go_to_moment(at_s)
        self.bottom.notes.at_s = at_s
        self.bottom.strip.time.moment.show_at(at_s)
        self.page_requested.emit("telemetry")

    def _form_changed(self) -> None:
        self.run_blocked.emit(self.form.blocked_reason or "")
        if self.controller.session is None:
            self._turns.start()
            self.refresh()

    def _show_hints_and_flight(self) -> None:
        """What the plots say beside their rows; another quantity needs it anew."""
        blocked = self.form.blocked_reason or ""
        self.plots.four.show_hints(empty=self.controller.session is None, blocked=blocked)
        self._show_flight()

    def _show_flight(self) -> None:
        self.plots.show_flight(on.in_flight if (on := self.controller.session) else ())

    def _draw_table(self) -> Iterator[None]:
        shown = () if self._rows is None else self._shown
        yield from self.bottom.show_rows_in_steps(shown, baselines(shown, self.plots.baseline))
        self._mark_shown()
        self._show_point(self.controller.point)

    def _mark_shown(self) -> None:
        self.bottom.table.show_points(self.plots.points)
