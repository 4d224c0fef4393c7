"""Tables on stdout: with colours on a terminal, plain text in a pipe."""

import sys
from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flashscope.profiles.wire.text import harmless

GAP = 2  # spaces between two columns
_ONE_LINE = str.maketrans("\n\t", "  ")


class Styled(NamedTuple):
    """A cell with one of rich's styles, such as `green` or `bold red`."""

    text: str
    style: str


TableCell = str | Styled
BEST = "bold green"
_STATUS_STYLES = {
    "done": "green",
    "will-not-fit": "yellow",
    "oom": "yellow",
    "wrong": "bold red",
    "impossible": "bold red",
    "altered": "bold red",
    "failed": "bold red",
    "timeout": "red",
    "interrupted": "red",
}


def status_cell(status: str) -> Styled:
    """The status of a point in its colour."""
    return Styled(status, _STATUS_STYLES.get(status, "dim"))


def trust_cell(word: str) -> Styled:
    """How far a point can be trusted in its colour."""
    return Styled(
        word, {"fair": "yellow", "doubtful": "bold red", "impossible": "bold red"}.get(word, "green")
    )


def print_table(
    headings: Sequence[str], rows: Sequence[Sequence[TableCell]], *, keys: int = 1, texts: int = 0
) -> None:
    """Print columns, the first left-aligned, the others right-aligned but those of text.

    Where a terminal is too narrow for all, the columns are printed as several tables. In a pipe a line is as
    long as it has to be.

    Args:
        headings: The titles of the columns.
        rows: The cells of each line.
        keys: How many columns say what a line is about: they stand at the left of each of several tables.
        texts: How many columns at the end hold text, which is left-aligned.
    """
    on_terminal = sys.stdout.isatty()
    console = Console(force_terminal=on_terminal)
    columns = list(zip(headings, *rows, strict=True))
    left = {0, *range(len(columns) - texts, len(columns))}
    widths = [max(cell_len(_plain(cell)) for cell in column) for column in columns]
    room = console.width if on_terminal else sys.maxsize
    for number, chosen in enumerate(_side_by_side(widths, keys, room)):
        if number:
            console.print()
        console.width = max(console.width, _total([widths[c] for c in chosen]))
        console.print(_table([columns[c] for c in chosen], [c in left for c in chosen]))


def _side_by_side(widths: Sequence[int], keys: int, room: int) -> list[list[int]]:
    """The columns of as many tables as it takes for each to fit into the room."""
    tables = [list(range(keys))]
    for column in range(keys, len(widths)):
        wider = [*tables[-1], column]
        if len(tables[-1]) == keys or _total([widths[c] for c in wider]) <= room:
            tables[-1] = wider
        else:
            tables.append([*range(keys), column])
    return tables


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _table(columns: Sequence[Sequence[TableCell]], left: Sequence[bool]) -> Table:
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="bold")
    for (heading, *_), at_left in zip(columns, left, strict=True):
        table.add_column(_text(heading), justify="left" if at_left else "right", no_wrap=True)
    for cells in zip(*(column[1:] for column in columns), strict=True):
        table.add_row(*map(_text, cells))
    return table


def _text(cell: TableCell) -> Text:
    return Text(_plain(cell), style=cell.style if isinstance(cell, Styled) else "")


def _plain(cell: TableCell) -> str:
    text = cell.text if isinstance(cell, Styled) else cell
    return harmless(text).translate(_ONE_LINE)
