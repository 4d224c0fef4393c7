"""What is left of a plan, and how far a later part of a session differs."""

from collections.abc import Iterable
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.kernels.workload.device import Device
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.results.model.drift import drifts
from flashscope.profiles.results.model.parts import machine_differences, parts, warnings
from flashscope.profiles.results.model.remaining import OPEN, PAUSE_NS, obstacle, remaining_of, unfinished
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.events import Outcome, PlanFinished, PointStarted, PointStatus
from flashscope.profiles.wire.measurement import Sample
from tests.profiles.store import builders

ANSWERED: set[PointStatus] = {"done", "wrong", "oom", "will-not-fit", "unsupported"}
PLAN = builders.plan(seqlens=(64, 128, 256))
CHECKED = replace(PLAN, protocol=Protocol(drift_check=True))


def session_of(statuses: Iterable[PointStatus], plan: Plan = PLAN, outcome: Outcome | None = None) -> Session:
    session = Session.begin(builders.plan_started(plan))
    for state, status in zip(session.points, statuses, strict=False):
        state.status = status
        if status != "pending":
            state.started_ns, state.part = 1_000 + state.point.index, 1
    session.outcome = outcome
    return session


@given(
    st.lists(st.sampled_from(sorted({*ANSWERED, *OPEN})), min_size=8, max_size=8),
    st.sampled_from([None, "finished", "cancelled", "failed"]),
)
def test_exactly_the_points_without_an_answer_are_left_in_the_plans_order(
    statuses: list[PointStatus], outcome: Outcome | None
) -> None:
    session = session_of(statuses, CHECKED, outcome)
    rest = remaining_of(session)
    left = [state.point for state in session.points if state.status in OPEN]
    first, *others = [*rest.groups(CHECKED), ()] if rest.repeats else [(), *rest.groups(CHECKED)]
    assert [point for group in others for point in group] == left
    assert {one.index for one in rest.again} == {
        point.index for point in left if session.points[point.index].status != "pending"
    }
    assert all(session.points[index].status == "done" for index in rest.repeats)
    assert [point.index for point in first] == list(range(8, 8 + len(rest.repeats)))
    assert rest.nothing == (not left and outcome == "finished")
    assert unfinished(session) == (not rest.nothing)


def test_every_status_is_either_answered_or_open_but_for_those_that_are_judged_on_reading() -> None:
    assert {*get_args(PointStatus)} == ANSWERED | OPEN | {"altered", "impossible"}
    assert ANSWERED.isdisjoint(OPEN)


def test_a_point_has_ended_by_its_own_outcome_and_not_where_it_was_broken_off() -> None:
    for status in get_args(PointStatus):
        session = session_of(["done", status])
        broken_off = status in {"interrupted", "cancelled"}
        assert session.ended_points == 1 + (status not in {"pending", "running"} and not broken_off)
        assert session.not_done == ({} if status in {"done", "pending", "running"} else {status: 1})


def test_a_part_has_not_measured_what_was_broken_off_in_it() -> None:
    session = session_of(["done", "failed", "interrupted", "running", "cancelled"])
    assert [part.points for part in parts(session)] == [2]


def test_the_points_of_all_parts_are_those_of_the_plan_and_drift_checks_are_none() -> None:
    session = session_of(["done"] * len(CHECKED.points()), CHECKED)
    assert len(session.planned) > CHECKED.cells
    assert [part.points for part in parts(session)] == [CHECKED.cells]


def test_the_first_stage_that_has_a_point_done_is_repeated_and_of_it_only_what_is_done() -> None:
    session = session_of(["failed", "oom", "wrong", "done", "interrupted", "pending"])
    assert remaining_of(session).repeats == (3,)


def test_nothing_is_repeated_where_nothing_is_done_or_the_drift_check_alone_is_left() -> None:
    assert remaining_of(session_of(["interrupted"])).repeats == ()
    assert remaining_of(session_of(["done"] * 6, CHECKED)).repeats == ()
    assert remaining_of(session_of(["done"] * 6, CHECKED)).left == {6, 7}


def test_a_sweep_killed_after_its_last_point_is_left_to_be_ended() -> None:
    rest = remaining_of(session_of(["done"] * 6))
    assert (rest.left, rest.repeats, rest.nothing) == (frozenset(), (), False)


def test_the_sessions_clock_goes_on_after_the_last_moment_of_the_part_before() -> None:
    session = session_of(["done"])
    session.points[0].ended_ns = 7_000
    session.readings = [builders.reading(9_000), builders.reading(8_000)]
    assert remaining_of(session).t_ns == 9_000 + PAUSE_NS


