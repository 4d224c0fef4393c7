"""Steps of audited models beside those of another session."""

import dataclasses
from pathlib import Path

import pytest
from msgspec.structs import replace

from flashscope.app.words.learn.audits import change_text
from flashscope.kernels.workload.audit import AuditedStep, ModelAudit
from flashscope.profiles.results.compare.audited_steps import step_changes
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import load
from tests.profiles.store import builders


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return load(builders.recorded(tmp_path / "a.flashscope"))


def beside(session: Session, *steps: AuditedStep, **fields: str) -> Session:
    """A session whose audit has these steps."""
    audit: ModelAudit = replace(session.audits[0], steps=steps, **fields)
    return dataclasses.replace(session, audits=[audit])


def test_a_step_is_compared_with_its_like_and_says_what_runs_now(session: Session) -> None:
    step = session.audits[0].steps[0]
    faster = replace(step, step_ms=tuple(ms / 2 for ms in step.step_ms), ran=("math",))
    (change,) = step_changes(session, beside(session, faster, session.audits[0].steps[1]))
    assert change.ratio.value == pytest.approx(2)
    assert change.ratio.low is not None
    assert 1.8 < change.ratio.low <= 2
    told = change_text(change)
    assert told.startswith("small, prefill, sdpa: a step takes 10.2 ms, here 5.10 ms: 2.00× (")
    assert told.endswith("as fast; attention ran by flash, here by math.")


def test_a_step_that_is_as_fast_within_the_noise_says_so(session: Session) -> None:
    (change,) = step_changes(session, session)
    assert change.ratio.value == 1
    assert change_text(change).endswith("as fast, which is no sure change.")


def test_another_model_and_another_implementation_have_no_partner(session: Session) -> None:
    step = session.audits[0].steps[0]
    assert not step_changes(session, beside(session, step, model="other"))
    assert not step_changes(session, beside(session, replace(step, implementation="eager")))
