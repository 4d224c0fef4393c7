"""Two texts side by side: what is the same, what has changed, and how it breaks into columns."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher, unified_diff
from itertools import chain, zip_longest
from typing import NamedTuple

CONTEXT = 3  # lines around a change
BEFORE, AFTER, SAME = "-", "+", " "
INDENT = 4  # of what goes on in the next line, beyond its own line
LEAST = 12  # characters of a line that are its own, however narrow a column is


class Pair(NamedTuple):
    """A line of each text, None where one has none there.

    Attributes:
        left: Of the text before.
        right: Of the text after.
        changed: Whether they differ.
    """

    left: str | None
    right: str | None
    changed: bool


class Hunk(NamedTuple):
    """Neighbouring lines with a change among them.

    Attributes:
        left: The number of its first line in the text before, from 1.
        right: The same in the text after.
        pairs: The lines.
    """

    left: int
    right: int
    pairs: Sequence[Pair]


class Cells(NamedTuple):
    """A line of two columns, with the sign of each: the same, gone or new."""

    left: str
    right: str
    signs: tuple[str, str]


def beside(before: str, after: str) -> list[Hunk]:
    """Two texts by their changes, each with a little around it; alike they have none."""
    old, new = before.splitlines(), after.splitlines()
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    return [
        Hunk(
            group[0][1] + 1,
            group[0][3] + 1,
            [*chain.from_iterable(_pairs(old[a:b], new[c:d], tag) for tag, a, b, c, d in group)],
        )
        for group in matcher.get_grouped_opcodes(CONTEXT)
    ]


def _pairs(old: Sequence[str], new: Sequence[str], tag: str) -> Iterator[Pair]:
    for left, right in zip_longest(old, new):
        yield Pair(left, right, tag != "equal")


def unified(before: str, after: str, names: tuple[str, str]) -> str:
    """The same as a diff; empty where they are alike."""
    lines = unified_diff(before.splitlines(), after.splitlines(), *names, n=CONTEXT, lineterm="")
    return "\n".join(lines)


def cells(pair: Pair, width: int) -> Iterator[Cells]:
    """A pair in two columns of so many characters, in as many lines as the longer one takes."""
    signs = (
        BEFORE if pair.changed and pair.left is not None else SAME,
        AFTER if pair.changed and pair.right is not None else SAME,
    )
    for left, right in zip_longest(*(_broken(text or "", width) for text in pair[:2]), fillvalue=""):
        yield Cells(left, right, signs)


def _broken(text: str, width: int) -> list[str]:
    """A line of code in lines that are no longer than this, broken at blanks where there are any."""
    lines, indent = [], min(len(text) - len(text.lstrip()) + INDENT, max(0, width - LEAST))
    while len(text) > width:
        own = len(text) - len(text.lstrip())
        at = text.rfind(" ", own + 1, width + 1)
        at = at if at > 0 else width
        lines.append(text[:at])
        text = " " * indent + text[at:].lstrip()
    return [*lines, text]
