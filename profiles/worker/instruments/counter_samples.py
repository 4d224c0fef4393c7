"""What hardware counters yield: samples of the whole device, and where the runs are among them."""

from typing import NamedTuple


class CountersError(Exception):
    """Counters cannot be read; the text is a clause that says why and what to do."""


class Counts(NamedTuple):
    """Bytes read from DRAM, written to DRAM, and through L2."""

    read: float
    written: float
    l2: float


class CounterSample(NamedTuple):
    """What the counters saw from one moment to another, both in ns of the counters' clock."""

    start_ns: int
    end_ns: int
    counts: Counts


CounterSpan = tuple[int, int]
"""A begin and an end, in ns of the clock that kernels read."""


class Window(NamedTuple):
    """A run, in ns of the clock that kernels read, which counters do not share.

    Attributes:
        start_ns: Its begin.
        end_ns: Its end.
        quiet_ns: The end of the quiet after it.
        before_ns: Begin and end of what ran before it, to empty the cache or to fill it.
        after_ns: Those of what filled the cache after it, so that all it had changed was written; None: that
            stayed in the cache.
    """

    start_ns: int
    end_ns: int
    quiet_ns: int
    before_ns: CounterSpan
    after_ns: CounterSpan | None = None


CounterRuns = tuple[list[CounterSample], list[Window]]
