"""What a model's step gains from another kernel of attention, by two roads, and whether these agree.

One road is Amdahl's: the share that a step spends in each attention call, as the profiler saw it, and how
many times as fast a kernel replays that call. The other is the step itself, timed with another implementation
in place. Where they disagree, the difference is split into measured parts, in milliseconds of a step:
what the calls take in place beyond what their replay says, what the rest of the step takes more, how much
longer a GPU waits for the CPU, and, on a CPU, what the profiler takes itself. They add up to the difference.
A GPU's kernels take no longer under the profiler, only the CPU's part does: there shares are of steps
without it.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from flashscope.kernels.workload.audit import (
    AuditedCall,
    AuditedStep,
    ModelAudit,
    ModelPhase,
    needs,
    problem_of,
    replayed_by,
)
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import NOT_ENDED
from flashscope.profiles.results.statistics.bootstrap import LEAST_ROUNDS, interval_of

RESAMPLES = 2000
CLOSE = math.log(1.05)  # roads that differ by no more agree
WIDE = 1.05  # an interval that holds such a gain and such a loss tells neither
WORTH = 1.02  # a step that is not this much faster has gained nothing that anybody notices
IN_PLACE = "in the model"
NOT_REACHED = "its replay was broken off"
CLEAR = 1.1  # a kernel that is this much faster has gained something
Doubles = NDArray[np.float64]
ReplayPoints = Mapping[tuple[Problem, str], PointRow]


class Ratio(msgspec.Struct, frozen=True, kw_only=True):
    """How many times as fast; the interval holds it 95 times of 100, None: there are too few rounds."""

    value: float
    low: float | None = None
    high: float | None = None


class ReplayedCall(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of a step that are alike, and their replay.

    Attributes:
        phase: Which step.
        layers: Who makes them.
        calls: How many there are in a step.
        problem: What replays one; None: none of our problems states it.
        needs: What it asks for that no problem states.
        share: Of the step's time that they take, with their backward pass, by the profiler; None: nobody saw.
        reference: The kernel that replays what ran; `in the model`: none does, and the time of the calls in
            their step stands for it.
        ratios: How many times as fast as the reference each kernel replays it.
        gains: How many times as fast the step is with that kernel in these calls alone, by Amdahl.
        missing: Why a kernel has no ratio, in its point's words.
    """

    phase: ModelPhase
    layers: tuple[str, ...]
    calls: int
    problem: Problem | None
    needs: tuple[str, ...]
    share: float | None
    reference: str
    ratios: dict[str, Ratio]
    gains: dict[str, float]
    missing: dict[str, str]


class Amdahl(msgspec.Struct, frozen=True, kw_only=True):
    """What a step gains with one kernel in all calls that it takes, by Amdahl.

    Attributes:
        kernel: The kernel.
        covered: Calls of the step that it takes and that were replayed.
        calls: Calls of the step.
        ratio: How many times as fast those calls are together.
        step: How many times as fast the step is.
    """

    kernel: str
    covered: int
    calls: int
    ratio: float
    step: Ratio


class StepParts(msgspec.Struct, frozen=True, kw_only=True):
    """What tells the roads apart, in ms of a step; positive: the real one takes longer than predicted.

    Attributes:
        in_place: What the calls take in the model beyond their replay.
        rest: What the rest of the step takes more than it did; on a GPU, of its work.
        profiler: What differs between steps under the profiler, by which shares are seen, and steps without
            it: its own cost, and what the machine did meanwhile; on a GPU none.
        idle: How much longer a GPU waits, for the CPU to ask for more; None: on a CPU.
    """

    in_place: float
    rest: float
    profiler: float
    idle: float | None = None


class RealStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step with another implementation in place.

    Attributes:
        implementation: Which.
        refused: Why it has no times; empty: it has.
        step: How many times as fast it is as with the one asked for; None: it was refused.
        kernel: The kernel that replays what ran with it; empty: none does.
        predicted: What Amdahl says of that kernel; None: nothing.
        agree: Whether the two roads agree: their intervals meet or they are within 5%; None: one is missing,
            or it cannot be told.
        cannot_tell: Whether one of the intervals is so wide that it holds a gain and a loss of more than 5%.
        parts: Where the difference is; None: there is none, or it cannot be told.
    """

    implementation: str
    refused: str = ""
    step: Ratio | None = None
    kernel: str = ""
    predicted: Ratio | None = None
    agree: bool | None = None
    cannot_tell: bool = False
    parts: StepParts | None = None


class Switching(msgspec.Struct, frozen=True, kw_only=True):
    """What switching gains in one step.

    Attributes:
        phase: Which.
        step_ms: Median of the step as it was asked for.
        share: Of its time in attention, by the profiler.
        busy: Of its time in which a GPU works at all; None: on a CPU.
        overhead: How many times as long a step takes under the profiler.
        calls: The distinct calls.
        amdahl: Every kernel that was replayed, the most gained first.
        real: Every other implementation.
        vanishes: The kernel whose gain on the calls is clear and in the step is not; empty: none.
    """

    phase: ModelPhase
    step_ms: float
    share: float
    overhead: float
    calls: tuple[ReplayedCall, ...]
    amdahl: tuple[Amdahl, ...]
    real: tuple[RealStep, ...]
    vanishes: str = ""
    busy: float | None = None


def switchings_of(audit: ModelAudit, rows: Sequence[PointRow]) -> list[Switching]:
    """What switching gains in each step of an audit that was timed, by the points that replay its calls."""
    points = {(row.problem, row.kernel): row for row in rows}
    kernels = tuple(dict.fromkeys(row.kernel for row in rows))
    return [found for phase in audit.phases if (found := _switching(audit, phase, points, kernels))]


def _switching(
    audit: ModelAudit, phase: ModelPhase, points: ReplayPoints, kernels: Sequence[str]
) -> Switching | None:
    steps = [one for one in audit.steps if one.phase == phase]
    base = steps[0]
    if base.refused or not base.profiled_ms:
        return None
    calls = [_Replay.of(one, base, points) for one in audit.calls if one.phase == phase]
    amdahl = sorted(
        filter(None, (_amdahl(kernel, calls) for kernel in kernels)), key=lambda one: -one.step.value
    )
    by_kernel = {one.kernel: one for one in amdahl}
    return Switching(
        phase=phase,
        step_ms=median(base.step_ms),
        share=min(1.0, sum(one.share for one in calls)),  # an interruption of one call is no part of it
        overhead=median(base.profiled_ms) / median(base.step_ms),
        calls=tuple(one.told(kernels) for one in calls),
        amdahl=tuple(amdahl),
        real=tuple(_real(one, base, by_kernel, calls) for one in steps[1:]),
        busy=_median_share(base.busy_ms, base) if base.busy_ms else None,
        vanishes=next((one.kernel for one in amdahl if _clear(one, calls) and _lost(one.step)), ""),
    )


def _clear(one: Amdahl, calls: Sequence["_Replay"]) -> bool:
    """Whether a kernel is faster on the calls of a step beyond doubt: on each that it takes."""
    ratios = [_ratio(*pair) for call in calls if (pair := call.pair(one.kernel))]
    return one.ratio >= CLEAR and all(ratio.low is not None and ratio.low > 1 for ratio in ratios)


def _lost(step: Ratio) -> bool:
    return step.value < WORTH or (step.low is not None and step.low <= 1)


def wholes_of(step: AuditedStep) -> tuple[float, ...]:
    """What shares are of, in ms: on a GPU the step just before each profiled one, else that one.

    A step is no shorter than what its GPU works, though the one before may have been.
    """
    return tuple(map(max, step.step_ms, step.busy_ms)) if step.busy_ms else step.profiled_ms


def _median_share(parts_ms: Sequence[float], step: AuditedStep) -> float:
    return median(part / whole for part, whole in zip(parts_ms, wholes_of(step), strict=True))


class _Replay(NamedTuple):
    """A distinct call with its points."""

    audited: AuditedCall
    problem: Problem | None
    shares: Doubles  # of each profiled step
    reference: str
    points: ReplayPoints

    @classmethod
    def of(cls, call: AuditedCall, base: AuditedStep, points: ReplayPoints) -> "_Replay":
        shares = np.array([a / whole for a, whole in zip(call.took_ms, wholes_of(base), strict=False)])
        problem = problem_of(call.call)
        replayed = replayed_by(call.ran, call.call.asked, call.call.dtype)
        row = points.get((problem, replayed)) if problem else None
        return cls(call, problem, shares, replayed if row and row.done else IN_PLACE, points)

    @property
    def share(self) -> float:
        return float(np.median(self.shares)) if len(self.shares) else 0.0

    def times(self, kernel: str) -> dict[int, float]:
        """Milliseconds of a kernel's accepted samples, by round or by number."""
        row = self.points.get((self.problem, kernel)) if self.problem else None
        if row is None or not row.done or row.altered:
            return {}
        numbered = enumerate(row.accepted)
        return {number if one.round is None else one.round: one.ms for number, one in numbered}

    def pair(self, kernel: str) -> tuple[Doubles, Doubles] | None:
        """Times of the reference and of a kernel in the rounds that both have; None: there are none."""
        other = self.times(kernel)
        if self.reference == IN_PLACE:
            count = min(len(other), len(self.audited.took_ms))
            base = {n: self.audited.took_ms[n] / len(self.audited.layers) for n in range(count)}
            other = dict(enumerate(list(other.values())[:count]))
        else:
            base = self.times(self.reference)
        rounds = sorted(base.keys() & other.keys())
        return (np.array([base[n] for n in rounds]), np.array([other[n] for n in rounds])) if rounds else None

    def ratio(self, kernel: str) -> float | None:
        """How many times as fast a kernel is."""
        pair = self.pair(kernel)
        return None if pair is None else float(np.median(pair[0]) / np.median(pair[1]))

    def told(self, kernels: Sequence[str]) -> ReplayedCall:
        ratios = {kernel: _ratio(*pair) for kernel in kernels if (pair := self.pair(kernel))}
        rows = {kernel: self.points.get((self.problem, kernel)) for kernel in kernels if self.problem}
        return ReplayedCall(
            phase=self.audited.phase,
            layers=self.audited.layers,
            calls=len(self.audited.layers),
            problem=self.problem,
            needs=needs(self.audited.call),
            share=self.share if len(self.shares) else None,
            reference=self.reference,
            ratios=ratios,
            gains={name: float(_gain(self.share, self.share / one.value)) for name, one in ratios.items()},
            missing={kernel: _why_missing(row) for kernel, row in rows.items() if row and not row.done},
        )


