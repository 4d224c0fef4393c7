"""A session of several parts is compared by the circumstances of the part that measured each point."""

from typing import Any

import pytest
from msgspec.structs import replace

from flashscope.profiles.results.compare import Contrast
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.events import PlanResumed
from tests.profiles.results.compare.built import contrast, rounds, session
from tests.profiles.sessions import MACHINE, TELEMETRY

POINTS = {("flash2", 512): rounds(1.0), ("flash2", 1024): rounds(2.0), ("torch-flash", 1024): rounds(2.0)}


def resumed(*, watts: float | None = None, repeats: tuple[int, ...] = (), **machine: Any) -> Session:
    """A session whose second part, on another machine, measured all but the first length."""
    made = session(POINTS)
    event = PlanResumed(
        session_id=made.id,
        part=2,
        machine=replace(MACHINE, **machine),
        started_at="2026-01-03T03:04:05+00:00",
        t_ns=9,
        repeats=repeats,
        telemetry=None if watts is None else replace(TELEMETRY, power_limit_w=watts),
    )
    for state in made.points:
        state.part = 1 if state.point.problem.seqlen_q == 512 else 2
    made.resumed.append(event)
    made.telemetry = event.telemetry
    return made


def told(found: Contrast) -> dict[str, tuple[str, str]]:
    return {one.key: (one.base, one.other) for one in found.differences}


def test_a_later_part_on_another_driver_is_told_of_the_points_that_it_measured() -> None:
    found = contrast(session(POINTS), resumed(driver="590.1"))
    first, *_ = found.differences
    assert (first.key, first.base, first.other) == ("driver", "580.95", "580.95 in part 1, 590.1 in part 2")
    assert first.sentence.endswith("it may explain a change of any point in the parts where it differs.")
    assert told(found)["parts"] == ("in one go", "in 2 parts, part 2: driver 590.1, not 580.95")


def test_a_part_that_has_no_partner_makes_no_difference_but_is_told() -> None:
    base = session({("flash2", 512): rounds(1.0)})
    assert "driver" not in told(contrast(base, resumed(driver="590.1")))
    assert "parts" in told(contrast(base, resumed(driver="590.1")))


def test_parts_that_changed_alike_are_compared_each_with_its_like() -> None:
    both = resumed(driver="590.1"), resumed(driver="590.1")
    assert told(contrast(*both)) == {"parts": ("in 2 parts, part 2: driver 590.1, not 580.95",) * 2}


def test_a_package_explains_the_kernels_of_its_part_alone() -> None:
    packages = {**MACHINE.packages, "torch": "99"}
    found = contrast(session(POINTS), resumed(packages=packages))
    one = next(one for one in found.differences if one.key == "torch")
    assert (one.reach, one.kernels) == ("kernels", ("torch-flash",))
    assert one.other.endswith("99 in part 2") or one.other == "99"


def test_another_source_in_a_later_part_is_told() -> None:
    base = session(POINTS, machine={"sources": {"cuda": {"flash2": "aaa"}}})
    other = resumed(sources={"cuda": {"flash2": "bbb"}})
    other.machine = base.machine
    assert told(contrast(base, other))["sources"] == ("aaa", "aaa in part 1, bbb in part 2")


@pytest.mark.parametrize(("watts", "expected"), [(500.0, "unknown in part 1, 500 W in part 2"), (None, None)])
def test_a_power_limit_is_that_of_the_part_that_was_watched(
    watts: float | None, expected: str | None
) -> None:
    found = told(contrast(session(POINTS), resumed(watts=watts)))
    assert found.get("power-limit", (None, None))[1] == expected


def test_two_parts_under_the_same_circumstances_explain_nothing() -> None:
    (one,) = contrast(session(POINTS), resumed()).differences
    assert (one.key, one.other, one.reach) == ("parts", "in 2 parts", "none")
