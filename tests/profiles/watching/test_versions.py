"""The strip of versions: numbers, the newest that is right, and what lies between two."""

from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.statistics.bootstrap import LEAST_ROUNDS
from flashscope.profiles.results.statistics.stats import quartiles_of
from flashscope.profiles.watching.versions import (
    NAME_LENGTH,
    RIGHT,
    PeerRatio,
    Strip,
    Version,
    VersionCell,
    changes,
    version_name,
    version_of,
)
from flashscope.profiles.wire.events import (
    PlanFinished,
    PointChecked,
    PointFailed,
    PointMeasured,
    SamplingStarted,
)
from flashscope.profiles.wire.measurement import Sample
from tests.matrix import in_rounds
from tests.profiles import sessions
from tests.profiles.store import builders

PROBLEMS = tuple(Problem(seqlen_q=n, seqlen_k=n) for n in (64, 128, 256))
TIMES = st.lists(st.floats(0.01, 100.0), min_size=1, max_size=12)


@st.composite
def cells(draw: st.DrawFn) -> tuple[VersionCell, ...]:
    def cell(problem: Problem) -> VersionCell:
        ms = tuple(draw(TIMES))
        status = draw(st.sampled_from(("done", "done", "wrong", "failed")))
        return VersionCell(problem, status, "", quartiles_of(ms) if status == "done" else None, ms, ())

    return tuple(map(cell, draw(st.sets(st.sampled_from(PROBLEMS)))))


@st.composite
def versions(draw: st.DrawFn) -> list[Version]:
    numbers = draw(st.lists(st.integers(1, 99), unique=True, max_size=8))
    verdicts = st.sampled_from((RIGHT, "wrong", "unreadable", "cancelled"))
    return [
        Version(number, version_name("mine", number), "0" * 64, "", draw(verdicts), cells=draw(cells()))
        for number in numbers
    ]


@in_rounds(4)
@settings(max_examples=25, deadline=None)
@given(versions())
def test_a_strip_is_in_the_order_of_saves_whatever_the_order_of_their_ends(
    turn: int, found: list[Version]
) -> None:
    strip = Strip(found)
    assert [one.number for one in strip.versions] == sorted(one.number for one in found)
    assert all(strip.of(one.number) is one for one in found)
    right = [one for one in found if one.verdict == RIGHT]
    assert strip.newest_right == max(right, key=lambda one: one.number, default=None)
    for one in found:
        with pytest.raises(ValueError, match=f"a version {one.number} already"):
            strip.add(one)


@in_rounds(4)
@settings(max_examples=25, deadline=None)
@given(versions())
def test_two_versions_compare_on_what_both_have_and_the_other_way_round_by_the_inverse(
    turn: int,
    found: list[Version],
) -> None:
    for older in found:
        for newer in found:
            there, back = changes(older, newer), {one.problem: one for one in changes(newer, older)}
            assert {one.problem for one in there} == {c.problem for c in older.cells} & {
                c.problem for c in newer.cells
            }
            for one in there:
                other = back[one.problem]
                assert (one.ratio is None) == (one.older is None or one.newer is None)
                if one.ratio is None or other.ratio is None:
                    assert one.interval is None
                    continue
                assert one.ratio * other.ratio == pytest.approx(1)
                if one.interval is None or other.interval is None:
                    assert min(one.older.samples, one.newer.samples) < LEAST_ROUNDS  # type: ignore[union-attr]
                    continue
                assert one.interval.low <= one.interval.high
                assert one.interval.low * other.interval.high == pytest.approx(1)


@given(st.text("abc.-_9", min_size=1, max_size=70), st.integers(1, 10**6))
def test_the_name_of_a_version_ends_with_its_number_and_is_no_longer_than_a_name(
    name: str, number: int
) -> None:
    made = version_name(name, number)
    assert made.endswith(f"-v{number}")
    assert len(made) <= NAME_LENGTH
    assert made[: -len(f"-v{number}")] == name[: len(made) - len(f"-v{number}")]


