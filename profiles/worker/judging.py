"""Is what a kernel wrote right? Asked of its first run and of the last that was timed."""

import math
from collections.abc import Callable
from typing import NamedTuple

from flashscope.kernels.catalogue.fp8 import Rounding
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.passes import Given, PassOutputs
from flashscope.kernels.oracle.verdict import Judging, Verdict
from flashscope.kernels.oracle.verify import criterion
from flashscope.kernels.oracle.verify_gradients import GradientCriterion, gradient_criterion
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs
from flashscope.profiles.wire.measurement import Correctness, OutputError

Judge = Callable[[PassOutputs], Verdict]


class PassCriterion(NamedTuple):
    """What the passes of a problem are judged by; None where there is no such pass."""

    forward: Judging | None
    backward: GradientCriterion | None

    def judge(self, answer: PassOutputs) -> Verdict:
        """Compare all that was written with the oracle: O and LSE, then the gradients."""
        verdicts = []
        if self.forward is not None:
            verdicts.append(self.forward.judge(answer.output, answer.lse))
        if self.backward is not None:
            verdicts.append(self.backward.judge(answer.gradients))
        outputs = tuple(one for verdict in verdicts for one in verdict.outputs)
        return Verdict(outputs, min(verdict.rows for verdict in verdicts))


class Criteria:
    """What the last problem's outputs are judged by: its kernels share the oracle, most of a check's time."""

    def __init__(self) -> None:
        self._problem: Problem | None = None
        self._known: dict[Rounding | None, Judging] = {}
        self._of_gradients: GradientCriterion | None = None

    def of(self, problem: Problem, inputs: Inputs, rounding: Rounding | None) -> Judging:
        """The criterion of a problem, whose inputs follow from it; in host memory."""
        self._turn_to(problem)
        if rounding not in self._known:
            self._known[rounding] = criterion(problem, inputs, rounding=rounding)
        return self._known[rounding]

    def of_gradients(self, problem: Problem, given: Given) -> GradientCriterion:
        """The criterion of a problem's gradients, from what was drawn for it; in host memory."""
        self._turn_to(problem)
        if self._of_gradients is None:
            self._of_gradients = gradient_criterion(problem, given.inputs, given.grad_output)
        return self._of_gradients

    def of_kernel(self, spec: KernelSpec, problem: Problem, given: Given) -> PassCriterion:
        """The criterion of a kernel's answers to a problem."""
        rounding = spec.rounding and spec.rounding(problem)
        return PassCriterion(
            self.of(problem, given.inputs, rounding) if problem.runs_forward else None,
            self.of_gradients(problem, given) if problem.runs_backward else None,
        )

    def _turn_to(self, problem: Problem) -> None:
        if problem != self._problem:
            self._problem, self._known, self._of_gradients = problem, {}, None


def correctness_of(verdict: Verdict) -> Correctness:
    """A verdict as it crosses to the engine."""
    outputs = tuple(
        OutputError(output=one.output, error=one.error, bound=one.bound, place=one.place)
        for one in verdict.outputs
    )
    return Correctness(outputs=outputs, rows=verdict.rows, passed=verdict.passed)


def what_is_wrong(correctness: Correctness) -> str:
    """One sentence on an answer that differs from the oracle: the first of its outputs that does."""
    for one in correctness.outputs:
        if math.isnan(one.error):
            return f"{one.output} holds NaN where the float64 oracle does not."
    wrong = next(one for one in correctness.outputs if not one.passed)
    where = f" ({wrong.where})" if wrong.where else ""
    return (
        f"{wrong.output}{where} differs from the float64 oracle by {wrong.error:.3g}; "
        f"{wrong.bound:.3g} would pass."
    )
