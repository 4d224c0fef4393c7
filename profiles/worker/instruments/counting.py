"""What counter samples say of runs: which samples are a run's, what of them is the idle device's.

Hardware counters see the whole device, in samples of some 10 us. Each run stands alone between two gaps; the
second is so long that samples in it hold the traffic of an idle device. What a run has changed and the cache
still holds is written when other data take its place: from the run's end until the cache has been filled.
"""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

import numpy as np

from flashscope.profiles.wire.measurement import Figure
from flashscope.profiles.wire.traffic import MOST_BINS, WRITTEN_BACK, Traffic
from flashscope.profiles.worker.instruments.bench import Bench, Run
from flashscope.profiles.worker.instruments.counter_samples import (
    CounterSample,
    CountersError,
    CounterSpan,
    Counts,
    Window,
)

KEYS = ("dram_read_bytes", "dram_write_bytes", "l2_bytes", WRITTEN_BACK)
"""The quantities that counters give: bytes read from DRAM, written to it, moved through the L2 cache, and
written to DRAM when the run had ended."""
NOT_EMPTIED = "the next run finds in the cache what it left there: its runs are warm"
MARGIN_NS = 100_000
"""Around a run, in which the device does nothing else: the lag is known to a sample or two."""
MOST_LAG_NS, LAG_STEP_NS = 50_000_000, 5_000
ALL_BUT = 0.999  # of the most that any shift has within the stamps: as good as that
LEAST_SHARE = 0.002  # of the fullest sample of a run: what holds less before and after is not the run's


class CounterFigures(NamedTuple):
    """What counters say of a kernel.

    Attributes:
        figures: By the keys of their quantities.
        traffic: The curve of a typical run; None: there is none.
        missing: Why there is none, as a clause; empty when there is one.
    """

    figures: dict[str, Figure]
    traffic: Traffic | None
    missing: str = ""


def count(bench: Bench, run: Run, *, cold: bool) -> CounterFigures:
    """Run a kernel some times while counters are read, apart from all timing.

    Args:
        bench: What reads them.
        run: One run.
        cold: Whether nothing of it is in the last-level cache before a run.
    """
    try:
        return of_runs(*bench.counted(run, cold=cold))
    except Exception as error:  # noqa: BLE001 - whatever an instrument raises, the point goes on without it
        why = str(error) if isinstance(error, CountersError) else f"{type(error).__name__}: {error}"
        return CounterFigures(dict.fromkeys(KEYS, Figure(missing=why)), None, why)


