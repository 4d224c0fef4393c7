"""Counter samples of a whole device become the bytes of a run. Every sample here is synthetic."""

from collections.abc import Callable, Sequence
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.profiles.wire.traffic import MOST_BINS, WRITTEN_BACK
from flashscope.profiles.worker.instruments.bench import Run
from flashscope.profiles.worker.instruments.bench_cpu import CpuBench
from flashscope.profiles.worker.instruments.counter_samples import (
    CounterRuns,
    CounterSample,
    CountersError,
    Counts,
    Window,
)
from flashscope.profiles.worker.instruments.counting import KEYS, MARGIN_NS, NOT_EMPTIED, count, of_runs

STEP = 10_000
PERIOD = 1_200_000  # from one run to the next
NOTHING = Counts(0, 0, 0)
QUIET = 700_000  # behind its begin, until the flush in front of the next


def synthetic(
    runs: Sequence[Sequence[Counts]],
    idle: Counts = NOTHING,
    lag_ns: int = 0,
    left: Sequence[int] | None = None,
) -> tuple[list[CounterSample], list[Window]]:
    """Runs that move so much in each 10 us, a fill of the cache before each, and a device that idles between.

    Args:
        runs: What each moves.
        idle: What the device moves all the time.
        lag_ns: How far the counters' clock is ahead.
        left: What each run leaves changed in the cache, to be written in the next fill; None: the cache is
            not filled after the last run, as in warm runs.
    """
    samples: list[CounterSample] = []
    windows = []
    back = [0, *(left or [0] * len(runs))]
    for number, run in enumerate([*runs, []]):
        begin = (number + 1) * PERIOD
        fill = Counts(500_000, back[number] / 10, 500_000) if number < len(runs) or left else NOTHING
        for at in range(begin - 500_000, begin + QUIET, STEP):
            place = (at - begin) // STEP
            moved = run[place] if 0 <= place < len(run) else fill if -30 <= place < -20 else NOTHING
            both = Counts(*(a + b for a, b in zip(moved, idle, strict=True)))
            samples.append(CounterSample(at + lag_ns, at + STEP + lag_ns, both))
        end = begin + len(run) * STEP
        before, after = ((at - 300_000, at - 200_000) for at in (begin, begin + PERIOD))
        windows.append(Window(begin, end, begin + QUIET - MARGIN_NS, before, after if left else None))
    return samples, windows[:-1]


def test_a_run_has_the_bytes_of_its_samples_and_of_nothing_else() -> None:
    run = [Counts(100, 10, 400), Counts(200, 20, 800)]
    counted = of_runs(*synthetic([run] * 5))
    assert [counted.figures[key].value for key in KEYS] == [300, 30, 1200, None]
    assert counted.figures[WRITTEN_BACK].missing == NOT_EMPTIED
    assert counted.figures["dram_read_bytes"].source == "PM sampling, 5 runs"
    assert counted.traffic is not None
    assert (counted.traffic.bins, counted.traffic.bin_ns) == (((100, 10), (200, 20)), STEP)
    assert counted.traffic.run_ns == 2 * STEP


@pytest.mark.parametrize("lag_ns", [-49_000_000, -3_000_000, -14_000, 0, 30_000, 250_000, 20_000_000])
def test_counters_with_a_clock_of_their_own_lose_nothing_of_a_run(lag_ns: int) -> None:
    run = [Counts(100, 10, 400)] * 7
    counted = of_runs(*synthetic([run] * 3, lag_ns=lag_ns, left=[50] * 3))
    assert [counted.figures[key].value for key in KEYS] == [700, 70, 2800, 50]
    assert counted.traffic is not None
    assert counted.traffic.bins == ((100, 10),) * 7


@given(
    run=st.lists(st.builds(Counts, *[st.integers(0, 10**9)] * 3), min_size=1, max_size=20),
    idle=st.builds(Counts, *[st.integers(0, 10**6)] * 3),
)
def test_what_an_idle_device_moves_is_not_the_runs(run: list[Counts], idle: Counts) -> None:
    counted = of_runs(*synthetic([run] * 2, idle))
    for key, column in zip(KEYS, zip(*run, strict=True), strict=False):
        assert counted.figures[key].value == pytest.approx(sum(column), abs=1)


