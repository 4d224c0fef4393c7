"""How audits of models differ between two sessions: the attention of each kind of layers, and whole steps."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import median
from typing import NamedTuple

import numpy as np

from flashscope.kernels.workload.audit import AuditedCall, ModelAudit, ModelPhase, Ran
from flashscope.profiles.results.compare.switching import Doubles, Ratio, resampled, wholes_of
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.statistics.bootstrap import LEAST_ROUNDS, interval_of

ALIKE = ("architecture", "parameters", "layers", "dtype", "threads", "inputs")
"""What two audits must share for their times to be of the same work."""


class AuditSide(NamedTuple):
    """What one session says of some calls of a step, or of the step.

    Attributes:
        layers: The modules that make the calls; empty: the whole step.
        ran: What computed attention, each kind once.
        took_ms: What they take, round by round.
        share: Of the step's time, by the profiler; None: nobody saw, or it is the whole step.
    """

    layers: tuple[str, ...]
    ran: tuple[Ran, ...]
    took_ms: tuple[float, ...]
    share: float | None = None

    @property
    def ms(self) -> float | None:
        """The median of what they take."""
        return median(self.took_ms) if self.took_ms else None


class AuditChange(NamedTuple):
    """What one kind of layers takes in two sessions, or all layers, or the whole step.

    Attributes:
        model: What the model is called.
        phase: Which step.
        implementation: What computed attention in a whole step; empty: this is no whole step.
        kinds: How many kinds of layers these are.
        base: What the baseline says; None: it has none of these.
        other: What the other session says.
        ratio: How many times as long the other takes; None: they are not the same layers, or not timed.
    """

    model: str
    phase: ModelPhase
    implementation: str
    kinds: int
    base: AuditSide | None
    other: AuditSide | None
    ratio: Ratio | None

    @property
    def faster(self) -> bool | None:
        """Whether the other takes less time; None: the interval holds 1, or there is none."""
        ratio = self.ratio
        if ratio is None or ratio.low is None or ratio.high is None or ratio.low <= 1 <= ratio.high:
            return None
        return ratio.high < 1

    @property
    def layers(self) -> tuple[str, ...]:
        """All layers of both."""
        sides = (one for one in (self.base, self.other) if one)
        return tuple(dict.fromkeys(name for side in sides for name in side.layers))


class AuditContrast(NamedTuple):
    """The audits of two sessions.

    Attributes:
        calls: Each kind of layers of each step.
        attention: All layers of each step.
        steps: Each whole step that both have timed with one implementation.
        unlike: What tells the audits of one model apart: the model, what, there and here.
        base_only: Models that the baseline alone has.
        other_only: Those that the other alone has.
    """

    calls: tuple[AuditChange, ...]
    attention: tuple[AuditChange, ...]
    steps: tuple[AuditChange, ...]
    unlike: tuple[tuple[str, str, object, object], ...]
    base_only: tuple[str, ...]
    other_only: tuple[str, ...]

    @property
    def lines(self) -> tuple[AuditChange, ...]:
        """Step by step: each kind of layers, all where there are several kinds, and the whole step."""
        several = (one for one in self.attention if one.kinds > 1)
        found = (*self.calls, *several, *self.steps)
        order = list(dict.fromkeys((one.model, one.phase) for one in found))
        return tuple(sorted(found, key=lambda one: order.index((one.model, one.phase))))


def audit_contrast(base: Session, other: Session) -> AuditContrast | None:
    """How the audits differ, of models of one name; None: neither session has any."""
    before, after = ({one.model: one for one in session.audits} for session in (base, other))
    if not before and not after:
        return None
    pairs = [(one, after[model]) for model, one in before.items() if model in after]
    return AuditContrast(
        calls=tuple(change for pair in pairs for change in _calls(*pair)),
        attention=tuple(change for pair in pairs for change in _attention(*pair)),
        steps=tuple(change for pair in pairs for change in _steps(*pair)),
        unlike=tuple(
            (one.model, key, getattr(one, key), getattr(two, key))
            for one, two in pairs
            for key in ALIKE
            if getattr(one, key) != getattr(two, key)
        ),
        base_only=tuple(model for model in before if model not in after),
        other_only=tuple(model for model in after if model not in before),
    )


def _phases(base: ModelAudit, other: ModelAudit) -> dict[ModelPhase, tuple[list[AuditedCall], ...]]:
    """The calls of each step in both."""
    return {
        phase: tuple([one for one in audit.calls if one.phase == phase] for audit in (base, other))
        for phase in dict.fromkeys((*base.phases, *other.phases))
    }


def _calls(base: ModelAudit, other: ModelAudit) -> Iterator[AuditChange]:
    for phase, (before, after) in _phases(base, other).items():
        for kind in _kinds([*before, *after]):
            there, here = (
                [one for one in calls if kind.intersection(one.layers)] for calls in (before, after)
            )
            yield _change(phase, 1, (base, there), (other, here))


def _attention(base: ModelAudit, other: ModelAudit) -> Iterator[AuditChange]:
    for phase, (before, after) in _phases(base, other).items():
        if before and after:
            yield _change(phase, len(_kinds([*before, *after])), (base, before), (other, after))


def _kinds(calls: Iterable[AuditedCall]) -> list[set[str]]:
    """Layers that either session has among those that are alike: what one tells apart may be one there."""
    kinds: list[set[str]] = []
    for call in calls:
        layers = set(call.layers)
        joined = [kind for kind in kinds if kind & layers]
        if joined:
            joined[0].update(layers, *joined[1:])
            kinds = [kind for kind in kinds if kind not in joined[1:]]
        else:
            kinds.append(layers)
    return kinds


def _change(
    phase: ModelPhase,
    kinds: int,
    base: tuple[ModelAudit, Sequence[AuditedCall]],
    other: tuple[ModelAudit, Sequence[AuditedCall]],
) -> AuditChange:
    sides = _side(*base), _side(*other)
    return AuditChange(base[0].model, phase, "", kinds, *sides, _ratio(*sides))


def _side(audit: ModelAudit, calls: Sequence[AuditedCall]) -> AuditSide | None:
    """What some calls of a step take together."""
    if not calls:
        return None
    took = tuple(map(sum, zip(*(one.took_ms for one in calls), strict=False)))
    step = next(one for one in audit.steps if one.phase == calls[0].phase)
    shares = [ms / whole for ms, whole in zip(took, wholes_of(step), strict=False)]
    return AuditSide(
        layers=tuple(name for one in calls for name in one.layers),
        ran=tuple(dict.fromkeys(one.ran for one in calls)),
        took_ms=took,
        share=median(shares) if shares else None,
    )


def _steps(base: ModelAudit, other: ModelAudit) -> Iterator[AuditChange]:
    """The steps that both sessions timed, in the baseline's order."""
    after = {(one.phase, one.implementation): one for one in other.steps if one.step_ms}
    for one in base.steps:
        two = after.get((one.phase, one.implementation))
        if one.step_ms and two is not None:
            sides = AuditSide((), one.ran, one.step_ms), AuditSide((), two.ran, two.step_ms)
            yield AuditChange(base.model, one.phase, one.implementation, 1, *sides, _ratio(*sides))


def _ratio(base: AuditSide | None, other: AuditSide | None) -> Ratio | None:
    """How many times as long the other takes; each session's rounds are drawn by themselves."""
    if base is None or other is None or set(base.layers) != set(other.layers):
        return None
    if not base.took_ms or not other.took_ms:
        return None
    value = median(other.took_ms) / median(base.took_ms)
    if min(len(base.took_ms), len(other.took_ms)) < LEAST_ROUNDS:
        return Ratio(value=value)
    generator = np.random.default_rng(0)
    medians: list[Doubles] = [resampled(np.array(side.took_ms), generator) for side in (base, other)]
    low, high = interval_of(np.log(medians[1] / medians[0]))
    return Ratio(value=value, low=float(low), high=float(high))
