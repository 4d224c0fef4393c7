"""The mode Backward: a backward pass tile by tile, P, dP and dS, and dQ, dK and dV as they grow."""

from collections.abc import Callable, Sequence
from functools import partial

import msgspec
from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.pages.stepper.arranging import GAP
from flashscope.app.pages.stepper.backward_bar import BackwardBar
from flashscope.app.pages.stepper.backward_cards import BackwardCards
from flashscope.app.pages.stepper.commands import motion_actions
from flashscope.app.pages.stepper.mode_board import ModeBoard, OwnTrace
from flashscope.app.pages.stepper.player import SPEEDS, Player
from flashscope.app.pages.stepper.scrubber import StepScrubber
from flashscope.app.pages.stepper.transport import ICONS
from flashscope.app.plots.stepper.cells import CellIndex
from flashscope.app.stepper.backward.code import errors_text
from flashscope.app.stepper.backward.recording import BackwardRecording
from flashscope.app.stepper.backward.requests import backward_of_trace
from flashscope.app.stepper.backward.steps import BackwardStep, BackwardStory
from flashscope.app.stepper.backward.view import BackwardView
from flashscope.app.stepper.cursor import CursorOf
from flashscope.app.stepper.events import StepEvent
from flashscope.app.stepper.recording import Recording
from flashscope.app.stepper.step_view import StepView
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.widgets.transport import TransportBar
from flashscope.app.words.inside.tracing import backward_words
from flashscope.kernels.workload.backward_trace import BackwardKernel, BackwardTrace, BackwardTraceRequest

MOTIONS = tuple(key.removeprefix("stepper.") for key in ICONS)
NONE_YET = "No backward pass is traced yet."
NOTHING_KEPT = "The mask keeps no pair of this head: no tile runs, and its gradients are 0."
COMING = "Recording the backward pass on {} …"
WAITS = "The backward pass on the GPU is recorded when the sweep has ended."


