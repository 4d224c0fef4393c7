"""Texts of the ticks of an axis, which are read beside one another."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Protocol

MOST_MORE = 9  # digits: a view that needs more has reached the end of what a number can say


class TickText(Protocol):
    """Writes a value as an axis shows it, with so many digits more than are usual."""

    def __call__(self, value: float, more: int = 0, /) -> str:
        """The text."""


def tick_texts(values: Sequence[float], text: TickText, step: float | None = None) -> list[str]:
    """The values, each with as many digits more as tell neighbours apart.

    Args:
        values: In their order.
        text: How one is written.
        step: From one value to the next, where others may stand between them or none beside one; None: the
            values are all that there are.
    """
    pairs = list(pairwise(values)) if step is None else [(value, value + step) for value in values]
    enough = (n for n in range(MOST_MORE) if all(text(one, n) != text(next_, n) for one, next_ in pairs))
    more = next(enough, 0)
    return [text(value, more) for value in values]
