"""What a user can do on the Source page, for menus, the palette and keys."""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from PySide6.QtWidgets import QCheckBox

from flashscope.app.control.actions import Action, staged
from flashscope.app.control.controller import Controller
from flashscope.app.pages.ladder.board import LadderBoard
from flashscope.app.pages.ladder.sass.board import SassBoard
from flashscope.app.pages.ladder.sass.notice import AGAIN, CANCEL
from flashscope.app.pages.ladder.stalls.board import StallsBoard
from flashscope.app.pages.ladder.stalls.head import GIVE_UP, KEEP, KEEP_WORDS, SAMPLE, SAMPLE_WORDS

STRIDE = 3  # rows that a key goes on
COPY_WORDS, SAVE_WORDS = "Copy the source with its machine code", "Save the source with its machine code"


class LadderView(Protocol):
    """Where sources, machine code and stalls are shown.

    Attributes:
        controller: Has what is sampled.
        whole: Whether all lines are on show.
        sass: Whether the machine code is on show.
        stalls: Whether the stalls are on show.
        board: The two sources.
        sass_board: The machine code.
        stalls_board: The stalls.
    """

    controller: Controller
    whole: QCheckBox
    sass: QCheckBox
    stalls: QCheckBox
    board: LadderBoard
    sass_board: SassBoard
    stalls_board: StallsBoard

    def step(self, by: int) -> None:
        """Show the next step, or the one before."""

    def toggle(self, box: QCheckBox) -> None:
        """Show machine code or stalls, or the sources again."""

    def other_order(self) -> None:
        """Show the instructions on show in another order."""

    def copy_sass(self) -> None:
        """Put the source with its machine code on the clipboard."""

    def save_sass(self) -> None:
        """Write the source with its machine code into a file."""


def offers(page: LadderView) -> list[Action]:
    """Everything that the page offers, in the order of the menus."""
    board = page.board
    sass, stalls = partial(page.toggle, page.sass), partial(page.toggle, page.stalls)
    return [
        Action("ladder.next", "Show the next step", partial(page.step, 1), "Source", "N"),
        Action("ladder.before", "Show the step before", partial(page.step, -1), "Source", "P"),
        Action("ladder.whole", "Show the whole source, or its changes", page.whole.toggle, "Source", "W"),
        Action("ladder.sass", "Show the machine code beside the source", sass, "Source", "S"),
        Action("ladder.stalls", "Show where the kernel stalls", stalls, "Source", "L"),
        *_sass_offers(page),
        *_stalls_offers(page),
        *staged(
            Action("ladder.on", "Go on in the source", partial(board.go_on, STRIDE), "Source", "Down"),
            Action("ladder.up", "Go back in the source", partial(board.go_on, -STRIDE), "Source", "Up"),
        ),
    ]


def _sass_offers(page: LadderView) -> list[Action]:
    """What can be done with machine code on show."""
    board = page.sass_board
    told: tuple[tuple[str, str, Callable[[], None], str], ...] = (
        ("order", "Show the machine code by address, or by line", page.other_order, "A"),
        ("copy", COPY_WORDS, page.copy_sass, ""),
        ("save", SAVE_WORDS, page.save_sass, ""),
        (CANCEL, "Stop compiling", board.cancel, ""),
        (AGAIN, "Compile once more", board.try_again, ""),
    )
    return [Action(f"ladder.{key}", title, do, "Source", keys) for key, title, do, keys in told]


def _stalls_offers(page: LadderView) -> list[Action]:
    """What can be done with stalls on show."""
    board = page.stalls_board
    return [
        Action(SAMPLE, SAMPLE_WORDS, board.sample, "Source", "R"),
        Action(GIVE_UP, "Stop sampling", page.controller.stalls.give_up, "Source", "C"),
        Action(KEEP, f"{KEEP_WORDS}: the stalls", board.keep, "Source", "K"),
    ]
