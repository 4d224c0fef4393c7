"""Check one point before it is timed: does it fit, is it right, what does it hold."""

import math
import time
from typing import NamedTuple

from kernels.fp8 import Rounding
from kernels.launch import Inputs, Launch, LibraryLaunch, make_inputs, prepare
from kernels.problem import Problem
from kernels.spec import KernelSpec
from kernels.verify import Criterion, Verdict, criterion
from profiles.bench import Bench
from profiles.child import Link
from profiles.events import Correctness, Measurement, PointFailed
from profiles.failures import Refusal
from profiles.fitting import refuse_oversize, refuse_unsupported
from profiles.footprint import measure_footprint
from profiles.messages import CheckedPoint, CheckPoint
from profiles.steps import Steps


class FirstRun(NamedTuple):
    """What a point's first launch yielded; see Measurement."""

    prepare_ms: float
    first_run_ms: float
    correctness: Correctness | None
    note: str


class Criteria:
    """What the last problem's outputs are judged by: its kernels share the oracle, most of a check's time."""

    def __init__(self) -> None:
        self._problem: Problem | None = None
        self._known: dict[Rounding | None, Criterion] = {}

    def of(self, problem: Problem, inputs: Inputs, rounding: Rounding | None) -> Criterion:
        """The criterion of a problem, whose inputs follow from it; in host memory."""
        if problem != self._problem:
            self._problem, self._known = problem, {}
        if rounding not in self._known:
            self._known[rounding] = criterion(problem, inputs, rounding=rounding)
        return self._known[rounding]


class Checking:
    """One point on its way to be sampled, alone in memory.

    Attributes:
        steps: Where it is.
    """

    def __init__(
        self, command: CheckPoint, spec: KernelSpec, bench: Bench, criteria: Criteria, link: Link
    ) -> None:
        self._point, self._protocol, self._device = command.point, command.protocol, command.device
        self._spec, self._bench, self._criteria = spec, bench, criteria
        self.steps = Steps(self._point, link)

    def run(self) -> CheckedPoint | PointFailed:
        """Check; a point that fails is `wrong`, `unsupported` or `will-not-fit`.

        Raises:
            CancelledError: The engine gave up on it.
            MemoryError: The allocator refused.
            Exception: Whatever the kernel raised.
        """
        refusal = self._refusal()
        if refusal is not None:
            return refusal.failed(self._point)
        first = self._first_run()
        self._bench.release()
        found = self._with_footprint(first)
        if first.correctness is not None and not first.correctness.passed:
            return Refusal("wrong", _what_is_wrong(first.correctness, first.note)).failed(self._point, found)
        return CheckedPoint(point=self._point, found=found)

    def _refusal(self) -> Refusal | None:
        problem = self._point.problem
        return refuse_unsupported(self._spec, problem, self._device) or refuse_oversize(
            self._spec, problem, self._device.backend, self._protocol.fit_margin, self._bench.free_bytes()
        )

    def _first_run(self) -> FirstRun:
        """Compile, run once, compare with the oracle."""
        problem, backend = self._point.problem, self._device.backend
        self.steps.enter("prepare")
        inputs = make_inputs(problem, backend)
        start = time.perf_counter_ns()
        launch = prepare(self._spec, problem, inputs, backend)
        prepare_ms = (time.perf_counter_ns() - start) / 1e6
        try:
            return self._verified(launch, inputs, prepare_ms)
        finally:
            if isinstance(launch, LibraryLaunch):
                launch.release()

    def _verified(self, launch: Launch, inputs: Inputs, prepare_ms: float) -> FirstRun:
        for array in (launch.output, launch.lse):
            if array is not None:
                array.fill(math.nan)  # an output that is not written never passes
        first_run_ms = self._bench.time_ms(launch.run)
        correctness = None
        note = launch.note if isinstance(launch, LibraryLaunch) else ""
        if self._protocol.verify:
            self.steps.enter("verify")
            problem, rounding = self._point.problem, self._spec.rounding
            judged_by = self._criteria.of(problem, inputs, rounding and rounding(problem))
            verdict = judged_by.judge(launch.output, launch.lse)
            correctness = Correctness(
                max_abs_error=verdict.max_abs_error,
                bound=verdict.bound,
                lse_error=verdict.lse_error,
                lse_bound=verdict.lse_bound,
                rows=verdict.rows,
                passed=verdict.passed,
            )
            note = note or _on_rounded_inputs(verdict)
        return FirstRun(prepare_ms, first_run_ms, correctness, note)

    def _with_footprint(self, first: FirstRun) -> Measurement:
        self.steps.check()
        footprint = measure_footprint(self._spec, self._point.problem, self._device.backend, self._bench)
        return Measurement(
            samples=(),
            timer=self._bench.timer,
            cold=self._protocol.cold,
            prepare_ms=first.prepare_ms,
            first_run_ms=first.first_run_ms,
            footprint=footprint,
            correctness=first.correctness,
            note=first.note,
        )


def _on_rounded_inputs(found: Verdict) -> str:
    """Both errors of a kernel that rounds its inputs, told apart; empty for others."""
    if found.rounded_error is None or found.rounded_bound is None:
        return ""
    return (
        f"8-bit: O is off by {found.max_abs_error:.2g} from float64 attention on the inputs, and by "
        f"{found.rounded_error:.2g} ({found.rounded_bound:.2g} would pass) from that on the inputs in 8 bits."
    )


def _what_is_wrong(found: Correctness, note: str) -> str:
    """One sentence on an output that differs from the oracle; `note` has the error that `found` has not."""
    if math.isnan(found.max_abs_error) or (found.lse_error is not None and math.isnan(found.lse_error)):
        return "The output holds NaN where the float64 oracle does not."
    if found.max_abs_error > found.bound:
        return (
            f"O differs from the float64 oracle by {found.max_abs_error:.3g}; {found.bound:.3g} would pass."
        )
    if found.lse_error is None or found.lse_bound is None or found.lse_error <= found.lse_bound:
        return note
    return f"LSE differs from the float64 oracle by {found.lse_error:.3g}; {found.lse_bound:.3g} would pass."
