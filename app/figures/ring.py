"""Telemetry in memory: a preallocated ring of readings, and what of it a plot draws."""

from collections.abc import Sequence
from mmap import mmap

import numpy as np
from numpy.typing import NDArray
from tsdownsample import MinMaxDownsampler

from flashscope.app.figures.lanes import FIELDS
from flashscope.profiles.wire.events import Reading

CAPACITY = 1 << 21  # two days at ten readings a second; memory is taken as they come
HELD_S = 2.0  # that a reading counts for at most: ten times what ever lies between two of them
SHOWN = 2000  # points of one curve: more would not be seen

Values = NDArray[np.float64]
_EXTREMES = MinMaxDownsampler()  # type: ignore[no-untyped-call]  # the rest of it is typed


class ReadingRing:
    """The newest readings as columns; the oldest make room when it is full.

    Attributes:
        capacity: How many readings it holds.
        seen: The fields that any reading had.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.capacity = capacity
        self.seen: set[str] = set()
        self._columns = _untouched(1 + len(FIELDS), capacity)
        self._written = 0
        self._origin_ns: int | None = None

    def __len__(self) -> int:
        return min(self._written, self.capacity)

    def clear(self, origin_ns: int | None = None) -> None:
        """Forget everything; times count from `origin_ns`, or from the next reading."""
        self._written, self._origin_ns = 0, origin_ns
        self.seen.clear()

    def extend(self, readings: Sequence[Reading]) -> None:
        """Take in readings, oldest first; a field that is None becomes NaN."""
        if not readings:
            return
        if self._origin_ns is None:
            self._origin_ns = readings[0].t_ns
        kept = readings[-self.capacity :]
        first = self._written + len(readings) - len(kept)
        places = np.arange(first, first + len(kept)) % self.capacity
        self._columns[0, places] = [(reading.t_ns - self._origin_ns) / 1e9 for reading in kept]
        for row, name in enumerate(FIELDS, 1):
            values = [getattr(reading, name) for reading in kept]
            self._columns[row, places] = column = np.array(values, dtype=np.float64)  # None becomes NaN
            if name not in self.seen and np.isfinite(column).any():
                self.seen.add(name)
        self._written += len(readings)

    def shorten(self, count: int) -> int:
        """Forget all but the first `count` readings, or all where the first are gone; how many are left."""
        self._written = min(self._written, count) if self._written <= self.capacity else 0
        return self._written

    def times(self) -> Values:
        """Seconds since the origin, oldest first."""
        return self._ordered(0)

    def values(self, field: str) -> Values:
        """One field of the readings, oldest first, NaN where it was not available."""
        return self._ordered(1 + FIELDS.index(field))

    def at(self, field: str, at_s: float) -> float | None:
        """The value of a field that held at this moment, None when there was none."""
        times = self.times()
        place = int(np.searchsorted(times, at_s, side="right")) - 1
        known = place >= 0 and at_s - times[place] <= HELD_S
        value = self.values(field)[place] if known else np.nan
        return float(value) if np.isfinite(value) else None

    def latest(self, field: str) -> float | None:
        """The newest value of a field, None when it was not available."""
        if not self._written:
            return None
        value = self._columns[1 + FIELDS.index(field), (self._written - 1) % self.capacity]
        return float(value) if np.isfinite(value) else None

    def _ordered(self, row: int) -> Values:
        column: Values = self._columns[row]
        if self._written <= self.capacity:
            return column[: self._written]
        start = self._written % self.capacity
        return np.concatenate((column[start:], column[:start]))


def _untouched(rows: int, columns: int) -> Values:
    """Room for float64 [rows, columns] of which the system gives what is written to, a small page at a time.

    NumPy asks for huge pages: the first reading would wait until 2 MiB of every column had been cleared.
    """
    return np.frombuffer(mmap(-1, rows * columns * 8), dtype=np.float64).reshape(rows, columns)


def held(times: Values, values: Values) -> tuple[Values, Values]:
    """The same with NaN from where a reading holds no more: its device was lost, or nothing measured."""
    last = np.flatnonzero(np.diff(times) > HELD_S)
    if not last.size:
        return times, values
    return np.insert(times, last + 1, times[last] + HELD_S), np.insert(values, last + 1, np.nan)


def thin(times: Values, values: Values) -> tuple[Values, Values]:
    """About SHOWN points in order of time: extremes, both ends of every gap, and the newest reading.

    tsdownsample finds the lowest and the highest value of equally long stretches. It passes over NaN, so the
    gaps are added here.
    """
    if values.size <= SHOWN:
        return times, values
    missing = np.isnan(values)
    kept = np.zeros(values.size, dtype=np.bool_)
    kept[_EXTREMES.downsample(values, n_out=SHOWN - 2)] = True
    kept[1:] |= missing[1:] != missing[:-1]
    kept[-1] = True
    return times[kept], values[kept]
