"""What is said of a drift check whose times no clock gives."""

import pytest
from msgspec.structs import replace

from flashscope.app.words.results.progress import outcome_text
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.drift import drift_text, drifts
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.measurement import Sample
from tests.profiles.sessions import make_plan, script, session_of


def session_with(last_ms: float, first_ms: float = 0.5) -> Session:
    """A sweep whose drift check measured this time at its end, and that one at first."""
    plan: Plan = make_plan(("flash2",), (512,))
    session = session_of(script(plan))
    session.points[plan.cells :] = [session_of(script(plan)).points[0]]
    for state, ms in zip(session.points, (first_ms, last_ms), strict=True):
        state.measurement = replace(state.measurement, samples=(Sample(ms),) * 3)  # type: ignore[type-var]
    return session


def test_a_drift_is_the_last_time_over_the_first() -> None:
    session = session_with(1.0)
    (drift,) = drifts(session)
    assert drift.last_ms == 1.0
    assert outcome_text(session).endswith("drift 2.000×")


@pytest.mark.parametrize("ms", [0.0, -5.0, float("nan"), float("inf")])
def test_a_time_that_no_clock_gives_is_no_drift(ms: float) -> None:
    _assert_no_drift(session_with(ms))


@pytest.mark.parametrize(("first_ms", "last_ms"), [(2e16, 5e-324), (5e-324, 2e16)])
def test_times_whose_ratio_no_number_holds_are_no_drift(first_ms: float, last_ms: float) -> None:
    _assert_no_drift(session_with(last_ms, first_ms))


def _assert_no_drift(session: Session) -> None:
    assert drifts(session) == []
    assert drift_text(session) == ""
    assert outcome_text(session) == "Sweep finished"
