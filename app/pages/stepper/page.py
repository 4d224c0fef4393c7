"""The Stepper page: keeps the cursor, tells the mode which step to show, asks the controller for traces."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout

from flashscope.app.control.actions import Action
from flashscope.app.control.controller import Controller
from flashscope.app.control.guard import guarded
from flashscope.app.control.settings import Settings
from flashscope.app.look.theme import Theme
from flashscope.app.pages.base import Page
from flashscope.app.pages.host import Host
from flashscope.app.pages.stepper.backwards import Backwards
from flashscope.app.pages.stepper.board import StepperBoard
from flashscope.app.pages.stepper.commands import mode_actions, motion_actions, preset_actions
from flashscope.app.pages.stepper.mode_board import ModeBoard
from flashscope.app.pages.stepper.mode_commands import ModeCommands
from flashscope.app.pages.stepper.modes import Modes
from flashscope.app.pages.stepper.options_bar import OptionsBar
from flashscope.app.pages.stepper.player import Player
from flashscope.app.pages.stepper.staging import StepperStaging
from flashscope.app.pages.stepper.telling import Telling
from flashscope.app.pages.stepper.tracing import Tracing
from flashscope.app.pages.stepper.transport import Transport
from flashscope.app.pages.stepper.visits import KEEP_WORDS, Visits
from flashscope.app.stepper.choice import RowChoice
from flashscope.app.stepper.cursor import Cursor
from flashscope.app.stepper.events import StepEvent
from flashscope.app.stepper.modes import MODES, mode_named
from flashscope.app.stepper.presets import last_gpu_problem
from flashscope.app.stepper.recording import Recording
from flashscope.app.stepper.step_view import SteppedTrace, StepView
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.widgets.transport import side_by_side
from flashscope.app.words.inside.tracing import BLOCKS_ALONE, NO_GPU_SESSION, NO_TRACE_YET, broken
from flashscope.kernels.workload.problem import Backend
from flashscope.kernels.workload.trace import Trace
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.results.model.session import Session


class StepperPage(Page):
    """The online softmax, block by block.

    Attributes:
        modes: What is drawn between the bars, by modes.
        commands: What can be done in single modes.
        bar: What is traced, and where the trace came from.
        transport: The controls that move through the steps.
        below: What it stands in.
        visits: What other views have it show.
        player: Moves on by itself, step by step.
        position: The step on show, None before the first trace.
        view: What the mode shows, None before the first trace.
        events: The events of the row watched: `[` and `]` go to them.
    """

    key = "stepper"

    def __init__(self, controller: Controller, theme: Theme) -> None:
        super().__init__(controller, theme)
        self.setObjectName("page")
        motions: dict[str, Callable[[], None]] = {
            "start": lambda: self.seek(0),
            "previous_event": lambda: self._go_event(-1),
            "previous_tile": lambda: self._go(lambda cursor: cursor.previous_tile()),
            "back": lambda: self._go(lambda cursor: cursor.moved(-1)),
            "play": self.toggle_play,
            "forward": lambda: self._go(lambda cursor: cursor.moved(1)),
            "next_tile": lambda: self._go(lambda cursor: cursor.next_tile()),
            "next_event": lambda: self._go_event(1),
            "end": lambda: self._go(lambda cursor: cursor.to(cursor.last)),
        }
        self._actions = motion_actions({key: partial(self._move, key, do) for key, do in motions.items()})
        self.bar, self.player = OptionsBar(), Player(self)
        self.transport = Transport(theme, self._actions)
        self.below = side_by_side(self.transport)  # a stage puts this away, some modes the transport
        controls = self.bar.by_name | self.transport.by_name | {"transport": self.transport}
        self.modes = Modes(theme, controls)
        self.commands = ModeCommands(self.modes, self.choose_mode, self.noticed.emit)
        self.message = PlainLabel(NO_TRACE_YET)
        self.story: SteppedTrace | None = None
        self.position: Cursor | None = None
        self.events: tuple[StepEvent, ...] = ()
        self.view: StepView | None = None
        self._choice = RowChoice()
        self._tracing = Tracing(controller, self)
        self.backwards = Backwards(self, controller, self)
        self.visits = Visits(self, controller, self._tracing, self)
        self._settings: Settings | None = None  # until there is a window around it
        self.telling = Telling(self, self._tracing)
        self._lay_out()
        self._connect()
        self.staging = StepperStaging(self, controller, self._tracing)

    def actions_offered(self) -> list[Action]:
        """Motions, and one action a mode and a preset."""
        modes = mode_actions(self.choose_mode, lambda: self.choose_mode(self.modes.next_key))
        presets = preset_actions(self.show_preset, self.type_scores)
        keep = Action("stepper.keep", KEEP_WORDS, self.visits.keep, "Stepper", "K")
        return [*self._actions.values(), *modes, *self.commands.offered(), keep, *presets]

    def join(self, host: Host) -> None:
        """Go on with the scores that were typed last and the mode, and remember those that are chosen."""
        super().join(host)
        settings = self._settings = host.settings
        self.show_mode(settings.stepper_mode)
        self.bar.field.take_up(settings.scores)
        self.bar.field.asked.connect(lambda text: setattr(settings, "scores", text))

    def apply_theme(self, theme: Theme) -> None:
        """Recolour panels, icons and the scrubber."""
        super().apply_theme(theme)
        self.modes.apply_theme(theme)
        self.transport.apply_theme(theme)

    def show_session(self, session: Session | None) -> None:
        """Show a session's newest trace when it has one; offer its last problem when it ran on a GPU."""
        self.bar.offer_last_gpu(last_gpu_problem(session) is not None)
        self._offer_traces(session)
        if session is not None and session.traces:
            self.show_trace(session.traces[-1])
        else:
            self.show_choice()

    def show_preset(self, key: str) -> None:
        """Bring this page to the front and trace a preset."""
        self.bar.choose_preset(key)
        self.page_requested.emit(self.key)
        self.ask()

    def type_scores(self) -> None:
        """Bring this page to the front and have scores typed."""
        self.page_requested.emit(self.key)
        self.bar.open_scores()

    def ask(self) -> None:
        """Ask for the trace that the bar describes."""
        request = self.bar.request(self.controller.session)
        if request is None:
            self.telling.say(f"{NO_GPU_SESSION}, then choose its last problem again.", "error")
            self.show_choice()
        else:
            self.backwards.let_follow()
            self._tracing.ask(request)

    def show_trace(self, trace: Trace) -> None:
        """Show a trace from its start; the first one where a tile is done: there is something to see."""
        first = self.story is None
        self.story = self.modes.steps(Recording.of(trace))
        self.bar.modes.choose_quietly(self.modes.key)
        self.show_choice()
        self.stack.setCurrentWidget(self.modes)
        self.transport.setEnabled(True)
        start = Cursor(self.story.timeline)
        self.position = start.next_tile() if first else start
        self.visits.take(trace)
        self._find_events()
        self.transport.show_rows(self.story.recording.seqlen_q)
        self.modes.board.paint_in_turns()
        self._show()
        self.visits.arrive()
        if first:  # the transport, disabled until now, could not have the focus
            self.take_keys()

    def choose_mode(self, key: str) -> None:
        """Go on in another mode, and remember it; what is chosen on a stage is for that stage alone."""
        self.show_mode(key)
        refused = self.modes.key != mode_named(key).key
        if self._settings is not None and not self.staging.on and not refused:
            self._settings.stepper_mode = self.modes.key

    def show_mode(self, key: str) -> None:
        """Draw what is walked through in another mode, at the same tile; in the first where that cannot."""
        plain = self.story is None or self.story.recording.plain
        if not plain and key != MODES[0].key and not mode_named(key).apart:
            self.telling.say(BLOCKS_ALONE)
            key = MODES[0].key
        if mode_named(key).apart:
            self.stack.setCurrentWidget(self.modes)
        if mode_named(key) is not self.modes.mode:
            self.modes.show_mode(key)
            if self.story is not None and self.position is not None:
                self.story = self.modes.mode.steps(self.story.recording)
                self.position = self.position.on(self.story.timeline)
                self._find_events()
                self._show()
            self.show_choice()
            self._tell()
            if mode_named(key).apart:
                self.take_keys()
        self.bar.modes.choose_quietly(self.modes.key)

    def back(self) -> bool:
        """Lead back to the point that is on show; whether one is."""
        return self.visits.back()

    def seek(self, at: int) -> None:
        """Go to a step, counted from 0."""
        self._go(lambda cursor: cursor.to(at))

    def toggle_play(self) -> None:
        """Play from here, from the start when at the end; or pause."""
        if self.position is None:
            return
        if not self.player.playing and self.position.ended:
            self.seek(0)
        self.player.set_playing(not self.player.playing)

    def tick(self) -> None:
        """One step of playing; stops at the end and at breakpoints."""
        self._go(lambda cursor: cursor.moved(1))
        here = self.position
        if here is None or here.ended or self.transport.breakpoints.stops_at(here, self.events):
            self.player.set_playing(False)

    def words(self) -> str:
        """What the page says: its message, or every panel in words and the result."""
        if self.stack.currentWidget() is self.message:
            return self.message.text()
        return f"{self.bar.source.text()}\n{self.modes.board.words()}\n{self.bar.result.text()}"

    @property
    def board(self) -> StepperBoard:
        """What draws the mode Blocks."""
        return self.modes.blocks

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        """Ask for the first trace when the page is first looked at, not at start-up.

        During a sweep it is asked of the CPU: the GPU would have the page empty until its end.
        """
        super().showEvent(event)
        if self.story is None and self._tracing.wanted is None and not self.controller.insides.coming:
            if self.controller.measuring:
                self.bar.follow_backend("cpu")
            self.ask()
        self.take_keys()

    def take_keys(self) -> None:
        """Have the keys step: they would mean something else to a button or a box with the focus."""
        if self.isVisible():
            (self.modes.board.scrubber or self.transport.scrubber).setFocus()

    def _lay_out(self) -> None:
        self.message.setWordWrap(True)
        self.message.setProperty("role", "dim")
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.message)
        self.stack.addWidget(self.modes)
        self.transport.setEnabled(False)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(12, 8, 12, 8)
        outer.setSpacing(8)
        outer.addWidget(self.bar)
        outer.addWidget(self.visits.line)
        outer.addWidget(self.stack, 1)
        outer.addWidget(self.below)

    def _connect(self) -> None:
        self.bar.asked.connect(self.ask)
        self.bar.recorded_chosen.connect(self.show_trace)
        self.bar.head_chosen.connect(self.visits.look_at)
        self.bar.notation_changed.connect(self._show)
        for board in self.modes.boards:
            self._listen(board)
        self.modes.made.connect(self._listen)
        self.bar.modes.chosen.connect(self.choose_mode)
        self.transport.sought.connect(self.seek)
        self.transport.speed_chosen.connect(self.player.set_speed)
        self.transport.breakpoints_changed.connect(self._find_events)
        self.transport.choice_changed.connect(self._choose_row)
        for field in (self.transport.row, self.bar.head):
            field.lineEdit().returnPressed.connect(self.take_keys)
        for control in (*self.bar.controls, self.visits.line.back, *self.transport.controls):
            control.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # the mouse leaves the focus where the keys step
        self.let_export(card.exporter for card in self.board.cards)
        self.player.ticked.connect(self.tick)
        self.player.playing_changed.connect(self.transport.show_playing)
        self.controller.keeping.kept.connect(self._take_kept)
        self.controller.machine_found.connect(self._take_machine)
        self.controller.backend_changed.connect(self._follow_backend)
        self._follow_backend(self.controller.backend)
        self._tracing.recorded.connect(self.show_trace)
        self.show_session(self.controller.session)
        if self.controller.machine is not None:
            self._take_machine(self.controller.machine)

    def _listen(self, board: ModeBoard) -> None:
        board.tile_chosen.connect(self._go_tile)
        board.row_chosen.connect(self._choose_local_row)
        board.row_sought.connect(self.transport.row.setValue)
        board.step_sought.connect(self.seek)
        board.beside_wanted.connect(self._tracing.ask_beside)
        board.changed.connect(self._tell)
        self._tracing.recorded_beside.connect(board.take_beside)

    def _follow_backend(self, backend: Backend) -> None:
        """Trace where the top bar says; what is on show stays described as it is."""
        if self.story is None:
            self.bar.follow_backend(backend)

    def show_as_before(self) -> None:
        """Show again what was there."""
        self._show()
        self.show_choice()

    def _offer_traces(self, session: Session | None) -> None:
        """Let the traces of the session on show be chosen, as it has them now."""
        traces = session.traces if session is not None else ()
        self.bar.offer_traces(traces)
        self.modes.offer_traces(traces)

    def _take_kept(self) -> None:
        self._offer_traces(self.controller.session)
        self.show_choice()

    def show_choice(self) -> None:
        """Let the bar describe what is on show, whatever was chosen meanwhile."""
        if self.story is not None:
            trace = self.story.recording.trace
            asked = trace.request
            self.bar.show_trace(trace, last_gpu_problem(self.controller.session, asked.backend, asked.order))
            self._tell()  # the mode may have a trace of its own

    def _take_machine(self, machine: Machine) -> None:
        self.bar.show_machine(machine)
        gpu = machine.device("cuda")
        self.modes.take_limit(gpu.shared_memory_per_block if gpu else None)

    def _move(self, key: str, step: Callable[[], None]) -> None:
        """Do what a motion means in the mode on show."""
        if not self.modes.board.take_motion(key):
            step()

    def _go(self, move: Callable[[Cursor], Cursor]) -> None:
        if self.position is None:
            return
        moved = move(self.position)
        if moved.at != self.position.at:
            self.position = moved
            self._show()

    def _go_tile(self, tile: int) -> None:
        self._go(lambda cursor: cursor.to(cursor.timeline.tile_ends[tile]))

    def _go_event(self, direction: int) -> None:
        marks = tuple(sorted({event.at for event in self.events}))
        self._go(lambda cursor: cursor.next_of(marks) if direction > 0 else cursor.previous_of(marks))

    def _choose_local_row(self, local: int) -> None:
        if self.position is not None and self.story is not None:
            first = self.position.snapshot.i * self.story.recording.block_q
            self.transport.row.setValue(first + local)

    def _choose_row(self, choice: RowChoice) -> None:
        self._choice = choice
        self._find_events()
        self._show()

    def _find_events(self) -> None:
        if self.story is not None:
            self.events = self.story.events(self._choice, self.transport.breakpoints.alpha_below)
            marks = () if self.modes.mode.secret else self.events
            self.transport.scrubber.show_steps(len(self.story.timeline.steps) - 1, marks)

    def _show(self) -> None:
        if self.story is None or self.position is None:
            return
        own_maximum = self.bar.notation.isChecked() and not self.story.recording.fault
        self.view = StepView(self.story, self.position, self._choice, local_max=own_maximum)
        self.transport.show_view(self.view)
        self.modes.board.show_view(self.view)
        self._tell()

    def _tell(self) -> None:
        """Say what comes of it."""
        view, own = self.view, self.modes.board.own
        if own is not None:
            self.bar.source.setText(own.source)
            self.bar.show_result(*self.modes.board.own_result())
        if own is not None or view is None:
            self.staging.changed.emit()
            return
        result, role = self.modes.board.result(view), self.modes.board.role(view)
        fault = broken(view.recording.fault)
        if fault:  # in every mode and at every step
            result, role = " · ".join(filter(None, (fault, result))), "error"
        if not result and self._tracing.waits_for_sweep:
            result, role = self.telling.next, "dim"
        self.bar.show_result(result, role)
        self.staging.changed.emit()