def test_versions_that_took_turns_compare_by_their_turns_alone() -> None:
    slow, fast = quartiles_of([2.0] * 9), quartiles_of([1.0] * 9)
    assert slow is not None
    assert fast is not None
    alone = VersionCell(PROBLEMS[0], "done", "", fast, (1.0,) * 9, ())
    beside = VersionCell(PROBLEMS[0], "done", "", fast, (1.0,) * 9, (PeerRatio("mine-v1", 2.0, None, slow),))
    older = Version(1, "mine-v1", "", "", RIGHT, cells=(alone,))
    newer = Version(2, "mine-v2", "", "", RIGHT, before="mine-v1", cells=(beside,))
    (one,) = changes(older, newer)
    assert (one.in_turns, one.ratio, one.older) == (True, 2.0, slow)  # by its own samples it was as fast


def own(number: int, source: str | None = "def f(q, k, v): ...") -> OwnKernel:
    return OwnKernel(
        name=version_name("mine", number),
        path="/where/mine.py",
        sha256=f"{number}" * 64,
        function="f",
        backends=("cpu",),
        dtypes=("float32",),
        source=source,
    )


def session(failed: str = "", *, before: bool = True, source: str | None = "def f(q, k, v): ...") -> Session:
    """Version 2 beside version 1 and flash2, of which version 2 takes half of either's time."""
    made = (own(2, source), *([own(1)] if before else []))
    names = (*(one.name for one in made), "flash2")
    plan = Plan(backend="cpu", kernels=names, problems=PROBLEMS[:1], own=made)
    begun = replace(sessions.started(plan), started_at="2026-11-26T10:00:00.000+00:00")
    found, clock = Session.begin(begun), count(sessions.T0)
    points = plan.points()
    for point in points:
        if failed and point.kernel == "mine-v2":
            gone = PointFailed(index=point.index, t_ns=next(clock), status="wrong", reason=failed)
            found.apply(gone)
            continue
        free = {"measurement": builders.measurement(()), "free_bytes": 1 << 30}
        found.apply(PointChecked(index=point.index, t_ns=next(clock), **free))  # type: ignore[arg-type]
    left = [point for point in points if found.points[point.index].status != "wrong"]
    found.apply(SamplingStarted(indices=tuple(one.index for one in left), t_ns=next(clock)))
    for point in left:
        ms = 5.0 if point.kernel == "mine-v2" else 10.0
        samples = tuple(Sample(ms, None, number) for number in range(9))
        found.apply(PointMeasured(index=point.index, t_ns=next(clock), samples=samples, figures={}))
    found.apply(PlanFinished(t_ns=next(clock), outcome="finished"))
    return found


def test_a_session_tells_its_version_with_ratios_to_the_one_before_and_the_peer() -> None:
    version = version_of(session())
    assert version is not None
    assert (version.number, version.name, version.verdict) == (2, "mine-v2", RIGHT)
    assert (version.before, version.peers) == ("mine-v1", ("flash2",))
    assert (version.source, version.sha256) == ("def f(q, k, v): ...", "2" * 64)
    (cell,) = version.cells
    assert [(one.to, one.ratio, one.interval) for one in cell.ratios] == [
        ("mine-v1", 2.0, (2.0, 2.0)),
        ("flash2", 2.0, (2.0, 2.0)),
    ]


def test_a_version_that_is_wrong_has_its_reason_and_no_ratio() -> None:
    version = version_of(session("O is wrong."))
    assert version is not None
    assert (version.verdict, version.reason, version.right) == ("wrong", "O is wrong.", False)
    assert version.cells[0].ratios == ()


def test_the_first_version_has_peers_alone() -> None:
    version = version_of(session(before=False))
    assert version is not None
    assert (version.before, version.peers) == ("", ("flash2",))


def test_a_session_of_no_version_and_one_without_its_source_are_none() -> None:
    assert version_of(session(source=None)) is None
    assert version_of(sessions.session_of(sessions.script(sessions.make_plan()))) is None
