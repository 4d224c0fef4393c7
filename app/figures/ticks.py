"""Where values stand on an axis, and which of its places get a tick; no Qt."""

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np

from flashscope.app.words.kinds import Scale

Label = tuple[float, float, float]  # left end, position of the tick, right end
FEWEST = 4  # ticks with labels: fewer do not say what scale an axis has
DENSE = 2 * FEWEST  # pieces of a view, of which a round length makes as many ticks as that at least
STEPS = (1, 2, 4, 5, 6, 8, 10, 20)  # decades or doublings between two ticks
PARTS = ((1, 2, 5), (1, 3))  # of a decade
DENSE_PARTS = ((1, 3), (1, 2, 5), (1, 2, 3, 5, 7), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9))
SMALLEST = 1e-300  # a step, from which on arithmetic is exact
LARGEST = 1e300  # of a tick on a logarithmic axis: a view may end where no number is
_NICE = (1.0, 2.0, 2.5, 5.0, 10.0)


def to_axis(values: object, scale: Scale) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Positions of values on an axis of that scale; NaN where there is none, as of 0 on a logarithmic one."""
    array = np.asarray(values, dtype=np.float64)
    if scale == "linear":
        return array
    positive = np.where(array > 0, array, np.nan)
    return np.log2(positive) if scale == "log2" else np.log10(positive)


def from_axis(place: float, scale: Scale) -> float:
    """The value at a position of an axis."""
    if scale == "linear":
        return place
    return float(2.0**place) if scale == "log2" else float(f"{10.0**place:.6g}")


def value_ticks(
    low: float, high: float, scale: Scale, *, binary: bool, room: int, half: float
) -> list[float]:
    """Places of the ticks of an axis from `low` to `high`, at round values.

    Args:
        low: Its lower end, a place on that scale.
        high: Its upper end.
        scale: How values are placed.
        binary: Whether round is a power of two, as of bytes.
        room: How many labels fit, at least 2.
        half: Half the height of a label in places: what leaves the axis is not drawn.
    """
    if scale == "linear":
        return _even_ticks(low, high, room, half, binary_step if binary else nice_step)
    inside = low + half, min(high, float(to_axis(LARGEST, scale))) - half
    if inside[1] <= inside[0]:
        return []
    choices = [c for c in _log_ticks(*inside, scale, binary=binary) if _apart(c, 2 * half)]
    good = (places for places in choices if FEWEST <= len(places) <= room)
    thinned = (_thinned(places, half) for places in _dense_ticks(*inside, scale, binary=binary))
    enough = (places for places in (*choices, *thinned) if len(places) >= FEWEST)
    return next(good, None) or next(enough, None) or max(choices, key=len, default=[])


def _thinned(places: Sequence[float], half: float) -> list[float]:
    """Those of them whose labels leave room for each other."""
    return fitting([(place - half, place, place + half) for place in places], 0.0)


def _apart(places: Sequence[float], least: float) -> bool:
    """Whether no two labels stand on one another."""
    return all(after - before >= least for before, after in pairwise(places))


def _even_ticks(
    low: float, high: float, room: int, half: float, step_of: Callable[[float], float]
) -> list[float]:
    """Multiples of the round step that leaves room for their labels, else of the next that makes enough."""
    steps = (step_of((high - low) / most) for most in range(room, room + 2 * FEWEST))
    choices = [multiples(low, high, step) for step in steps]
    enough = (c for c in choices if sum(low + half <= place <= high - half for place in c) >= FEWEST)
    return next(enough, choices[-1])


def _log_ticks(low: float, high: float, scale: Scale, *, binary: bool) -> list[list[float]]:
    """Ways to put ticks on a logarithmic axis, the best first; the last serves the narrowest view."""
    even = _even_places(low, high, scale, DENSE, binary=binary)
    powers = [
        [place + first for place in multiples(low - first, high - first, step)]
        for step in STEPS
        for first in range(step if binary else 1)  # 512 MiB, 2 GiB, 8 GiB are as round as 1, 4 and 16 GiB
    ]
    parts = [] if binary else [_within_decades(low, high, part) for part in PARTS]
    return [*powers, *parts, even]


def _dense_ticks(low: float, high: float, scale: Scale, *, binary: bool) -> Iterator[list[float]]:
    """More places than have room, of which some may be enough, the roundest first."""
    if not binary:
        yield from (_within_decades(low, high, part) for part in DENSE_PARTS)
    for pieces in (DENSE, 2 * DENSE, 4 * DENSE):
        yield _even_places(low, high, scale, pieces, binary=binary)


def _even_places(low: float, high: float, scale: Scale, pieces: int, *, binary: bool) -> list[float]:
    """Where values stand that a round step parts; none where the ends are one value."""
    first, last = from_axis(low, scale), from_axis(high, scale)
    at_least = (last - first) / pieces
    if not SMALLEST < at_least < math.inf:
        return []
    step = (binary_step if binary else nice_step)(at_least)
    return [float(place) for place in to_axis(multiples(first, last, step), scale)]


def fitting(labels: Sequence[Label], gap: float) -> list[float]:
    """Tick positions of as many labels as fit side by side, as evenly as possible, from first to last.

    Dynamic programming from left to right: the best choice of labels that ends with label i extends the best
    choice that ends with some label j before it. The best one has the most labels; among equals it has the
    smallest sum of squared distances, which makes it the most even.

    Args:
        labels: From left to right.
        gap: The least distance between two.
    """
    if not labels:
        return []
    best = {
        0: (1, 0.0, 0)
    }  # label i: (labels chosen, minus the sum of squared distances, the label before i)
    for i, (left, position, _) in enumerate(labels):
        extended = [
            (count + 1, evenness - (position - labels[j][1]) ** 2, j)
            for j, (count, evenness, _) in best.items()
            if left - labels[j][2] >= gap
        ]
        if extended:
            best[i] = max(extended)
    positions, i = [], len(labels) - 1 if len(labels) - 1 in best else 0
    while i:
        positions.append(labels[i][1])
        i = best[i][2]
    return [labels[0][1], *reversed(positions)]


def fitting_around(labels: Sequence[Label], gap: float, kept: float) -> list[float]:
    """The same with the label at this position among them, where there is one."""
    at = next((place for place, label in enumerate(labels) if label[1] == kept), None)
    if at is None:
        return fitting(labels, gap)
    mirrored = [(-right, -position, -left) for left, position, right in labels[at::-1]]
    return [*(-position for position in fitting(mirrored, gap)[:0:-1]), *fitting(labels[at:], gap)]


def nice_step(at_least: float) -> float:
    """The smallest of 1, 2, 2.5, 5 times a power of ten that is not below `at_least`."""
    decade = 10.0 ** math.floor(math.log10(at_least))
    return next(factor * decade for factor in _NICE if factor * decade >= at_least * (1 - 1e-9))


def binary_step(at_least: float) -> float:
    """The smallest power of two that is not below `at_least`."""
    return float(2.0 ** math.ceil(math.log2(at_least)))


def multiples(low: float, high: float, step: float) -> list[float]:
    """Every multiple of `step` from low to high."""
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


def _within_decades(low: float, high: float, factors: Sequence[float]) -> list[float]:
    decades = range(math.floor(low), math.ceil(high) + 1)
    places = [k + math.log10(factor) for k in decades for factor in factors]
    return [place for place in places if low <= place <= high]
