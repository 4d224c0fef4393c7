"""Is what a kernel wrote right? Asked of its first run and of the last that was timed."""

import math
from collections.abc import Callable
from typing import Any

from kernels.fp8 import Rounding
from kernels.launch import Inputs, Launch
from kernels.problem import Problem
from kernels.spec import KernelSpec
from kernels.verify import Criterion, Verdict, criterion
from profiles.wire.measurement import Correctness, OutputError

Judge = Callable[[Any, Any], Verdict]


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

    def of_kernel(self, spec: KernelSpec, problem: Problem, inputs: Inputs) -> Criterion:
        """The criterion of a kernel's answers to a problem."""
        return self.of(problem, inputs, spec.rounding and spec.rounding(problem))


def spoil(launch: Launch) -> None:
    """Fill O and LSE with NaN: what a run does not write never passes."""
    for array in (launch.output, launch.lse):
        if array is not None:
            array.fill(math.nan)


def correctness_of(verdict: Verdict) -> Correctness:
    """A verdict as it crosses to the engine."""
    outputs = tuple(
        OutputError(output=one.output, error=one.error, bound=one.bound, place=one.place)
        for one in verdict.outputs
    )
    return Correctness(outputs=outputs, rows=verdict.rows, passed=verdict.passed)


def what_is_wrong(correctness: Correctness) -> str:
    """One sentence on an answer that differs from the oracle: the first of its outputs that does."""
    if any(math.isnan(one.error) for one in correctness.outputs):
        return "The output holds NaN where the float64 oracle does not."
    wrong = next(one for one in correctness.outputs if not one.passed)
    where = ""
    if wrong.place is not None:
        sequence, head, row = wrong.place
        where = f" (sequence {sequence}, head {head}, query row {row})"
    return (
        f"{wrong.output}{where} differs from the float64 oracle by {wrong.error:.3g}; "
        f"{wrong.bound:.3g} would pass."
    )
