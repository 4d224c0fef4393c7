"""Wall time of a point, by what it went to."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.profiles.wire.spent import ACTIVITIES, SpentOn, spent_key
from flashscope.profiles.worker.stopwatch import Stopwatch


class Clock:
    """Moves when it is told."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ns = 7
        monkeypatch.setattr(time, "perf_counter_ns", lambda: self.ns)

    def pass_ms(self, ms: int) -> None:
        self.ns += ms * 1_000_000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def taken(watch: Stopwatch) -> dict[str, float]:
    return {key: float(figure.value or 0) for key, figure in watch.figures.items()}


def test_time_counts_for_the_innermost_activity_alone(clock: Clock) -> None:
    watch = Stopwatch("trial")
    clock.pass_ms(100)  # nothing has begun
    with watch.on("prepare"):
        clock.pass_ms(1)
        with watch.on("launch"):
            clock.pass_ms(20)
        clock.pass_ms(3)
    clock.pass_ms(500)
    with watch.on("check"):
        clock.pass_ms(40)
    assert taken(watch) == {"trial_prepare_ms": 4, "trial_launch_ms": 20, "trial_check_ms": 40}


def refuse(clock: Clock) -> None:
    clock.pass_ms(5)
    raise ValueError("wrong")


def test_what_raises_has_taken_its_time_all_the_same(clock: Clock) -> None:
    watch = Stopwatch("sampling")
    with pytest.raises(ValueError, match="wrong"), watch.on("check"):
        refuse(clock)
    clock.pass_ms(5)
    assert taken(watch) == {"sampling_check_ms": 5}


def test_of_the_time_around_a_sample_that_of_the_run_is_a_launch(clock: Clock) -> None:
    watch = Stopwatch("sampling")
    with watch.on("flush"):
        clock.pass_ms(10)
    watch.move(4.0, "flush", "launch")
    assert taken(watch) == {"sampling_flush_ms": 6, "sampling_launch_ms": 4}


@given(st.lists(st.tuples(st.sampled_from(ACTIVITIES), st.integers(0, 50), st.integers(0, 50)), max_size=8))
def test_all_activities_together_take_what_has_passed(steps: list[tuple[SpentOn, int, int]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        clock, watch = Clock(patch), Stopwatch("trial")

        def nest(left: list[tuple[SpentOn, int, int]]) -> None:
            if left:
                activity, before, after = left[0]
                with watch.on(activity):
                    clock.pass_ms(before)
                    nest(left[1:])
                    clock.pass_ms(after)

        nest(steps)
        assert sum(taken(watch).values()) == pytest.approx((clock.ns - 7) / 1e6)
        assert set(taken(watch)) <= {spent_key("trial", activity) for activity in ACTIVITIES}
