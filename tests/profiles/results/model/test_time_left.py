"""The time left follows the work of the points to come, not their number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.model.time_left import Experience, seconds_left
from tests.profiles.results.model.timed import PROTOCOL, REST_S, RUNS, at, run_s


@pytest.mark.parametrize("done", [3, 9, 15, 18])
def test_the_time_left_is_what_the_points_to_come_take(done: int) -> None:
    session, real = at(done)
    assert seconds_left(session) == pytest.approx(real, rel=0.02)


def test_a_kernel_that_has_not_run_is_as_slow_as_the_slowest_of_the_others() -> None:
    session, _ = at(1)
    assert (seconds_left(session) or 0) > 17 * REST_S


def test_no_point_to_come_takes_more_samples_than_its_time_cap_leaves() -> None:
    session, uncapped = at(15, replace(PROTOCOL, time_cap_s=0.05))
    left = seconds_left(session)
    assert left is not None
    assert left < uncapped


def in_flight(session: Session, *indices: int) -> int:
    """Points begin to take turns where the last one ended; when."""
    now = max(state.ended_ns or 0 for state in session.points)
    for state in (session.points[index] for index in indices):
        state.status, state.part, state.started_ns, state.sampling_ns = "running", 1, now, now
    return now


@given(st.lists(st.floats(0, 100), min_size=2, max_size=6))
def test_between_two_events_the_time_left_falls_with_the_clock_and_never_below_nothing(
    seconds: list[float],
) -> None:
    session, whole = at(15)
    begun = in_flight(session, 15, 16, 17)
    for each in seconds:
        left = seconds_left(session, begun + round(each * 1e9))
        assert left == pytest.approx(max(0.0, (seconds_left(session) or 0) - each), abs=1e-6)
    assert seconds_left(session) == pytest.approx(whole, rel=0.02)


def test_a_point_that_ends_before_others_of_its_turns_leaves_their_time_left_as_it_was() -> None:
    session, _ = at(15)
    begun = in_flight(session, 15, 16, 17)
    whole = seconds_left(session) or 0
    almost = begun + round((whole - 0.3) * 1e9)
    first = session.points[15]
    taken = seconds_left(session, almost) or 0
    first.status, first.ended_ns, first.measurement = "done", almost, session.points[12].measurement
    assert seconds_left(session, almost) == pytest.approx(taken, abs=0.2 * whole)


def ended(session: Session, seconds: float) -> Session:
    """The same, which has taken so long in all."""
    session.outcome, session.ended_ns = "finished", session.t0_ns + round(seconds * 1e9)
    return session


def test_a_plan_that_was_measured_whole_takes_as_long_again() -> None:
    session, _ = at(18)
    known = Experience()
    known.take(ended(session, 71.5))
    assert known.seconds(session.plan) == pytest.approx(71.5)


def test_another_plan_takes_what_its_points_take_by_their_work_not_by_their_number() -> None:
    session, _ = at(18)
    known = Experience()
    known.take(session)
    longest = replace(session.plan, problems=session.plan.problems[-1:])
    real = sum(REST_S + RUNS * run_s(kernel, 8192) for kernel in longest.kernels)
    assert known.seconds(longest) == pytest.approx(real, rel=0.02)
    assert real > 10 * (REST_S + RUNS * run_s("standard", 256))


def test_how_long_a_plan_takes_is_not_known_where_a_kernel_dtype_or_pass_has_not_run() -> None:
    session, _ = at(2)
    known = Experience()
    assert known.seconds(session.plan) is None
    known.take(session)
    assert known.seconds(session.plan) is None
    both = replace(session.plan, kernels=("standard", "flash1"))
    assert known.seconds(both) is not None
    other = tuple(replace(problem, dtype="float16") for problem in both.problems)
    assert known.seconds(replace(both, problems=other)) is None
    backward = tuple(replace(problem, passes="backward") for problem in both.problems)
    assert known.seconds(replace(both, problems=backward)) is None


def test_a_point_that_was_not_launched_says_nothing_of_another_plan() -> None:
    session, _ = at(3)
    for state in session.points[:3]:
        state.status, state.measurement = "will-not-fit", None
    known = Experience()
    known.take(session)
    assert known.seconds(session.plan) is None


def sampled(session: Session, done: int, each_s: float, told_ns: int) -> None:
    """What is in flight has so many samples of ten, each so long."""
    for state in session.in_flight:
        state.phase, state.done, state.total = "measure", done, 10
        state.last_ms, state.told_ns = 1e3 * each_s, told_ns


@given(st.integers(1, 9), st.floats(0.01, 0.9), st.floats(0, 60))
def test_points_that_are_sampled_take_what_their_own_samples_say_however_long_their_check_was(
    done: int, each_s: float, check_s: float
) -> None:
    session, _ = at(15)
    begun = in_flight(session, 15, 16, 17)
    told = begun + round((check_s + 3 * done * each_s) * 1e9)
    for state in session.in_flight:
        state.sampling_ns = begun + round(check_s * 1e9)
    sampled(session, done, each_s, told)
    left = 3 * (10 - done) * each_s
    assert seconds_left(session, told) == pytest.approx(left)
    assert seconds_left(session, told + round(left * 5e8)) == pytest.approx(left / 2, abs=1e-6)
