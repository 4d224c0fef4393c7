"""Sessions beside each other: what pairs, what differs around it, and a verdict for each pair.

`compare` takes a baseline and up to five others. It knows no file, no Qt and no terminal.
"""

from profiles.results.compare.comparison import MOST_OTHERS, compare
from profiles.results.compare.model import Comparison, Contrast, Difference, Lone, Pair, Verdict

__all__ = ["MOST_OTHERS", "Comparison", "Contrast", "Difference", "Lone", "Pair", "Verdict", "compare"]
