"""Sessions beside each other: what pairs, what differs around it, and a verdict for each pair.

`compare` takes a baseline and up to five others. It knows no file, no Qt and no terminal.
"""

from flashscope.profiles.results.compare.comparison import MOST_OTHERS, compare, kernel_over
from flashscope.profiles.results.compare.model import (
    Comparison,
    Contrast,
    Difference,
    Lone,
    Pair,
    PairVerdict,
)

__all__ = [
    "MOST_OTHERS",
    "Comparison",
    "Contrast",
    "Difference",
    "Lone",
    "Pair",
    "PairVerdict",
    "compare",
    "kernel_over",
]
