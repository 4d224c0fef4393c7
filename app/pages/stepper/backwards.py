"""Traces of backward passes for the mode Backward: those of the session on show, else fresh ones."""

from typing import Protocol

from PySide6.QtCore import QObject

from flashscope.app.control.controller import Controller
from flashscope.app.pages.stepper.backward_board import BackwardBoard
from flashscope.app.pages.stepper.mode_board import ModeBoard
from flashscope.app.pages.stepper.modes import Modes
from flashscope.app.stepper.backward.requests import on_cpu, why_not
from flashscope.app.stepper.modes import BACKWARD
from flashscope.app.stepper.step_view import SteppedTrace
from flashscope.kernels.workload.backward_trace import BackwardTrace, BackwardTraceRequest


class Walking(Protocol):
    """What walks through traces.

    Attributes:
        modes: What is drawn, by modes.
        story: The trace on show, None before the first one.
    """

    modes: Modes
    story: SteppedTrace | None

    def show_mode(self, key: str) -> None:
        """Draw what is walked through in another mode."""

    def take_keys(self) -> None:
        """Have the keys step."""


class Backwards(QObject):
    """Has what the mode Backward wants: one at a time, the last one asked for, on the GPU after the sweep.

    Attributes:
        wanted: What it waits for, None when it has come.

    Args:
        page: What walks through traces.
        controller: Records, and has the session on show.
    """

    def __init__(self, page: Walking, controller: Controller, parent: QObject) -> None:
        super().__init__(parent)
        self.wanted: BackwardTraceRequest | None = None
        self._page, self._controller = page, controller
        self._place: tuple[int, int, int] | None = None  # the tile to go to in what is wanted
        traces = controller.backward_traces
        traces.ready.connect(self._take)
        traces.failed.connect(self._fail)
        traces.changed.connect(self._go_on)
        controller.running_changed.connect(self._go_on)
        controller.timelines.backward_tile_asked.connect(self.step_to)
        controller.session_changed.connect(lambda _session: self.offer())
        controller.keeping.kept.connect(self.offer)
        controller.machine_found.connect(self._tell_of_gpu)
        page.modes.made.connect(self._listen)

    @property
    def board(self) -> BackwardBoard:
        """What draws the mode."""
        board = self._page.modes.board_of(BACKWARD)
        if not isinstance(board, BackwardBoard):
            raise TypeError("The mode Backward is drawn by its own board")
        return board

    def step_to(self, request: BackwardTraceRequest, place: tuple[int, int, int] | None) -> None:
        """Show a trace in the mode, at a tile: the query head in its group, i and j."""
        story = self._page.story
        self.board.pin(story.recording if story is not None else None)
        self._page.show_mode(BACKWARD)
        self._place = place
        self._ask(request)

    def show(self, trace: BackwardTrace) -> None:
        """Show a trace in the mode, whatever is on show beside it."""
        story = self._page.story
        self.board.pin(story.recording if story is not None else None)
        self._page.show_mode(BACKWARD)
        self.wanted, self._place = None, None
        self._show(trace)

    def let_follow(self) -> None:
        """Have the mode follow the trace on show again."""
        if self._page.modes.has(BACKWARD):
            self.board.let_follow()

    def offer(self) -> None:
        """Let the traces of the session on show be chosen."""
        if self._page.modes.has(BACKWARD):
            self.board.bar.offer(self._held)

    @property
    def _gpu(self) -> bool:
        """Whether there is a GPU here, as far as is known."""
        machine = self._controller.machine
        return machine is not None and machine.device("cuda") is not None

    @property
    def _held(self) -> list[BackwardTrace]:
        session = self._controller.session
        return [] if session is None else session.backward_traces

    def _listen(self, board: ModeBoard) -> None:
        if isinstance(board, BackwardBoard):
            board.wanted.connect(self._ask_anew)
            board.gpu = self._gpu
            self.offer()

    def _tell_of_gpu(self) -> None:
        if self._page.modes.has(BACKWARD):
            self.board.gpu = self._gpu

    def _ask_anew(self, request: BackwardTraceRequest) -> None:
        self._place = None
        self._ask(request)

    def _ask(self, request: BackwardTraceRequest) -> None:
        """That of the session on show where it has one like it, else a fresh one."""
        held = [one for one in self._held if request.asks_for(one.request)]
        if held:
            self.wanted = None
            self._show(held[-1])
            return
        if request.backend == "cuda" and self._controller.machine is not None and not self._gpu:
            request = on_cpu(request)
            if why := why_not(request, None):
                self.wanted = None
                self.board.say(why)
                return
        self.wanted = request
        self.board.show_coming(request, waits=self._waits(request))
        self._go_on()

    def _waits(self, request: BackwardTraceRequest) -> bool:
        return request.backend == "cuda" and self._controller.measuring

    def _go_on(self) -> None:
        """Ask for what is wanted, where nothing is in its way."""
        traces, wanted = self._controller.backward_traces, self.wanted
        if wanted is not None and traces.asked is None and not self._waits(wanted):
            traces.ask([wanted])

    def _take(self, trace: BackwardTrace) -> None:
        if self._controller.backward_traces.asked == self.wanted:
            self.wanted = None
            self._show(trace)

    def _show(self, trace: BackwardTrace) -> None:
        first = self.board.story is None
        self.board.show_trace(trace, self._place)
        if (
            first and self._page.modes.mode.apart
        ):  # its scrubber, disabled until now, could not have the focus
            self._page.take_keys()

    def _fail(self, reason: str) -> None:
        if self._controller.backward_traces.asked == self.wanted:
            self.wanted = None
            self.board.say(reason)
