"""How the steps of audited models differ between two sessions: of an edited model, or other libraries."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from flashscope.kernels.workload.audit import AuditedStep, ModelAudit, ModelPhase, Ran
from flashscope.profiles.results.compare.switching import Doubles, Ratio, resampled
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.statistics.bootstrap import LEAST_ROUNDS, interval_of


class StepChange(NamedTuple):
    """A step of a model that both sessions timed with one implementation.

    Attributes:
        model: What the model is called.
        phase: Which step.
        implementation: What computed attention.
        base_ms: Its median in the baseline.
        other_ms: Its median in the other session.
        ratio: How many times as fast it is in the other session.
        ran: What computed attention in the baseline, and in the other; both are told alone where they differ.
    """

    model: str
    phase: ModelPhase
    implementation: str
    base_ms: float
    other_ms: float
    ratio: Ratio
    ran: tuple[tuple[Ran, ...], tuple[Ran, ...]]


def step_changes(base: Session, other: Session) -> list[StepChange]:
    """The steps that both sessions timed, in the baseline's order, of models of one name."""
    before, after = _timed(base.audits), _timed(other.audits)
    return [_change(*key, one, after[key]) for key, one in before.items() if key in after]


def _timed(audits: Iterable[ModelAudit]) -> dict[tuple[str, ModelPhase, str], AuditedStep]:
    return {
        (audit.model, step.phase, step.implementation): step
        for audit in audits
        for step in audit.steps
        if step.step_ms
    }


def _change(
    model: str, phase: ModelPhase, implementation: str, base: AuditedStep, other: AuditedStep
) -> StepChange:
    return StepChange(
        model=model,
        phase=phase,
        implementation=implementation,
        base_ms=float(np.median(base.step_ms)),
        other_ms=float(np.median(other.step_ms)),
        ratio=_ratio(base.step_ms, other.step_ms),
        ran=(base.ran, other.ran),
    )


def _ratio(base_ms: Sequence[float], other_ms: Sequence[float]) -> Ratio:
    """How many times as fast the other is; each session's rounds are drawn by themselves."""
    value = float(np.median(base_ms) / np.median(other_ms))
    if min(len(base_ms), len(other_ms)) < LEAST_ROUNDS:
        return Ratio(value=value)
    generator = np.random.default_rng(0)
    medians: list[Doubles] = [resampled(np.array(ms), generator) for ms in (base_ms, other_ms)]
    low, high = interval_of(np.log(medians[0] / medians[1]))
    return Ratio(value=value, low=float(low), high=float(high))