class BackwardBoard(ModeBoard):
    """All panels over one trace of a backward pass, with a transport of its own.

    Attributes:
        bar: Whose backward pass, and which head.
        transport: The controls that move through its steps.
        player: Moves on by itself.
        story: What is walked through, None before the first trace.
        position: The step on show, None before the first trace.
        view: What the panels show, None before the first trace.
        gpu: Whether there is a GPU here.

    Signals:
        wanted: A backward pass is to be traced (BackwardTraceRequest).
    """

    wanted = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self.gpu = theme, False
        self.panels = BackwardCards(theme)
        self.bar, self.message = BackwardBar(), PlainLabel(NONE_YET, wordWrap=True)
        self.player = Player(self)
        actions = motion_actions({key: partial(self._move, key) for key in MOTIONS})
        self._scrubber = StepScrubber(theme)
        self.transport = TransportBar(self._scrubber, actions, ICONS, SPEEDS)
        self.story: BackwardStory | None = None
        self.position: CursorOf[BackwardStep] | None = None
        self.view: BackwardView | None = None
        self._followed: Recording | None = None  # the trace on show that this is the backward pass of
        self._pinned = False  # whether the first trace on show changes nothing here
        self._marks: tuple[int, ...] = ()
        self._meant: int | None = None  # the step to go to once the trace is there
        self._pair: CellIndex | None = None
        self._result = ""
        self._lay_out()
        self._connect()
        self.apply_theme(theme)

    @property
    def cards(self) -> Sequence[Card]:
        """What each panel stands on."""
        return self.panels.cards

    @property
    def shown(self) -> Sequence[QWidget]:
        """Any of those on show may fill a stage."""
        return self.panels.shown

    @property
    def own(self) -> OwnTrace | None:
        """The trace of the backward pass."""
        if self.story is None or self.position is None:
            return None
        trace = self.story.recording.trace
        what = f"trace of {trace.request.kernel}’s backward pass"
        source = " · ".join((trace.device, backward_words(trace.request), trace.source))
        return OwnTrace(trace, what, source, self.position.at, self._sentence())

    @property
    def trace(self) -> BackwardTrace | None:
        """The trace on show, None before the first one."""
        return None if self.story is None else self.story.recording.trace

    @property
    def below(self) -> QWidget | None:
        """Its transport."""
        return self.transport

    @property
    def scrubber(self) -> QWidget | None:
        """Its own takes the keys."""
        return self._scrubber

    @property
    def settled(self) -> bool:
        """Whether the trace is there, or will not be."""
        return self.stack.currentWidget() is not self.message or not self._coming

    def show_view(self, view: StepView) -> None:
        """Follow the trace on show: another one's backward pass is asked for."""
        if self._pinned:
            self._pinned, self._followed = False, view.recording
        elif view.recording is not self._followed:
            self.follow(view.recording)

    def follow(self, recording: Recording, kernel: BackwardKernel | None = None) -> None:
        """Have the backward pass of what a trace is of."""
        self._followed = recording
        found = backward_of_trace(recording.trace, kernel, gpu=self.gpu)
        if isinstance(found, str):
            self.say(found)
        else:
            self.wanted.emit(found)

    def pin(self, recording: Recording | None) -> None:
        """Stay with what is asked for elsewhere while this trace is on show; None: while the first one is."""
        self._followed, self._pinned = recording, recording is None

    def let_follow(self) -> None:
        """Follow whatever trace comes next."""
        self._pinned = False

    def show_coming(self, request: BackwardTraceRequest, *, waits: bool) -> None:
        """A trace is being recorded, or waits for the end of a sweep."""
        where = "the GPU" if request.backend == "cuda" else "the CPU"
        self._coming = True
        self.say(WAITS if waits else COMING.format(where), coming=True)

    def say(self, words: str, *, coming: bool = False) -> None:
        """Say why there is nothing to see, where another trace is not."""
        self._coming = coming
        self.player.set_playing(False)
        self.story = self.position = self.view = None
        self.message.setText(words)
        self.stack.setCurrentWidget(self.message)
        self._let_move(words)
        self.transport.where.setText("–")
        with QSignalBlocker(self.transport.scrubber):
            self._scrubber.show_steps(0, ())
        self.bar.head.hide()
        self.changed.emit()

    def show_trace(self, trace: BackwardTrace, place: tuple[int, int, int] | None = None) -> None:
        """Show a trace where a first tile is done, or at the end of a tile: head in the group, i and j."""
        if not trace.tile.shape[0]:
            self.say(NOTHING_KEPT)
            return
        self._coming, self._pair = False, None
        self.player.set_playing(False)
        story = self.story = BackwardStory.of(BackwardRecording.of(trace))
        self.position = story.start.next_tile()
        tile = None if place is None else story.recording.find(place)
        if tile is not None:
            self.position = story.start.to(story.timeline.tile_ends[tile])
        if self._meant is not None:
            self.position, self._meant = self.position.to(self._meant), None
        self._marks = story.timeline.writes
        last = story.start.last
        with QSignalBlocker(self._scrubber):
            self._scrubber.show_steps(last, tuple(StepEvent(at, "written") for at in self._marks))
        self.transport.leave_room(f"{last} / {last}")
        self._let_move()
        self._result = errors_text(story.recording)
        self.bar.show_trace(trace)
        self.stack.setCurrentWidget(self.panels)
        self.panels.paint_in_turns()
        self._show()

    def seek(self, at: int) -> None:
        """Go to a step, counted from 0."""
        if self.position is not None and at != self.position.at:
            self.position = self.position.to(at)
            self._show()

    def seek_own(self, at: int) -> None:
        """Go to a step now, or when the trace is there."""
        if self.position is None:
            self._meant = at
        else:
            self.seek(at)

    def take_motion(self, key: str) -> bool:
        """Move through its own steps; events are the blocks of a gradient that are whole."""
        self._move(key)
        return True

    def _move(self, key: str) -> None:
        here = self.position
        if here is None:
            return
        moves: dict[str, Callable[[], CursorOf[BackwardStep]]] = {
            "start": lambda: here.to(0),
            "previous_event": lambda: here.previous_of(self._marks),
            "previous_tile": here.previous_tile,
            "back": lambda: here.moved(-1),
            "forward": lambda: here.moved(1),
            "next_tile": here.next_tile,
            "next_event": lambda: here.next_of(self._marks),
            "end": lambda: here.to(here.last),
        }
        if key == "play":
            self._toggle_play(here)
        elif key in moves:
            self.seek(moves[key]().at)

    def own_result(self) -> tuple[str, str]:
        """How far the gradients are from the exact ones, once all is done."""
        ended = self.position is not None and self.position.ended
        return (self._result, "ok") if ended else ("", "dim")

    def sentence(self, view: StepView) -> str:
        """What stands in the place of a backward pass."""
        del view
        return self._sentence()

    def words(self) -> str:
        """All panels in words, one a line, or why there are none."""
        if self.view is None:
            return self.message.text()
        return self.panels.words()

    def apply_theme(self, theme: Theme) -> None:
        """Repaint every panel in other colours."""
        self.panels.apply_theme(theme)
        self.transport.apply_theme(theme)

    def take_stage(self, panels: Sequence[str]) -> None:
        """Show what tells most of a step alone."""
        del panels
        self.panels.take_stage(on=True)
        self.bar.hide()
        self.transport.hide()

    def leave_stage(self) -> None:
        """Show all there is."""
        self.bar.show()
        self.transport.show()
        self.panels.take_stage(on=False)

    def fill_with(self, card: QWidget | None) -> None:
        """Let one of the cards have all the room; None: they share it."""
        self.panels.fill_with(card)

    def _toggle_play(self, here: CursorOf[BackwardStep]) -> None:
        if not self.player.playing and here.ended:
            self.seek(0)
        self.player.set_playing(not self.player.playing)

    def _tick(self) -> None:
        self.take_motion("forward")
        if self.position is None or self.position.ended:
            self.player.set_playing(False)

    def _show(self) -> None:
        if self.story is None or self.position is None:
            return
        view = self.view = BackwardView(self.story, self.position, self._pair, added=self.bar.added)
        self.panels.show_view(view)
        with QSignalBlocker(self._scrubber):
            self._scrubber.setValue(self.position.at)
        self._scrubber.update()
        self.transport.where.setText(f"{self.position.at} / {self.position.last}")
        self.changed.emit()

    def _sentence(self) -> str:
        if self.view is None:
            return self.message.text()
        view = self.view
        at, last = view.cursor.at, view.cursor.last
        if not view.started:
            return f"Step {at} of {last}: before the first tile."
        head, i, j = view.place
        of = f"query head {head}, " if view.recording.trace.request.group > 1 else ""
        return f"Step {at} of {last}: {of}tile i = {i}, j = {j}."

    def _watch(self, pair: CellIndex) -> None:
        self._pair = pair
        self._show()

    def _choose_kernel(self, kernel: BackwardKernel) -> None:
        trace = self.trace
        if self._followed is not None:
            self.follow(self._followed, kernel)
        elif trace is not None:
            self.wanted.emit(msgspec.structs.replace(trace.request, kernel=kernel))

    def _choose_head(self, head: int) -> None:
        trace = self.trace
        if trace is not None:
            self.wanted.emit(msgspec.structs.replace(trace.request, head=head))

    def _lay_out(self) -> None:
        self._coming = False
        self.message.setProperty("role", "dim")
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.message)
        self.stack.addWidget(self.panels)
        self.transport.lay_out()
        self._let_move(NONE_YET)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(GAP)
        outer.addWidget(self.bar)
        outer.addWidget(self.stack, 1)
        keep(self, self._arrange)

    def _arrange(self) -> None:
        """Put fewer cards into a row where they have no room."""
        self.panels.arrange(self.width())

    def _let_move(self, why_not: str = "") -> None:
        """Let the buttons be pressed, or say why not; the scrubber takes the keys, whatever there is."""
        for button in (*self.transport.buttons.values(), self.transport.speed):
            button.setEnabled(not why_not)
            set_tip(button, why_not or button.accessibleName(), keyed=not why_not)

    def _connect(self) -> None:
        self.panels.tile_chosen.connect(self._go_tile)
        self.panels.pair_chosen.connect(self._watch)
        self.transport.sought.connect(self.seek)
        for button in (*self.transport.buttons.values(), self.transport.speed):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.transport.speed_chosen.connect(self.player.set_speed)
        self.player.ticked.connect(self._tick)
        self.player.playing_changed.connect(self.transport.show_playing)
        self.bar.kernel_chosen.connect(self._choose_kernel)
        self.bar.head_chosen.connect(self._choose_head)
        self.bar.added_chosen.connect(self._show)
        self.bar.recorded_chosen.connect(self.show_trace)

    def _go_tile(self, tile: int) -> None:
        if self.story is not None:
            self.seek(self.story.timeline.tile_ends[tile])
