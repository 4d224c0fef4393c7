"""What is said of a drift check whose times no clock gives."""

import pytest
from msgspec.structs import replace

from app.words.progress import outcome_text
from profiles.plan.plan import Plan
from profiles.results.drift import drift_text, drifts
from profiles.results.session import Session
from profiles.wire.measurement import Sample
from tests.app.profile.builders import make_plan, script, session_of


def session_with(ms: float) -> Session:
    """A sweep whose drift check measured this time at its end."""
    plan: Plan = make_plan(("flash2",), (512,))
    session = session_of(script(plan))
    repeat = replace(session.points[0].measurement, samples=(Sample(ms),) * 3)  # type: ignore[type-var]
    again = session_of(script(plan)).points[0]
    again.measurement = repeat
    session.points[plan.cells :] = [again]
    return session


def test_a_drift_is_the_last_time_over_the_first() -> None:
    session = session_with(1.0)
    (drift,) = drifts(session)
    assert drift.last_ms == 1.0
    assert outcome_text(session).endswith(f"drift {drift.ratio:.3f}×")


@pytest.mark.parametrize("ms", [0.0, -5.0, float("nan")])
def test_a_time_that_no_clock_gives_is_no_drift(ms: float) -> None:
    session = session_with(ms)
    assert drifts(session) == []
    assert drift_text(session) == ""
    assert outcome_text(session) == "Sweep finished"
