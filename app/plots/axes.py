"""Axes that know what they show: sequence lengths, bytes, milliseconds, seconds."""

import math
from collections.abc import Sequence

import numpy as np
from PySide6.QtGui import QFontMetricsF

from app.control.guard import guarded
from app.look.zoom import px
from app.plots.style import UnitAxis, tick_font
from app.words.kinds import KindWords, Scale
from app.words.units import seqlen_text

Ticks = list[tuple[float, list[float]]]
Label = tuple[float, float, float]  # left end, position of the tick, right end
SEQLEN_GAP_PX = 3  # between two labels
SEQLEN_SLACK_PX = 2  # pyqtgraph rounds widths up, and drops a label that leaves the axis by less than that
VALUE_GAP_PX = 18
FEWEST = 3  # ticks with labels on a logarithmic axis: fewer do not say that it is one
DENSE = 2 * FEWEST  # pieces of a view, of which a round length makes as many ticks as that at least
STEPS = (1, 2, 4, 5, 6, 8, 10, 20)  # decades or doublings between two ticks
PARTS = ((1, 2, 5), (1, 3))  # of a decade
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


def seqlen_px(seqlens: Sequence[int]) -> list[float]:
    """Widths of the labels of sequence lengths."""
    metrics = QFontMetricsF(tick_font())
    return [metrics.horizontalAdvance(seqlen_text(n)) + SEQLEN_SLACK_PX for n in seqlens]


class SeqlenAxis(UnitAxis):
    """Sequence lengths at log2 N, with ticks at those lengths of the sweep whose labels fit."""

    def __init__(self) -> None:
        super().__init__("bottom")
        self._seqlens: tuple[int, ...] = ()

    def set_seqlens(self, seqlens: Sequence[int]) -> None:
        """Put the ticks at these lengths, or at powers of two when there are none."""
        if self._seqlens == tuple(seqlens):
            return
        self._seqlens = tuple(seqlens)
        self.picture = None
        self.update()

    @guarded(list)
    def tickValues(self, minVal: float, maxVal: float, size: float) -> Ticks:  # noqa: N803 - pyqtgraph's names
        """Positions of the lengths in view whose labels fit."""
        seqlens = self._seqlens or tuple(2**k for k in range(25))
        pixel = (maxVal - minVal) / max(size, 1.0)
        halves = [width / 2 * pixel for width in seqlen_px(seqlens)]
        labels = [
            (place - half, place, place + half)
            for place, half in zip(map(math.log2, seqlens), halves, strict=True)
            if minVal <= place - half and place + half <= maxVal  # what leaves the axis is not drawn
        ]
        return [(1.0, fitting(labels, SEQLEN_GAP_PX * pixel))]

    @guarded(list)
    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """Lengths as people write them: 16k."""
        del scale, spacing
        return [seqlen_text(round(2.0**place)) for place in values]


class ValueAxis(UnitAxis):
    """A quantity on a linear, a log2 or a log10 scale."""

    def __init__(self, words: KindWords) -> None:
        super().__init__("left", words.tick)
        self.scale_name, self._binary = words.scale, words.scale == "log2"
        self._last = math.inf

    def set_words(self, words: KindWords) -> None:
        """Show a quantity of another kind, on the axis that it is drawn on at first."""
        self._text, self._binary = words.tick, words.scale == "log2"
        self.set_scale(words.scale)

    def set_scale(self, scale: Scale) -> None:
        """Change the scale."""
        self.scale_name = scale
        self.picture = None
        self.update()

    def end_at(self, place: float) -> None:
        """Draw no tick above this position: the rail of points without a value is there."""
        if self._last == place:
            return
        self._last = place
        self.picture = None
        self.update()

    @guarded(list)
    def tickValues(self, minVal: float, maxVal: float, size: float) -> Ticks:  # noqa: N803 - pyqtgraph's names
        """Positions of the ticks: round values, as many as fit into the height."""
        pixel = max(maxVal - minVal, 1e-12) / max(size, 1.0)
        high = max(min(maxVal, self._last), minVal + pixel)
        return [(1.0, self._ticks(minVal, high, pixel))]

    def _ticks(self, low: float, high: float, pixel: float) -> list[float]:
        room = max(2, int((high - low) / pixel / px(VALUE_GAP_PX)))
        if self.scale_name == "linear":
            step = (binary_step if self._binary else nice_step)((high - low) / room)
            return multiples(low, high, step)
        half = QFontMetricsF(tick_font()).height() / 2 * pixel  # a label that leaves the axis is not drawn
        choices = self._log_ticks(low + half, high - half) if high - half > low + half else [[]]
        good = (places for places in choices if FEWEST <= len(places) <= room)
        enough = (places for places in choices if len(places) >= FEWEST)
        return next(good, min(enough, key=len, default=choices[0]))

    def _log_ticks(self, low: float, high: float) -> list[list[float]]:
        """Ways to put ticks on a logarithmic axis, the best first; the last serves the narrowest view."""
        first, last = from_axis(low, self.scale_name), from_axis(high, self.scale_name)
        step = (binary_step if self._binary else nice_step)((last - first) / DENSE)
        even = [float(place) for place in to_axis(multiples(first, last, step), self.scale_name)]
        powers = [multiples(low, high, step) for step in STEPS]
        parts = [] if self._binary else [_within_decades(low, high, part) for part in PARTS]
        return [*powers, *parts, even]

    @guarded(list)
    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """The values at these places, as their kind is written."""
        del scale, spacing
        return [self._text(from_axis(place, self.scale_name)) for place in values]


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


def _within_decades(low: float, high: float, factors: Sequence[int]) -> list[float]:
    decades = range(math.floor(low), math.ceil(high) + 1)
    places = [k + math.log10(factor) for k in decades for factor in factors]
    return [place for place in places if low <= place <= high]
