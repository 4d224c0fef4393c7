"""What other views have the Stepper show: a tile of a timeline, or a point of a session, and the way back."""

from typing import NamedTuple, Protocol

from PySide6.QtCore import QObject

from flashscope.app.control.controller import Controller
from flashscope.app.pages.registry import title_of
from flashscope.app.pages.stepper.backward_board import BackwardBoard
from flashscope.app.pages.stepper.backwards import Backwards
from flashscope.app.pages.stepper.modes import Modes
from flashscope.app.pages.stepper.options_bar import OptionsBar
from flashscope.app.pages.stepper.tracing import Tracing
from flashscope.app.stepper.backward.requests import PointBackward
from flashscope.app.stepper.cursor import Cursor
from flashscope.app.stepper.from_point import PointTrace, is_of
from flashscope.app.stepper.modes import LANES, MODES
from flashscope.app.stepper.step_view import SteppedTrace
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.keyed import does
from flashscope.app.widgets.origin_line import OriginLine
from flashscope.app.widgets.plain import set_tip
from flashscope.kernels.workload.backward_trace import BackwardTrace
from flashscope.kernels.workload.trace import Trace, TraceRequest

KEEP_WORDS = "Keep the trace in the session on show"


class Visited(Protocol):
    """What walks through a trace.

    Attributes:
        bar: What is traced.
        modes: What is drawn, by modes.
        backwards: Shows backward passes.
        story: What is walked through, None before the first trace.
        position: The step on show, None before the first trace.
    """

    bar: OptionsBar
    modes: Modes
    backwards: Backwards
    story: SteppedTrace | None
    position: Cursor | None

    def show_trace(self, trace: Trace) -> None:
        """Show a trace from its start."""

    def show_mode(self, key: str) -> None:
        """Draw what is walked through in another mode."""

    def seek(self, at: int) -> None:
        """Go to a step."""


class Before(NamedTuple):
    """What was on show before a point was looked into."""

    trace: Trace | None
    at: int
    mode: str


class Visits(QObject):
    """Shows what is asked for elsewhere.

    Attributes:
        line: Says what is shown of a point, with the way back.
        keep_button: Keeps its trace.

    Args:
        page: What walks through it.
        controller: Has the session on show, and what other views ask for.
        tracing: Records what the session has not.
        parent: Its owner.
    """

    def __init__(self, page: Visited, controller: Controller, tracing: Tracing, parent: QObject) -> None:
        super().__init__(parent)
        self._page, self._controller, self._tracing = page, controller, tracing
        self._tile: tuple[TraceRequest, tuple[int, int]] | None = None  # where to go in which trace
        self._found: PointTrace | PointBackward | None = None
        self._before: Before | None = None
        insides = controller.insides
        self.keep_button = does(text_button("Keep", KEEP_WORDS, self.keep), "stepper.keep")
        self.line = OriginLine(insides.back_wanted.emit, "inside.back", (self.keep_button,))
        controller.timelines.tile_asked.connect(self.step_to)
        insides.trace_asked.connect(self.look_into)
        insides.backward_asked.connect(self.look_into_backward)
        insides.left.connect(self.leave)
        page.modes.changed.connect(self.offer_keeping)
        tracing.failed.connect(self._forget)
        controller.session_changed.connect(lambda _session: self._forget())
        controller.keeping.kept.connect(self.offer_keeping)

    def back(self) -> bool:
        """Lead back to the point that is on show; whether one is."""
        shown = self._found is not None
        if shown:
            self._controller.insides.back_wanted.emit()
        return shown

    def step_to(self, request: TraceRequest, tile: tuple[int, int]) -> None:
        """Show a tile (i, j) of a trace."""
        self._tile = request, tile
        self._leave_backward()
        self._show(request)

    def look_into(self, found: PointTrace) -> None:
        """Show a point's trace; of a kernel that holds S and P whole in Lanes."""
        self._remember()
        self._tell(found)
        if found.whole:
            self._page.show_mode(LANES)
        else:
            self._leave_backward()
        self._show(found.request)

    def look_into_backward(self, found: PointBackward) -> None:
        """Show the trace of a point's backward pass."""
        self._remember()
        self._tell(found)
        self._page.backwards.step_to(found.request, None)

    def _leave_backward(self) -> None:
        """Show what is asked for in a mode that walks it."""
        if self._page.modes.mode.apart:
            self._page.show_mode(MODES[0].key)

    def _remember(self) -> None:
        """Know what is on show before the point."""
        page, story = self._page, self._page.story
        trace = story.recording.trace if story is not None else None
        self._before = Before(trace, page.position.at if page.position is not None else 0, page.modes.key)

    def look_at(self, head: int) -> None:
        """Show another head of the problem on show."""
        story = self._page.story
        if story is not None:
            self._show(story.recording.request.at_head(head))

    def leave(self) -> None:
        """Show again what was on show before the point."""
        before = self._before
        if self._found is None or before is None:
            return
        self._forget()
        self._page.show_mode(before.mode)
        if before.trace is not None:
            self._tracing.drop()
            self._page.show_trace(before.trace)
            self._page.seek(before.at)

    def take(self, trace: Trace) -> None:
        """Know what the page shows now: words on a point stand only over a trace of it."""
        found = self._found
        other = isinstance(found, PointTrace) and not is_of(trace.request, found)
        if other or (isinstance(found, PointBackward) and not self._page.modes.mode.apart):
            self._forget()
        self.offer_keeping()

    def keep(self) -> None:
        """Write the trace on show into the session on show, unless it is there."""
        trace = self._unkept
        if trace is not None:
            self._controller.keeping.keep([trace])

    @property
    def _unkept(self) -> Trace | BackwardTrace | None:
        """The trace on show, None where the session on show has it."""
        story, session, board = self._page.story, self._controller.session, self._page.modes.board
        trace: Trace | BackwardTrace | None = story.recording.trace if story is not None else None
        if isinstance(board, BackwardBoard):
            trace = board.trace
        held = session is not None and (trace in session.traces or trace in session.backward_traces)
        return None if held else trace

    def offer_keeping(self) -> None:
        """Let the trace on show be kept where it is in no session."""
        why = self._controller.keeping.why_not
        self.keep_button.setVisible(self._unkept is not None)
        self.keep_button.setEnabled(not why)
        set_tip(self.keep_button, why or f"{KEEP_WORDS}: it is gone with the window otherwise")

    def arrive(self) -> None:
        """Go to the tile that was asked for, once its trace is there."""
        page = self._page
        if self._tile is None or page.story is None:
            return
        (request, tile), recording = self._tile, page.story.recording
        if request.asks_for(recording.trace.request):  # another trace may have been under way
            self._tile = None
            order = int(recording.order_of_tile[tile])
            if order >= 0:
                page.seek(page.story.timeline.tile_ends[order])

    def _show(self, request: TraceRequest) -> None:
        """That of the session on show where it has one like it, else a fresh one."""
        session = self._controller.session
        held = [one for one in session.traces if request.asks_for(one.request)] if session is not None else []
        if held:
            self._page.show_trace(held[-1])
        else:
            self._tracing.ask(request)

    def _tell(self, found: PointTrace | PointBackward) -> None:
        self._found = found
        self._page.bar.offer_point(found if isinstance(found, PointTrace) else None)
        self.line.tell(title_of(self._controller.insides.origin), found.words)

    def _forget(self) -> None:
        self._found = self._before = None
        self._page.bar.offer_point(None)
        self.line.hide()
