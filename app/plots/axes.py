"""Axes that know what they show: sequence lengths, bytes, milliseconds, seconds."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from app.plots.metric import Scale
from app.plots.style import UnitAxis
from app.plots.units import seqlen_text

Ticks = list[tuple[float, list[float]]]
SEQLEN_GAP_PX = 38  # room for five digits
VALUE_GAP_PX = 18
FEW_DECADES = 2.5  # below, decades alone are too few ticks
_NICE = (1.0, 2.0, 2.5, 5.0, 10.0)


def to_axis(values: object, scale: Scale) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Place values on an axis of that scale; what has no place there (0 on a log axis) becomes NaN."""
    array = np.asarray(values, dtype=np.float64)
    if scale == "linear":
        return array
    positive = np.where(array > 0, array, np.nan)
    return np.log2(positive) if scale == "log2" else np.log10(positive)


def from_axis(place: float, scale: Scale) -> float:
    """The value at a place of an axis."""
    if scale == "linear":
        return place
    return float(2.0**place) if scale == "log2" else float(f"{10.0**place:.6g}")


class SeqlenAxis(UnitAxis):
    """Sequence length, placed at log2 N; ticks stand at the lengths of the sweep that have room."""

    def __init__(self) -> None:
        super().__init__("bottom")
        self._seqlens: tuple[int, ...] = ()

    def set_seqlens(self, seqlens: Sequence[int]) -> None:
        """Put the ticks at these lengths; none: at powers of two."""
        if self._seqlens == tuple(seqlens):
            return
        self._seqlens = tuple(seqlens)
        self.picture = None
        self.update()

    def tickValues(self, minVal: float, maxVal: float, size: float) -> Ticks:  # noqa: N803 - pyqtgraph's names
        """Places of the ticks, thinned to what the width has room for."""
        lengths = self._seqlens or tuple(2**k for k in range(25))
        gap = SEQLEN_GAP_PX * (maxVal - minVal) / max(size, 1.0)
        kept: list[float] = []
        for place in (math.log2(n) for n in lengths):
            if minVal <= place <= maxVal and (not kept or place - kept[-1] >= gap):
                kept.append(place)
        return [(1.0, kept)]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """Lengths as people write them: 16k."""
        del scale, spacing
        return [seqlen_text(round(2.0**place)) for place in values]


class ValueAxis(UnitAxis):
    """A quantity placed linearly, at log2 or at log10."""

    def __init__(self, text: Callable[[float], str], scale: Scale, *, binary: bool = False) -> None:
        super().__init__("left", text)
        self.scale_name, self._binary = scale, binary
        self._last = math.inf

    def set_scale(self, scale: Scale) -> None:
        """Change how values are placed."""
        self.scale_name = scale
        self.picture = None
        self.update()

    def end_at(self, place: float) -> None:
        """Put no tick above this place: it is the room of the rail."""
        if self._last == place:
            return
        self._last = place
        self.picture = None
        self.update()

    def tickValues(self, minVal: float, maxVal: float, size: float) -> Ticks:  # noqa: N803 - pyqtgraph's names
        """Places of the ticks: round values, as many as the height has room for."""
        return [
            (step, [place for place in places if place <= self._last])
            for step, places in self._ticks(minVal, maxVal, size)
        ]

    def _ticks(self, minVal: float, maxVal: float, size: float) -> Ticks:  # noqa: N803 - pyqtgraph's names
        room = max(2, int(size / VALUE_GAP_PX))
        span = max(maxVal - minVal, 1e-12)
        if self.scale_name == "linear":
            step = binary_step(span / room) if self._binary else nice_step(span / room)
            return [(step, multiples(minVal, maxVal, step))]
        if self.scale_name == "log10" and span < FEW_DECADES:
            factors = (1, 2, 5) if span * 3 <= room else (1, 3)
            return [(1.0, _within_decades(minVal, maxVal, factors))]
        step = next((s for s in (1, 2, 4, 5, 6, 8, 10) if span / s <= room), 20)
        return [(float(step), multiples(minVal, maxVal, step))]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """The values at these places, as the metric writes them."""
        del scale, spacing
        return [self._text(from_axis(place, self.scale_name)) for place in values]


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
