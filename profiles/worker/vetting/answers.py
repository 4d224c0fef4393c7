"""Answers taken at once, and what is wrong with one to inputs that nobody knew before."""

from typing import Any

import numpy as np

from flashscope.kernels.launching.passes import Given, PassOutputs
from flashscope.kernels.oracle.verify import criterion
from flashscope.kernels.oracle.verify_gradients import gradient_criterion
from flashscope.kernels.workload.arrays import backend_of
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Gradients
from flashscope.profiles.worker.failures import CaughtError, Refusal
from flashscope.profiles.worker.judging import PassCriterion, correctness_of, what_is_wrong

ROWS = 64  # of each head, drawn at random
LATE = "Its answer changed after it had returned: it works on after its return."


def caught(reason: str) -> CaughtError:
    """It did something else than compute."""
    return CaughtError(Refusal("failed", reason))


def found_wrong(reason: str) -> CaughtError:
    """Its answer is wrong."""
    return CaughtError(Refusal("wrong", reason))


def taken(answer: PassOutputs) -> PassOutputs:
    """A copy in host memory of what stands there now."""
    gradients = Gradients(*map(on_host, answer.gradients))
    return PassOutputs(on_host(answer.output), on_host(answer.lse), gradients)


def copied(answer: PassOutputs) -> PassOutputs:
    """A copy of what stands there now, where it is; on a GPU enqueued on the current stream."""
    output, lse, gradients = answer
    return PassOutputs(_copy(output), _copy(lse), Gradients(*map(_copy, gradients)))


def _copy(array: Any) -> Any:
    return None if array is None else array.copy()


def differ(one: PassOutputs, other: PassOutputs) -> bool:
    """Whether two answers, where they are, have other bits anywhere."""
    return any(
        (bits(before) != bits(after)).any() for before, after in zip(one.arrays, other.arrays, strict=True)
    )


def bits(array: Any) -> Any:
    """The numbers of an array without gaps as unsigned integers of their width, in its own memory."""
    return array.view(f"uint{8 * array.itemsize}")


def on_host(array: Any) -> Any:
    """A copy of an array in host memory, of its own dtype; None for None."""
    if array is None:
        return None
    return array.copy() if backend_of(array) == "cpu" else array.get()


def what_is_wrong_in_rows(
    problem: Problem, given: Given, answer: PassOutputs, rng: np.random.Generator, most: int = ROWS
) -> str:
    """One sentence on O and LSE in rows drawn at random, and on NaN in any row; empty where all is right.

    Args:
        problem: What was computed; forward, of sequences of one length.
        given: What from.
        answer: The answer, in host memory.
        rng: What draws the rows.
        most: Rows of each head.
    """
    if told := _not_finite(answer):
        return told
    count = problem.seqlen_q
    rows = np.sort(rng.choice(count, min(count, most), replace=False))
    judging = criterion(problem, given.inputs, rows=[int(row) for row in rows])
    correctness = correctness_of(judging.judge(answer.output, answer.lse))
    return "" if correctness.passed else what_is_wrong(correctness)


def what_is_wrong_in_gradients(problem: Problem, given: Given, answer: PassOutputs) -> str:
    """One sentence on dQ, dK and dV, and on O and LSE where they were computed; empty where all is right."""
    judging = PassCriterion(
        criterion(problem, given.inputs) if problem.runs_forward else None,
        gradient_criterion(problem, given.inputs, given.grad_output),
    )
    correctness = correctness_of(judging.judge(answer))
    return "" if correctness.passed else what_is_wrong(correctness)


def _not_finite(answer: PassOutputs) -> str:
    wrong = {"O": ~np.isfinite(answer.output).all(axis=-1)}
    if answer.lse is not None:
        wrong["LSE"] = np.isnan(answer.lse) | (answer.lse == np.inf)
    for name, rows in wrong.items():
        if rows.any():
            sequence, head, row = (int(axis[0]) for axis in np.nonzero(rows))
            where = f"the first is row {row} of head {head} of sequence {sequence}"
            return f"{name} holds NaN or inf in {int(rows.sum())} of {rows.size} rows; {where}."
    return ""
