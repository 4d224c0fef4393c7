"""Telemetry in memory: a preallocated ring of readings, and what of it a plot draws."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from profiles.events import Reading

FIELDS = ("memory_used", "utilisation", "power_w", "temperature_c", "sm_clock_mhz")
CAPACITY = 1 << 16  # an hour at 18 readings a second
SHOWN = 2000  # points of one curve, more would not be seen

Values = NDArray[np.float64]


class ReadingRing:
    """The newest readings as columns; the oldest make room when it is full.

    Attributes:
        capacity: How many readings it holds.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.capacity = capacity
        self._columns = np.full((1 + len(FIELDS), capacity), np.nan)
        self._written = 0
        self._origin_ns: int | None = None

    def __len__(self) -> int:
        return min(self._written, self.capacity)

    def clear(self, origin_ns: int | None = None) -> None:
        """Forget everything; times count from `origin_ns`, or from the next reading."""
        self._written, self._origin_ns = 0, origin_ns

    @property
    def origin_ns(self) -> int | None:
        """The moment that is 0 s, None before the first reading."""
        return self._origin_ns

    def extend(self, readings: Iterable[Reading]) -> None:
        """Take in readings, oldest first; a field that is None becomes NaN."""
        for reading in readings:
            if self._origin_ns is None:
                self._origin_ns = reading.t_ns
            column = self._columns[:, self._written % self.capacity]
            column[0] = (reading.t_ns - self._origin_ns) / 1e9
            for row, name in enumerate(FIELDS, 1):
                value = getattr(reading, name)
                column[row] = np.nan if value is None else value
            self._written += 1

    def times(self) -> Values:
        """Seconds since the origin, oldest first."""
        return self._ordered(0)

    def values(self, field: str) -> Values:
        """One field of the readings, oldest first, NaN where it was not available."""
        return self._ordered(1 + FIELDS.index(field))

    def latest(self, field: str) -> float | None:
        """The newest value of a field, None when it was not available."""
        if not self._written:
            return None
        value = self._columns[1 + FIELDS.index(field), (self._written - 1) % self.capacity]
        return None if np.isnan(value) else float(value)

    def _ordered(self, row: int) -> Values:
        column: Values = self._columns[row]
        if self._written <= self.capacity:
            return column[: self._written]
        start = self._written % self.capacity
        return np.concatenate((column[start:], column[:start]))


def thin(times: Values, values: Values, limit: int = SHOWN) -> tuple[Values, Values]:
    """At most `limit` points that keep every bucket's lowest and highest value, in order of time."""
    if times.size <= limit:
        return times, values
    width = -(-times.size // ((limit - 1) // 2))
    padded = np.full(-(-times.size // width) * width, np.nan)
    padded[: values.size] = values
    buckets = padded.reshape(-1, width)
    starts = np.arange(0, padded.size, width)
    low = starts + np.where(np.isnan(buckets), np.inf, buckets).argmin(axis=1)
    high = starts + np.where(np.isnan(buckets), -np.inf, buckets).argmax(axis=1)
    kept = np.unique(np.concatenate((low, high, [times.size - 1])))
    return times[kept], values[kept]
