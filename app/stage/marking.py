"""Which lines of a source a stop marks: those that hold a text, or those of these numbers."""

import re
from collections.abc import Iterator, Sequence

from flashscope.kernels.cuda.reading.step import StepSource

NUMBERS = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")


def marked_lines(
    source: StepSource | None, wanted: Sequence[str], *, numbered: bool = True
) -> frozenset[int]:
    """The lines, from 0.

    Args:
        source: Whose.
        wanted: Texts that lines hold, and numbers from 1, as `12` or `12-18`.
        numbered: Whether numbers are this source's.
    """
    lines = source.text.splitlines() if source is not None else []
    return frozenset(number for text in wanted for number in _meant(lines, text, numbered=numbered))


def _meant(lines: Sequence[str], text: str, *, numbered: bool) -> Iterator[int]:
    numbers = NUMBERS.fullmatch(text)
    if numbers is None:
        yield from (number for number, line in enumerate(lines) if text in line)
    elif numbered:
        first, last = int(numbers[1]), int(numbers[2] or numbers[1])
        yield from (number - 1 for number in range(first, min(last, len(lines)) + 1) if number > 0)
