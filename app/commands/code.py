"""Source on stdout: coloured on a terminal, plain text in a pipe."""

import sys
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from app.commands.messages import say
from app.words.beside import AFTER, BEFORE, Cells, Hunk, cells

COLOURS = "ansi_dark"  # the terminal's own
STYLES = {BEFORE: "red", AFTER: "green"}
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


def print_sides(headings: tuple[str, str], hunks: Sequence[Hunk]) -> None:
    """Print two sources side by side; what is gone has a minus and is red, what is new a plus and green."""
    on_terminal = sys.stdout.isatty()
    console = Console(force_terminal=on_terminal)
    width = (console.width - EDGES) // 2 if on_terminal else PIPE_COLUMNS
    console.width = 2 * width + EDGES
    for heading, sign in zip(headings, STYLES, strict=True):
        console.print(Text(f"{sign} {heading}", style=f"bold {STYLES[sign]}"))
    for hunk in hunks:
        console.print(Text(_place(hunk), style="dim"))
        for line in _lines(hunk, width):
            console.print(line, soft_wrap=True)


def _place(hunk: Hunk) -> str:
    return f"--- line {hunk.left} | line {hunk.right} ---"


def _lines(hunk: Hunk, width: int) -> Iterator[Text]:
    for pair in hunk.pairs:
        for one in cells(pair, width):
            yield _line(one, width)


def _line(one: Cells, width: int) -> Text:
    left, right = one.signs
    line = Text(f"{left} {one.left:<{width}}", style=STYLES.get(left, ""))
    line.append(" | ", style="dim not bold default")
    line.append(f"{right} {one.right}", style=STYLES.get(right, "default"))
    line.rstrip()
    return line
