"""Source on stdout: coloured on a terminal, plain text in a pipe."""

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from flashscope.app.commands.messages import say
from flashscope.app.words.own.line_diff import AFTER, BEFORE, GAP, DiffRow, Hunk, diff_hunks, sides, unified

COLOURS = "ansi_dark"  # the terminal's own
SIGNS = (BEFORE, AFTER)
STYLES = {BEFORE: "red", AFTER: "green", GAP: "dim"}
LEAST_COLUMNS = 120  # of a terminal for two sources side by side
PIPE_COLUMNS = 80  # of each of two sources where no terminal says how wide it is
EDGES = 7  # columns that are no source: two signs with a blank each, and a line between with blanks


def terminal_width() -> int:
    """Columns of the terminal."""
    return Console(force_terminal=True).width


def print_code(text: str, lexer: str) -> None:
    """Print source in the colours of its language."""
    if not sys.stdout.isatty():
        say(text.rstrip("\n"))
        return
    shown = Syntax(text, lexer, theme=COLOURS, background_color="default", word_wrap=True)
    Console(force_terminal=True).print(shown)


def print_difference(texts: tuple[str, str], names: tuple[str, str], form: str | None) -> None:
    """Print how a source has become another: as a `diff` or in two columns, `sides`; None: as the room is."""
    wide = sys.stdout.isatty() and terminal_width() >= LEAST_COLUMNS
    if (form or ("sides" if wide else "diff")) == "diff":
        print_code(unified(*texts, names), "diff")
    else:
        print_sides(names, diff_hunks(*texts))


def print_sides(headings: tuple[str, str], hunks: Sequence[Hunk]) -> None:
    """Print two sources side by side; what is gone has a minus and is red, what is new a plus and green."""
    on_terminal = sys.stdout.isatty()
    console = Console(force_terminal=on_terminal)
    width = (console.width - EDGES) // 2 if on_terminal else PIPE_COLUMNS
    console.width = 2 * width + EDGES
    for heading, sign in zip(headings, SIGNS, strict=True):
        console.print(Text(f"{sign} {heading}", style=f"bold {STYLES[sign]}"))
    for left, right in zip(*sides(hunks, width), strict=True):
        console.print(_line(left, right, width), soft_wrap=True)


def _line(left: DiffRow, right: DiffRow, width: int) -> Text:
    line = Text(f"{left.sign} {left.text:<{width}}", style=STYLES.get(left.sign, ""))
    line.append(" | ", style="dim not bold default")
    line.append(f"{right.sign} {right.text}", style=STYLES.get(right.sign, "default"))
    line.rstrip()
    return line
