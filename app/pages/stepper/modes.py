"""What draws each mode of the Stepper, and which of them is on show."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from flashscope.app.look.theme import Theme
from flashscope.app.pages.stepper.arranging import GAP
from flashscope.app.pages.stepper.backward_board import BackwardBoard
from flashscope.app.pages.stepper.board import StepperBoard
from flashscope.app.pages.stepper.broken_board import BrokenBoard
from flashscope.app.pages.stepper.lanes_board import LanesBoard
from flashscope.app.pages.stepper.mode_board import ModeBoard
from flashscope.app.pages.stepper.predict_board import PredictBoard
from flashscope.app.stepper.modes import BACKWARD, BROKEN, LANES, MODES, PREDICT, Mode, mode_named
from flashscope.app.stepper.recording import Recording
from flashscope.app.stepper.step_view import SteppedTrace
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.scrolling import Scrolling
from flashscope.kernels.workload.trace import Trace

BOARDS: Mapping[str, Callable[[Theme], ModeBoard]] = {
    "blocks": StepperBoard,
    LANES: LanesBoard,
    BROKEN: BrokenBoard,
    PREDICT: PredictBoard,
    BACKWARD: BackwardBoard,
}
"""By the keys of `app.stepper.modes.MODES`; a mode is one entry there and one here."""


class Modes(QStackedWidget):
    """The modes over one another; each is made when it is looked at first.

    Attributes:
        blocks: The mode Blocks, which is there from the start.

    Signals:
        made: A mode was looked at first (ModeBoard).
        changed: Another mode is on show.

    Args:
        theme: The colours in use.
        controls: The page's, by the names that a mode has for those that mean nothing in it.
    """

    made = Signal(object)
    changed = Signal()

    def __init__(self, theme: Theme, controls: Mapping[str, QWidget]) -> None:
        super().__init__()
        self._theme, self._controls = theme, controls
        self._limit: int | None = None
        self._traces: Sequence[Trace] = ()
        self._boards: dict[str, ModeBoard] = {}
        self._over: dict[str, Scrolling] = {}  # the bars above and below it stay in view
        self._frames: dict[str, QWidget] = {}  # what scrolls, over the board's own controls
        self._mode = MODES[0]
        self.blocks = StepperBoard(theme)
        self._add(self._mode.key, self.blocks)

    @property
    def mode(self) -> Mode:
        """The one on show."""
        return self._mode

    @property
    def key(self) -> str:
        """Its key."""
        return self._mode.key

    @property
    def board(self) -> ModeBoard:
        """What draws it."""
        return self._boards[self._mode.key]

    @property
    def boards(self) -> Iterable[ModeBoard]:
        """What draws the modes that were looked at."""
        return self._boards.values()

    @property
    def cards(self) -> Sequence[Card]:
        """What stands without a frame on a stage, of every mode that was looked at."""
        return [card for board in self._boards.values() for card in board.cards]

    @property
    def next_key(self) -> str:
        """The key of the mode behind the one on show, of the first behind the last."""
        return MODES[(MODES.index(self._mode) + 1) % len(MODES)].key

    def steps(self, recording: Recording) -> SteppedTrace:
        """The steps of a recording in the mode on show; one that Blocks alone shows puts that on top."""
        if not recording.plain and not self._mode.apart:
            self.show_mode(MODES[0].key)
        return self._mode.steps(recording)

    def show_mode(self, key: str) -> None:
        """Put a mode on top, and put away what means nothing in it; the first where there is no such mode."""
        self._mode = mode_named(key)
        self.board_of(self._mode.key)
        self.setCurrentWidget(self._frames[self._mode.key])
        for name, control in self._controls.items():
            control.setVisible(name not in self._mode.idle)
        self.changed.emit()

    def has(self, key: str) -> bool:
        """Whether a mode was looked at."""
        return key in self._boards

    def board_of(self, key: str) -> ModeBoard:
        """What draws a mode, made now where it was not looked at."""
        if key not in self._boards:
            board = BOARDS[key](self._theme)
            self._add(key, board)
            self.made.emit(board)
        return self._boards[key]

    def apply_theme(self, theme: Theme) -> None:
        """Repaint all of them in other colours."""
        self._theme = theme
        for board in self._boards.values():
            board.apply_theme(theme)

    def take_limit(self, nbytes: int | None) -> None:
        """Let all of them know how much shared memory a block of the GPU has; None: there is no GPU."""
        self._limit = nbytes
        for board in self._boards.values():
            board.take_limit(nbytes)

    def let_scroll(self, scrolls: bool) -> None:
        """Let all of them scroll, or have each take the room there is, as on a stage."""
        for over in self._over.values():
            over.let_scroll(scrolls)

    def offer_traces(self, traces: Sequence[Trace]) -> None:
        """Let all of them know the traces of the session on show."""
        self._traces = traces
        for board in self._boards.values():
            board.offer_traces(traces)

    def _add(self, key: str, board: ModeBoard) -> None:
        self._boards[key] = board
        board.offer_traces(self._traces)
        board.take_limit(self._limit)
        over = self._over[key] = Scrolling(board)
        self._frames[key] = frame = QWidget()
        column = QVBoxLayout(frame)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        column.addWidget(over, 1)
        if board.below is not None:
            column.addWidget(board.below)
        self.addWidget(frame)
