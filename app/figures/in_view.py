"""How far a user may move the view of a plot: inside the whole, and always where there is data. No Qt."""

from collections.abc import Sequence

import numpy as np

from flashscope.app.figures.series import Values

Ends = tuple[float, float]  # of an axis, in its own units
Polyline = tuple[Values, Values]  # positions along both axes, (points,) each, rising along the first
INSET = 0.1  # of what is on show: so far from its edge there is data
ALIKE = 1e-6  # of the whole: what differs by less is the whole


def within(part: Ends, whole: Ends) -> Ends:
    """As much as that of the whole, moved so that it does not leave it."""
    length = min(part[1] - part[0], whole[1] - whole[0])
    start = min(max(part[0], whole[0]), whole[1] - length)
    return (start, start + length)


def is_whole(part: Ends, whole: Ends) -> bool:
    """Whether nothing of the whole is left out."""
    slack = ALIKE * (whole[1] - whole[0])
    return part[0] <= whole[0] + slack and part[1] >= whole[1] - slack


def held(part: tuple[Ends, Ends], whole: tuple[Ends, Ends], lines: Sequence[Polyline]) -> tuple[Ends, Ends]:
    """As much as that of both axes, moved so that it is inside the whole and one of the lines is in it."""
    x, y = within(part[0], whole[0]), within(part[1], whole[1])
    known = [line for line in map(_finite, lines) if line[0].size]
    if not known:
        return x, y
    x = _moved(x, _least([_away(x, line[0]) for line in known]))
    return x, _moved(y, _least([_away(y, _seen(line, x)) for line in known]))


def _finite(line: Polyline) -> Polyline:
    known = np.isfinite(line[0]) & np.isfinite(line[1])
    return line[0][known], line[1][known]


def _seen(line: Polyline, x: Ends) -> Values:
    """How high a line is at the ends of a stretch and at its points between."""
    along, across = line
    between = across[(along > x[0]) & (along < x[1])]
    return np.concatenate((np.interp(x, along, across), between))


def _away(part: Ends, places: Values) -> float:
    """By how much to move a view so that some of what lies between these places is in it; 0: it is."""
    inset = INSET * (part[1] - part[0])
    low, high = float(places.min()), float(places.max())
    if part[1] < low + inset:
        return low + inset - part[1]
    return min(0.0, high - inset - part[0])


def _least(ways: Sequence[float]) -> float:
    return min(ways, key=abs)


def _moved(part: Ends, by: float) -> Ends:
    return (part[0] + by, part[1] + by)
