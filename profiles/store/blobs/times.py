"""Times from a file are those that something can have taken."""

import math
from collections.abc import Sequence

LONGEST_MS = 86_400_000.0  # a day
POSITIVE_MS = math.ulp(0.0)  # the shortest that is more than nothing


def check_times(of: str, ms: Sequence[float], most: int, *, least: float = 0.0) -> None:
    """Refuse more times than so many, and those that nothing takes.

    Raises:
        ValueError: The text says so of what they are of.
    """
    if len(ms) > most:
        raise ValueError(f"{of} with {len(ms)} times")
    if not all(math.isfinite(one) and least <= one <= LONGEST_MS for one in ms):
        raise ValueError(f"{of} with a time beyond a day, or of {'' if least else 'less than '}nothing")
