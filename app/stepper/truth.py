"""Whether an answer is the truth: by the criterion of kernels, for a whole trace and on its way.

After a tile, a row's answer so far is O / l and m + ln l. It is judged as the answer to the problem of that
one row and the keys that it has met, by `kernels.oracle.verify` with its bounds for that dtype.
"""

from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flashscope.app.stepper.recording import RecordedFloats, Recording
from flashscope.kernels.oracle.row_bounds import norms_of
from flashscope.kernels.oracle.verdict import Deviation, Verdict
from flashscope.kernels.oracle.verify import Criterion, criterion
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs

MOST_ROWS = 512  # of a longer trace, so many rows are compared, as a kernel's are
RowAnswer = tuple[RecordedFloats, float]  # O (dv,) and LSE


class JudgedRow(NamedTuple):
    """A row's answer after one of its tiles.

    Attributes:
        error: |O - exact|, the L2 norm over the value dim; NaN or inf where it holds one.
        bound: The largest that passes.
        passed: Whether O and LSE lie within all their bounds.
    """

    error: float
    bound: float
    passed: bool


class Truth:
    """The exact answers to the inputs of a trace, and how far an answer may be off them.

    Args:
        right: A trace of these inputs without a fault; its scores tell which keys each row keeps.
    """

    def __init__(self, right: Recording) -> None:
        self._right = right
        self._q, self._k, self._v = (array.numpy() for array in (right.trace.q, right.trace.k, right.trace.v))
        self._of_rows = lru_cache(maxsize=4096)(self._of_row)
        self._met = lru_cache(maxsize=512)(self._met_by)

    @np.errstate(all="ignore")  # what is not finite is judged as such
    def verdict(self, other: Recording) -> Verdict:
        """The project's own check of what a trace of the same inputs returned."""
        output, lse = (array.numpy()[None, None] for array in (other.trace.output, other.trace.lse))
        return self._criterion.judge(output, lse)

    @np.errstate(all="ignore")
    def refused(self, other: Recording) -> NDArray[np.int64]:
        """The rows of a trace's answer, among those compared, that are beyond a bound of their own."""
        given, rows = self._criterion.given, self._criterion.rows
        bounds = given.by_row
        if bounds is None:
            return np.empty(0, np.int64)
        exact = given.exact
        errors = norms_of(other.trace.output.numpy()[rows] - exact.output[0, 0])
        lse, exact_lse = other.trace.lse.numpy()[rows], exact.lse[0, 0]
        off = abs(np.where(lse == exact_lse, 0, lse) - np.where(lse == exact_lse, 0, exact_lse))
        passed = (errors <= bounds.output[0, 0]) & (off <= bounds.lse[0, 0])
        return np.asarray(np.asarray(rows)[~passed], np.int64)

    def kept(self, row: int, tiles: int) -> NDArray[np.int64]:
        """The keys that a row keeps in the first of its tiles, in the order they are met."""
        return np.asarray(np.concatenate([np.empty(0, np.int64), *self._met(row)[:tiles]]), np.int64)

    def _met_by(self, row: int) -> list[NDArray[np.int64]]:
        """The keys that a row keeps in each of its tiles."""
        right = self._right
        i, local = divmod(row, right.block_q)
        ran = np.flatnonzero(right.tile[:, 0] == i).tolist()
        return [right.at(t)[1] * right.block_k + _seen(right, t, local) for t in ran]

    @np.errstate(all="ignore")
    def judge(self, row: int, tiles: int, answer: RowAnswer) -> JudgedRow:
        """Judge a row's answer after the first of its tiles."""
        output, lse = answer
        one = self._of_rows(row, tiles)
        if one is None:
            error = float(norms_of(output))
            return JudgedRow(error, 0.0, error == 0 and bool(np.isneginf(lse)))
        found = np.asarray(output, np.float32)[None, None, None], np.full((1, 1, 1), lse, np.float32)
        verdict = one.judge(*found)
        exact = one.given.exact.output[0, 0, 0]
        bound = one.given.by_row.output[0, 0, 0] if one.given.by_row is not None else one.given.bound
        return JudgedRow(float(norms_of(output - exact)), float(bound), verdict.passed)

    def _of_row(self, row: int, tiles: int) -> Criterion | None:
        """The criterion of a row after the first of its tiles; None while it keeps no key."""
        keys = self.kept(row, tiles)
        if not len(keys):
            return None
        asked = self._right.trace.request.shown
        problem = Problem(
            seqlen_q=1,
            seqlen_k=len(keys),
            head_dim=asked.head_dim,
            dtype=asked.dtype,
            scale=asked.softmax_scale,
        )
        inputs = Inputs(
            self._q[None, None, row : row + 1], self._k[keys][None, None], self._v[keys][None, None]
        )
        return _criterion(problem, inputs)

    @cached_property
    def _criterion(self) -> Criterion:
        inputs = Inputs(*(array[None, None] for array in (self._q, self._k, self._v)))
        return _criterion(self._right.trace.request.shown, inputs)


def answer(recording: Recording, t: int, row: int) -> RowAnswer:
    """What a row's answer would be if tile t of the recording were its last."""
    local = row % recording.block_q
    m, l, o = recording.m[t, local], recording.l[t, local], recording.o[t, local].astype(np.float64)
    with np.errstate(all="ignore"):
        output = o if recording.normalised or not l else o / l
        return output, float(m + np.log(l)) if l else -np.inf


def told(verdict: Verdict) -> Deviation:
    """The error of a verdict that uses most of its bound."""
    return max(verdict.outputs, key=lambda one: one.used)


def _criterion(problem: Problem, inputs: Inputs) -> Criterion:
    judging = criterion(problem, inputs, max_rows=MOST_ROWS)
    if not isinstance(judging, Criterion):
        raise TypeError("a trace is of one sequence")
    return judging


def _seen(right: Recording, t: int, local: int) -> NDArray[np.int64]:
    """The places of the keys of a tile that a row keeps."""
    return np.flatnonzero(~np.isneginf(right.scores(t)[local]))