def of_runs(samples: Sequence[CounterSample], windows: Sequence[Window]) -> CounterFigures:
    """The bytes of a run as median, least and most over the runs, and the curve of the one in the middle.

    Raises:
        CountersError: Samples of a run are missing.
    """
    lag = lag_ns(samples, windows)
    windows = [_shifted(window, lag) for window in windows]
    idle = _idle_rates(samples, windows)
    runs = [_of_run(samples, window, idle) for window in windows]
    totals = [total(run) for run in runs]
    left = [_written_back(samples, window, idle) for window in windows]
    columns = *zip(*totals, strict=True), [one for one in left if one is not None]
    figures = {key: _figure(column) for key, column in zip(KEYS, columns, strict=True)}
    middle = sorted(range(len(runs)), key=lambda n: totals[n].read + totals[n].written)[len(runs) // 2]
    return CounterFigures(figures, _curve(runs[middle], windows[middle]))


def _figure(column: Sequence[float]) -> Figure:
    if not column:
        return Figure(missing=NOT_EMPTIED)
    source = f"PM sampling, {len(column)} runs"
    return Figure(value=median(column), low=min(column), high=max(column), source=source)


def lag_ns(samples: Sequence[CounterSample], windows: Sequence[Window]) -> int:
    """By how much the counters' clock is ahead of the kernels'.

    The two drift apart: on an H200 by 0.2 ms and more within a minute. Shifted rightly, what moves through
    L2 lies within the stamps of the runs and of what ran before them.
    """
    if not samples:
        return 0
    ends = np.array([one.end_ns for one in samples], dtype=np.int64)
    moved = np.cumsum([one.counts.l2 for one in samples], dtype=np.float64)
    origin = windows[0].start_ns
    last = [span for span in (windows[-1].after_ns,) if span is not None]
    known = [span for w in windows for span in (w.before_ns, (w.start_ns, w.end_ns))] + last
    spans = np.array(known) - origin
    shifts = np.arange(-MOST_LAG_NS, MOST_LAG_NS + 1, LAG_STEP_NS)
    within = np.zeros(len(shifts))
    for begin, end in spans.tolist():
        within += np.interp(shifts + end, ends - origin, moved) - np.interp(
            shifts + begin, ends - origin, moved
        )
    best = np.flatnonzero(within >= within.max() * ALL_BUT)
    return int(shifts[best[len(best) // 2]])


def _shifted(window: Window, ns: int) -> Window:
    def later(span: CounterSpan) -> CounterSpan:
        return span[0] + ns, span[1] + ns

    start, end = later((window.start_ns, window.end_ns))
    after = None if window.after_ns is None else later(window.after_ns)
    return Window(start, end, window.quiet_ns + ns, later(window.before_ns), after)


def total(samples: Sequence[CounterSample]) -> Counts:
    """The bytes of some samples together, whole ones."""
    sums = (sum(column) for column in zip(*(one.counts for one in samples), strict=True))
    return Counts(*(max(0, round(one)) for one in sums))


def _of_run(samples: Sequence[CounterSample], window: Window, idle: Counts) -> list[CounterSample]:
    """The samples of a run and of the margins around it, without what an idle device moves meanwhile."""
    return _between(samples, window.start_ns - MARGIN_NS, window.end_ns + MARGIN_NS, idle)


def _written_back(samples: Sequence[CounterSample], window: Window, idle: Counts) -> float | None:
    """The bytes that were written between a run and the end of what filled the cache; None: nothing did."""
    if window.after_ns is None:
        return None
    run_end = window.end_ns + MARGIN_NS
    later = _between(samples, run_end, window.after_ns[1] + MARGIN_NS, idle)
    return total([one for one in later if one.start_ns >= run_end]).written


def _between(samples: Sequence[CounterSample], begin: int, end: int, idle: Counts) -> list[CounterSample]:
    """The samples that meet a stretch of time, without what an idle device moves meanwhile."""
    mine = [one for one in samples if one.end_ns > begin and one.start_ns < end]
    if not mine or mine[0].start_ns > begin or mine[-1].end_ns < end:
        raise CountersError("the counters' samples do not span the runs")
    if any(later.start_ns - sooner.end_ns > _length(sooner) for sooner, later in pairwise(mine)):
        raise CountersError("the counters' buffer overflowed: samples of a run are missing")
    return [_less(one, idle) for one in mine]


def _length(one: CounterSample) -> int:
    return one.end_ns - one.start_ns


def _less(one: CounterSample, idle: Counts) -> CounterSample:
    left = (count - rate * _length(one) for count, rate in zip(one.counts, idle, strict=True))
    return one._replace(counts=Counts(*left))


def _idle_rates(samples: Sequence[CounterSample], windows: Sequence[Window]) -> Counts:
    """Bytes a ns of a device at rest: the median over the samples of the quiet behind the runs."""
    quiet = [
        [count / _length(sample) for count in sample.counts]
        for sample in samples
        if any(w.end_ns + MARGIN_NS <= sample.start_ns and sample.end_ns <= w.quiet_ns for w in windows)
    ]
    return Counts(*map(median, zip(*quiet, strict=True))) if quiet else Counts(0, 0, 0)


def _curve(samples: Sequence[CounterSample], window: Window) -> Traffic:
    """The samples in which a run moves anything, as bins of one length, neighbours together if too many."""
    moved = [one.counts.read + one.counts.written for one in samples]
    busy = [n for n, one in enumerate(moved) if one > LEAST_SHARE * max(moved)]
    shown = samples[busy[0] : busy[-1] + 1] if busy else samples[:1]
    group = -(-len(shown) // MOST_BINS)
    bins = [total(shown[at : at + group]) for at in range(0, len(shown), group)]
    return Traffic(
        bin_ns=round((shown[-1].end_ns - shown[0].start_ns) / len(shown) * group),
        run_ns=window.end_ns - window.start_ns,
        bins=tuple((int(one.read), int(one.written)) for one in bins),
    )
