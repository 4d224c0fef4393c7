"""Two texts side by side: what is the same, what has changed, and how it breaks into columns."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher, unified_diff
from itertools import chain, zip_longest
from typing import NamedTuple

CONTEXT = 3  # lines around a change
BEFORE, AFTER, SAME, GAP = "-", "+", " ", "⋯"
INDENT = 4  # of what goes on in the next line, beyond its own line
DEEP = 2  # the part of a column that is the most indentation of a line that does not fit
LEAST = 12  # characters of a line that are its own, however narrow a column is


class Line(NamedTuple):
    """A line of a text: its number, from 0, and what stands in it."""

    number: int
    text: str


class LinePair(NamedTuple):
    """A line of each text, None where one has none there; and whether they differ."""

    left: Line | None
    right: Line | None
    changed: bool


Hunk = Sequence[LinePair]
"""Neighbouring lines with a change among them."""


class DiffRow(NamedTuple):
    """A line of a column.

    Attributes:
        text: What stands there: a line, or a part of one.
        sign: The same, gone, new, or that lines are left out.
        number: Of the line in its text, from 0; None: of no line.
        shift: How much further to the right it stands in its line.
    """

    text: str = ""
    sign: str = SAME
    number: int | None = None
    shift: int = 0


def diff_hunks(before: str, after: str, *, whole: bool = False) -> list[Hunk]:
    """Two texts by their changes, each with a little around it, or as a whole; alike they have none."""
    old, new = ([Line(*one) for one in enumerate(text.splitlines())] for text in (before, after))
    texts = [[line.text for line in lines] for lines in (old, new)]
    matcher = SequenceMatcher(None, texts[0], texts[1], autojunk=False)
    around = len(old) + len(new) if whole else CONTEXT
    return [
        [*chain.from_iterable(_pairs(old[a:b], new[c:d], tag) for tag, a, b, c, d in group)]
        for group in matcher.get_grouped_opcodes(around)
    ]


def _pairs(old: Sequence[Line], new: Sequence[Line], tag: str) -> Iterator[LinePair]:
    for left, right in zip_longest(old, new):
        yield LinePair(left, right, tag != "equal")


def unified(before: str, after: str, names: tuple[str, str]) -> str:
    """Two texts as a unified diff; empty where they are alike."""
    lines = unified_diff(before.splitlines(), after.splitlines(), *names, n=CONTEXT, lineterm="")
    return "\n".join(lines)


def sides(hunks: Sequence[Hunk], width: int, *, aligned: bool = True) -> tuple[list[DiffRow], list[DiffRow]]:
    """Two columns of so many characters; each hunk without the indentation that all of it has.

    Args:
        hunks: What stands in them.
        width: Characters of a column.
        aligned: Whether lines that belong together stand beside each other.
    """
    columns: tuple[list[DiffRow], list[DiffRow]] = ([], [])
    for hunk in hunks:
        common = _common(hunk)
        _put(columns, *([gap] if (gap := _gap(hunk, side)) else [] for side in (0, 1)), aligned=True)
        for pair in hunk:
            rows = [_rows(line, width, common, _sign(pair, side)) for side, line in enumerate(pair[:2])]
            _put(columns, *rows, aligned=aligned)
    return columns


def _put(
    columns: tuple[list[DiffRow], list[DiffRow]], left: list[DiffRow], right: list[DiffRow], *, aligned: bool
) -> None:
    most = max(len(left), len(right)) if aligned else 0
    for column, rows in zip(columns, (left, right), strict=True):
        column.extend([*rows, *[DiffRow()] * (most - len(rows))])


def _gap(hunk: Hunk, side: int) -> DiffRow | None:
    """Says where a hunk begins; None at the beginning of the text."""
    first = next((line.number for pair in hunk if (line := pair[:2][side]) is not None), 0)
    return DiffRow(f"line {first + 1}", GAP) if first else None


def _sign(pair: LinePair, side: int) -> str:
    return (BEFORE, AFTER)[side] if pair.changed else SAME


def _common(hunk: Hunk) -> int:
    """Blanks that every line of code begins with; directives begin at the edge."""
    lines = (line.text for pair in hunk for line in pair[:2] if line is not None)
    return min((_indent(text) for text in lines if text.strip() and text[0] != "#"), default=0)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _rows(line: Line | None, width: int, common: int, sign: str) -> list[DiffRow]:
    """A line in rows that are no longer than this, broken at blanks where there are any."""
    if line is None:
        return []
    shift = min(common, _indent(line.text))
    if len(line.text) - shift > width:  # what does not fit needs no deep indentation
        shift += max(0, _indent(line.text) - shift - width // DEEP)
    text, rows = line.text[shift:], []
    further = min(_indent(text) + INDENT, max(0, width - LEAST))
    while len(text) > width:
        at = text.rfind(" ", _indent(text) + 1, width + 1)
        at = at if at > 0 else width
        rows.append(DiffRow(text[:at], sign, line.number, shift))
        at += _indent(text[at:])
        shift += at - further
        text = " " * further + text[at:]
    return [*rows, DiffRow(text, sign, line.number, shift)]
