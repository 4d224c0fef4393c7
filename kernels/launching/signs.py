"""Inputs that are others in every run, and an answer brought back to the inputs as they were drawn.

A kernel that stores its answer, or what it made of its inputs, is not to be taken for one that computes. So
inputs change in place between runs, in signs alone: that is exact in every dtype, and it is known in which
signs the answer differs from that to the first inputs, so that one reference judges them all.

Forward, each column of V gets a sign, which the same column of O has then, and each head of K gets one
together with the heads of Q that meet it, which leaves the scores as they are. Where gradients are asked for
each head of dO gets one, together with those that share its K: gradients are linear in dO. Q, K and V stay
then, because a library's graph of a forward pass that ran once may hold what it made of them.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flashscope.kernels.launching.passes import Given, PassOutputs
from flashscope.kernels.workload.arrays import flip_signs
from flashscope.kernels.workload.problem import Problem

Flips = npt.NDArray[np.bool_]
MOST_BITS = 8  # after 255 turns signs repeat


class Signs(NamedTuple):
    """Where numbers have another sign than as they were drawn.

    Attributes:
        columns: By column of V, (value_dim,).
        heads: By head of K and V, (kv_heads,).
    """

    columns: Flips
    heads: Flips


class ChangingSigns:
    """What is given to the kernels of one problem, and the signs that it has at present."""

    def __init__(self, problem: Problem, given: Given) -> None:
        self._given = given
        self._group = problem.heads // problem.key_heads
        self._gradients = problem.runs_backward
        self._turn = 0
        self._signs = Signs(np.zeros(problem.value_dim, np.bool_), np.zeros(problem.key_heads, np.bool_))

    def change(self) -> None:
        """Give the inputs other signs, in place: never those that they were drawn with."""
        before = self._signs
        self._signs = Signs(*(_pattern(self._turn, one.size) for one in before))
        self._turn += 1
        columns, heads = (new ^ old for new, old in zip(self._signs, before, strict=True))
        if self._gradients:
            flip_signs(self._given.grad_output, self._of_queries(heads))
            return
        q, k, v = self._given.inputs.qkv
        flip_signs(q, self._of_queries(heads))
        flip_signs(k, _by_head(heads))
        flip_signs(v, columns)

    def brought_back(self, answer: PassOutputs) -> PassOutputs:
        """An answer to the inputs as they are, made in place into one to the inputs as they were drawn."""
        if not self._gradients:
            flip_signs(answer.output, self._signs.columns)
            return answer
        heads = self._signs.heads
        flip_signs(answer.gradients.dq, self._of_queries(heads))
        flip_signs(answer.gradients.dk, _by_head(heads))
        flip_signs(answer.gradients.dv, _by_head(heads))
        return answer

    def _of_queries(self, heads: Flips) -> Any:
        """As it goes for Q: by the heads that share one of K and V."""
        return _by_head(heads.repeat(self._group))


def _by_head(heads: Flips) -> Any:
    """As it broadcasts over (batch, heads, rows, columns)."""
    return heads[:, None, None]


def _pattern(turn: int, count: int) -> Flips:
    """Which of so many change their sign in a turn: some always, and others than in the turn before."""
    bits = min(count, MOST_BITS)
    code = turn % ((1 << bits) - 1) + 1
    flips: Flips = (code >> np.arange(count) % bits & 1).astype(np.bool_)
    return flips