@given(
    left=st.lists(st.integers(0, 10**8), min_size=1, max_size=5),
    written=st.integers(0, 10**8),
    idle=st.integers(0, 10**4),
)
def test_what_a_run_leaves_in_the_cache_is_its_own_and_of_no_other_run(
    left: list[int], written: int, idle: int
) -> None:
    runs = [[Counts(100, written, 400)]] * len(left)
    figures = of_runs(*synthetic(runs, Counts(0, idle, 0), left=left)).figures
    back = figures[WRITTEN_BACK]
    assert [back.low, back.value, back.high] == pytest.approx([min(left), median(left), max(left)], abs=1)
    assert figures["dram_write_bytes"].value == pytest.approx(written, abs=1)
    assert figures["dram_read_bytes"].value == 100  # and not what the fill reads


def test_samples_that_are_missing_while_the_cache_is_filled_are_told() -> None:
    samples, windows = synthetic([[Counts(1, 1, 1)]] * 2, left=[5, 5])
    last = windows[-1].after_ns
    assert last is not None
    with pytest.raises(CountersError, match="do not span"):
        of_runs([one for one in samples if one.start_ns < last[0]], windows)


def test_the_figure_is_the_median_of_the_runs_between_the_least_and_the_most() -> None:
    runs = [[Counts(read, 0, 0)] for read in (100, 500, 300, 200, 400)]
    counted = of_runs(*synthetic(runs))
    figure = counted.figures["dram_read_bytes"]
    assert (figure.value, figure.low, figure.high) == (300, 100, 500)
    assert counted.traffic is not None
    assert counted.traffic.bins == ((300, 0),)


def test_samples_that_are_missing_amid_a_run_are_told_and_no_figure_is_made_of_the_rest() -> None:
    samples, windows = synthetic([[Counts(1, 1, 1)] * 9])
    begin = windows[0].start_ns
    torn = [one for one in samples if not begin + 2 * STEP <= one.start_ns < begin + 5 * STEP]
    with pytest.raises(CountersError, match="overflowed"):
        of_runs(torn, windows)
    with pytest.raises(CountersError, match="do not span"):
        of_runs([one for one in samples if one.start_ns < begin], windows)
    with pytest.raises(CountersError, match="do not span"):
        of_runs([], windows)


def test_a_run_of_many_samples_has_at_most_so_many_bins_and_every_byte_in_them() -> None:
    begin, length = PERIOD, 5000
    samples = [
        CounterSample(
            at, at + STEP, Counts(10, 1, 0) if 0 <= (at - begin) // STEP < length else Counts(0, 0, 0)
        )
        for at in range(0, begin + (length + 100) * STEP, STEP)
    ]
    end = begin + length * STEP
    counted = of_runs(samples, [Window(begin, end, end + 3 * MARGIN_NS, (begin - 300_000, begin - 200_000))])
    assert counted.traffic is not None
    assert len(counted.traffic.bins) <= MOST_BINS
    assert sum(read for read, _ in counted.traffic.bins) == 10 * length
    assert counted.traffic.bin_ns == 3 * STEP


class Counting(CpuBench):
    """A bench that counts as it is told."""

    def __init__(self, answer: Callable[[], CounterRuns]) -> None:
        self._answer = answer

    def counted(self, run: Run, *, cold: bool) -> CounterRuns:
        del cold
        run()
        return self._answer()


def refuse(error: Exception) -> CounterRuns:
    raise error


def test_whatever_an_instrument_raises_is_the_reason_why_there_is_no_figure() -> None:
    for error, told in (
        (CountersError("this user may not"), "this user may not"),
        (ValueError("one pass"), "ValueError: one pass"),
    ):
        counted = count(Counting(lambda error=error: refuse(error)), lambda: None, cold=True)  # type: ignore[misc]
        assert counted.missing == told
        assert {figure.missing for figure in counted.figures.values()} == {told}
        assert counted.traffic is None


def test_a_cpu_says_that_it_has_no_counters() -> None:
    assert count(CpuBench(), lambda: None, cold=True).missing == (
        "hardware counters are read on an NVIDIA GPU alone"
    )
