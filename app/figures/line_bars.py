"""What a bar beside a line or an instruction shows: parts of some kinds, and a few characters."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from flashscope.app.figures.instruction_lines import InstructionLines
from flashscope.kernels.cuda.sass.kinds import KINDS

Parts = Mapping[int, int]
"""How much there is of each kind, by its place among them."""


class LineBars(NamedTuple):
    """The bars of a source.

    Attributes:
        parts: Of each line, from 1, that has any.
        kinds: How many kinds there are.
        text: What stands before a bar, of its whole.
    """

    parts: Mapping[int, Parts]
    kinds: int
    text: Callable[[int], str]

    @property
    def most(self) -> int:
        """The whole of the longest bar."""
        return max((sum(parts.values()) for parts in self.parts.values()), default=0)


NO_BARS = LineBars({}, 0, str)


def kind_bars(lines: InstructionLines) -> LineBars:
    """How many instructions of each kind are a line's own."""
    return LineBars(lines.counts, len(KINDS), str)