def resumed(session: Session, machine: Machine = builders.MACHINE) -> Session:
    """The session after another part, which measures all that is left and repeats with these samples."""
    session.apply(remaining_of(session).begin(machine, None))
    for state in session.to_come:
        checked, measured = builders.measured(state.point.index, 2_000)
        for event in (PointStarted(index=state.point.index, t_ns=10**12), checked, measured):
            session.apply(event)
    session.apply(PlanFinished(t_ns=2 * 10**12, outcome="finished"))
    return session


def broken_off() -> Session:
    """The first of six points is done, the second was cut off, the third failed."""
    session = Session.begin(builders.plan_started(PLAN))
    for event in (PointStarted(index=0, t_ns=1_500), *builders.measured(0, 1_600)):
        session.apply(event)
    for index, status in ((1, "running"), (2, "timeout")):
        state = session.points[index]
        state.status, state.started_ns, state.reason = status, 1_700, f"it was {status}"  # type: ignore[assignment]
    return session


def test_a_resumed_session_has_every_point_once_and_each_knows_its_part() -> None:
    session = resumed(broken_off())
    assert [state.point for state in session.planned] == list(PLAN.points())
    assert [state.part for state in session.planned] == [1, 2, 2, 2, 2, 2]
    assert {state.status for state in session.points} == {"done"}
    assert [state.point.problem.seqlen_q for state in session.points[6:]] == [64]
    assert drifts(session) == []
    assert session.cells == session.planned


def test_how_points_ended_that_are_measured_anew_stays_in_the_session() -> None:
    _, second = parts(resumed(broken_off()))
    assert [(one.index, one.status, one.reason) for one in second.again] == [
        (1, "running", "it was running"),
        (2, "timeout", "it was timeout"),
    ]


def test_parts_tell_who_measured_how_much_and_how_it_ended() -> None:
    first, second = parts(resumed(broken_off()))
    assert (first.number, first.points, first.outcome, first.drifts) == (1, 1, None, ())
    assert (second.number, second.points, second.outcome) == (2, 5, "finished")
    assert [(one.kernel, one.ratio) for one in second.drifts] == [("standard", 1.0)]


@pytest.mark.parametrize(("factor", "warned"), [(1.0, False), (1.14, False), (1.16, True), (0.25, True)])
def test_a_repeat_is_warned_of_where_it_differs_by_more_than_its_runs_scatter(
    factor: float, warned: bool
) -> None:
    session = resumed(broken_off())
    first, repeat = session.points[0], session.points[6]
    times = (1.0, 1.05, 0.95, 1.1, 0.9)  # a median absolute deviation of 5%
    for state, scale in ((first, 1.0), (repeat, factor)):
        samples = tuple(Sample(ms * scale) for ms in times)
        assert state.measurement is not None
        state.measurement = replace(state.measurement, samples=samples)
    said = warnings(session)
    assert bool(said) == warned
    assert not warned or f"standard {factor:.3f}×" in said[0]


def test_repeats_that_a_part_did_not_come_to_are_given_up_by_the_next() -> None:
    session = broken_off()
    session.apply(remaining_of(session).begin(builders.MACHINE, None))
    session.apply(PointStarted(index=6, t_ns=10**11))
    resumed(session)
    assert session.points[6].status == "interrupted"
    assert session.points[7].status == "done"
    assert len(session.planned) == 6
    assert [part.number for part in parts(session)] == [1, 2, 3]


def test_what_differs_between_machines_is_named_and_what_one_does_not_tell_is_not() -> None:
    gpu = Device(backend="cuda", name="H200", memory_bytes=1, uuid="GPU-1")
    before = Machine(
        system="Linux 1",
        python="3.11",
        devices=(gpu,),
        driver="580",
        packages={"flashscope": "0.1", "torch": "2.9"},
        sources={"cuda": {"flash2": "a", "flash3": "b"}},
    )
    after = replace(
        before,
        devices=(replace(gpu, name="H100", uuid="GPU-2"),),
        driver="590",
        cuda="13.1",
        packages={"flashscope": "0.2"},
        sources={"cuda": {"flash2": "a", "flash3": "c"}, "cpu": {"flash2": "x"}},
    )
    assert list(machine_differences(before, before, "cuda")) == []
    assert list(machine_differences(before, after, "cuda")) == [
        "device H100, not H200",
        "card GPU-2, not GPU-1",
        "driver 590, not 580",
        "flashscope 0.2, not 0.1",
        "other sources of flash3",
    ]


def test_a_session_goes_on_only_where_its_kernels_and_its_backend_are() -> None:
    session = session_of(["done"])
    assert obstacle(session, builders.MACHINE) == ""
    assert "no usable one is here" in obstacle(
        session_of([], replace(PLAN, backend="cuda")), builders.MACHINE
    )
    strange = session_of([], replace(PLAN, kernels=("flash2", "flash9")))
    assert "does not have: flash9" in obstacle(strange, builders.MACHINE)
    altered = session_of(["altered", "done", "altered"])
    assert obstacle(altered, builders.MACHINE).startswith("2 of its points are not what was measured")
