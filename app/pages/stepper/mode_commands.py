"""What can be done in single modes: break a trace, go to its first wrong tile, answer a question."""

from collections.abc import Callable
from functools import partial

from flashscope.app.control.actions import Action, staged
from flashscope.app.pages.stepper.broken_board import BrokenBoard
from flashscope.app.pages.stepper.modes import Modes
from flashscope.app.pages.stepper.predict_board import PredictBoard
from flashscope.app.stepper.modes import BROKEN
from flashscope.app.stepper.quiz import MOST_CHOICES
from flashscope.app.words.inside.faults import WORDS
from flashscope.kernels.workload.trace import Fault

NO_QUESTION = "The keys 1 to 3 answer questions in the mode Predict: M leads to it."


class ModeCommands:
    """The commands of the modes.

    Args:
        modes: What draws them.
        choose: Brings a mode to the front.
        tell: Tells the user something in one line.
    """

    def __init__(self, modes: Modes, choose: Callable[[str], None], tell: Callable[[str], object]) -> None:
        self._modes, self._choose, self._tell = modes, choose, tell

    def offered(self) -> list[Action]:
        """One action for each fault, one for the first wrong tile, one for each choice of a question."""
        first = Action(
            "stepper.first_wrong", "Go to the first wrong tile", self.show_first_wrong, "Stepper", "W"
        )
        return staged(first, *map(self._of_fault, WORDS), *map(self._of_choice, range(MOST_CHOICES)))

    def show_fault(self, fault: Fault) -> None:
        """Break what is on show in one of the ways there are, beside the right trace."""
        board = self._broken()
        if board is not None:
            board.take_fault(fault)

    def show_first_wrong(self) -> None:
        """Go to the first tile that the fault on show makes wrong."""
        board = self._broken()
        if board is not None:
            board.go_to_first_wrong()

    def answer(self, choice: int) -> None:
        """Answer the question on show; elsewhere say where there are questions."""
        board = self._modes.board
        if isinstance(board, PredictBoard):
            board.answer(choice)
        else:
            self._tell(NO_QUESTION)

    def _broken(self) -> BrokenBoard | None:
        """The mode Broken, in front; None where the trace on show refuses it, which is said."""
        self._choose(BROKEN)
        board = self._modes.board
        return board if isinstance(board, BrokenBoard) else None

    def _of_fault(self, fault: Fault) -> Action:
        title = f"Break the Stepper: {WORDS[fault].title}"
        return Action(f"stepper.fault.{fault}", title, partial(self.show_fault, fault), "Stepper")

    def _of_choice(self, n: int) -> Action:
        key, title = f"stepper.answer.{n + 1}", f"Answer with choice {n + 1}"
        return Action(key, title, partial(self.answer, n), "Stepper", str(n + 1))
