import time

from hypothesis import given
from hypothesis import strategies as st

from flashscope.profiles.cluster.client.clock import GOOD_FOR_S, HostClock

DELAYS = st.integers(0, 10**9)


@given(
    ahead=st.integers(-(10**15), 10**15),
    ways=st.lists(st.tuples(DELAYS, DELAYS), min_size=1, max_size=8),
    start=st.integers(0, 10**15),
)
def test_a_hosts_clock_is_within_what_is_said_of_it_however_long_each_way_takes(
    ahead: int, ways: list[tuple[int, int]], start: int
) -> None:
    calls = [(start, start + there + ahead, start + there + back) for there, back in ways]
    clock = HostClock.of(calls)
    assert abs(clock.ahead_ns - ahead) <= clock.off_ns
    assert clock.off_ns <= (min(map(sum, ways)) + 1) // 2


def test_a_clock_that_is_known_badly_is_warned_of() -> None:
    assert HostClock(0, 211_000, 0).told_of("GPU 0", "lab").text == (
        "The clock of GPU 0 at lab is known within ±0.21 ms, half the shortest of 8 round trips."
    )
    assert [HostClock(0, off, 0).told_of("GPU 0", "lab").level for off in (10**6, 10**8)] == [
        "info",
        "warning",
    ]


def test_a_clock_is_measured_anew_after_a_minute() -> None:
    now = time.monotonic_ns()
    assert HostClock(0, 0, now).is_fresh
    assert not HostClock(0, 0, now - int(GOOD_FOR_S * 1e9)).is_fresh