def _why_missing(row: PointRow) -> str:
    return NOT_REACHED if row.status in NOT_ENDED else row.reason or row.status


def resampled(values: Doubles, generator: np.random.Generator) -> Doubles:
    """Medians of resamples, (..., rounds) to (..., RESAMPLES): a round is drawn in all rows at once."""
    drawn = generator.integers(values.shape[-1], size=(RESAMPLES, values.shape[-1]))
    medians: Doubles = np.median(values[..., drawn], axis=-1)
    return medians


def _ratio(base: Doubles, other: Doubles) -> Ratio:
    """How many times as fast the other is; rounds are drawn in pairs, so that what slows a round cancels."""
    value = float(np.median(base) / np.median(other))
    if len(base) < LEAST_ROUNDS:
        return Ratio(value=value)
    first, second = resampled(np.stack([base, other]), np.random.default_rng(0))
    low, high = interval_of(np.log(first / second))
    return Ratio(value=value, low=float(low), high=float(high))


def _amdahl(kernel: str, calls: Sequence[_Replay]) -> Amdahl | None:
    """What a step gains with a kernel; None: it replays none of its calls."""
    replayed = [(one, pair) for one in calls if len(one.shares) and (pair := one.pair(kernel))]
    if not replayed:
        return None
    ratios = [float(np.median(base) / np.median(other)) for base, other in (pair for _, pair in replayed)]
    shares = [one.share for one, _ in replayed]
    left = sum(share / ratio for share, ratio in zip(shares, ratios, strict=True))
    step = float(_gain(sum(shares), left))
    return Amdahl(
        kernel=kernel,
        covered=sum(len(one.audited.layers) for one, _ in replayed),
        calls=sum(len(one.audited.layers) for one in calls),
        ratio=sum(shares) / left if left else 1.0,
        step=_amdahl_interval(step, replayed),
    )


def _amdahl_interval(value: float, replayed: Sequence[tuple[_Replay, tuple[Doubles, Doubles]]]) -> Ratio:
    """The gain with its interval: shares and times are drawn anew, each by its own rounds."""
    if min(len(base) for _, (base, _other) in replayed) < LEAST_ROUNDS:
        return Ratio(value=value)
    generator = np.random.default_rng(0)
    shares = resampled(np.stack([one.shares for one, _ in replayed]), generator)
    taken, left = np.zeros(RESAMPLES), np.zeros(RESAMPLES)
    for share, (_, pair) in zip(shares, replayed, strict=True):
        base, other = resampled(np.stack(pair), generator)
        taken += share
        left += share * other / base
    low, high = interval_of(np.log(_gain(taken, left)))
    return Ratio(value=value, low=float(low), high=float(high))


def _gain(taken: Any, left: Any) -> Any:
    """How many times as fast a step is of which calls took a share, and take so much now; or many steps.

    Shares are of the steps beside those in which the calls were seen, so that they may come to more than 1:
    the calls are then all that there is, and no step gains more than they do.
    """
    return np.maximum(1.0, taken) / (np.maximum(0.0, 1.0 - taken) + left)


def _real(
    step: AuditedStep, base: AuditedStep, amdahl: Mapping[str, Amdahl], calls: Sequence[_Replay]
) -> RealStep:
    if step.refused:
        return RealStep(implementation=step.implementation, refused=step.refused)
    rounds = min(len(base.step_ms), len(step.step_ms))
    real = _ratio(np.array(base.step_ms[:rounds]), np.array(step.step_ms[:rounds]))
    kernel = step.kernel
    if not kernel and len(step.ran) == 1 and calls:
        kernel = replayed_by(step.ran[0], step.implementation, calls[0].audited.call.dtype)
    found = amdahl.get(kernel)
    if found is None or found.covered < found.calls:
        return RealStep(implementation=step.implementation, step=real, kernel=kernel)
    wide = any(map(_tells_nothing, (found.step, real)))
    agree = None if wide else _agree(found.step, real)
    return RealStep(
        implementation=step.implementation,
        step=real,
        kernel=kernel,
        predicted=found.step,
        agree=agree,
        cannot_tell=wide,
        parts=_parts(step, base, calls, kernel) if agree is False else None,
    )


def _tells_nothing(ratio: Ratio) -> bool:
    return ratio.low is not None and ratio.high is not None and ratio.low < 1 / WIDE and ratio.high > WIDE


def _agree(one: Ratio, other: Ratio) -> bool:
    if abs(math.log(one.value / other.value)) <= CLOSE:
        return True
    if one.low is None or one.high is None or other.low is None or other.high is None:
        return False
    return one.low <= other.high and other.low <= one.high


def _parts(step: AuditedStep, base: AuditedStep, calls: Sequence[_Replay], kernel: str) -> StepParts:
    """Where the real step's time beyond the predicted one is; the parts add up to it."""
    took, whole = median(base.attention_ms), median(wholes_of(base))
    ratios = [(one.share * whole, one.ratio(kernel) or 1.0) for one in calls]
    replayed = sum(ms / ratio for ms, ratio in ratios) + took - sum(ms for ms, _ in ratios)
    in_place = median(step.attention_ms) - replayed
    real, before = median(step.step_ms), median(base.step_ms)
    if step.busy_ms and base.busy_ms:
        busy, was_busy = median(step.busy_ms), median(base.busy_ms)
        rest = busy - median(step.attention_ms) - (was_busy - took)
        return StepParts(in_place=in_place, rest=rest, profiler=0.0, idle=real - busy - (before - was_busy))
    rest = (median(step.profiled_ms) - median(step.attention_ms)) - (whole - took)
    predicted = before * (1 - (took - replayed) / whole)
    return StepParts(in_place=in_place, rest=rest, profiler=real - predicted - in_place - rest)
