"""The values of the inputs from one run to the next, and what an answer to them is judged by.

Kernels of ours and of libraries get other signs in every turn (`kernels.launching.signs`): one oracle judges
them all. A group with a kernel of the user's own gets values that were never there before: what is made of
earlier inputs, in whatever way, helps nobody. All members of a round are timed on the same ones, but for
gradients: there others may hold what they made of Q, K and V, so that a kernel of the user's own has inputs
of its own, and all of them are new.
"""

import secrets
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Protocol

import numpy as np

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.passes import Given, PassOutputs
from flashscope.kernels.launching.signs import ChangingSigns
from flashscope.kernels.oracle.verdict import Verdict
from flashscope.kernels.workload.arrays import array_module
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.worker.judging import Criteria, Judge

CHUNK = 1 << 22  # numbers drawn at once on a GPU
MOST = 1000.0  # of a row that is to be felt, so that 16 bits hold it
FELT = 8  # one row of N is made N / 8 times as large


class InputValues(Protocol):
    """What is given to the members of a group, in arrays that stay where they are."""

    def before_warm(self, turn: int) -> None:
        """Other values for the run that warms the caches."""

    def before_timed(self, turn: int, *, cold: bool, own: bool) -> None:
        """Other values for the timed run.

        Args:
            turn: How many samples the kernel has.
            cold: Whether no run went before it in this turn.
            own: Whether the kernel is the user's own: nobody may have the answer yet.
        """

    def judge_of(self, spec: KernelSpec, criteria: Criteria) -> Judge:
        """Judges the answers of a kernel to the values at that time."""


class SignedValues:
    """As they were drawn, with other signs in every turn."""

    def __init__(self, problem: Problem, given: Given) -> None:
        self._problem, self._given = problem, given
        self._signs = ChangingSigns(problem, given)

    def before_warm(self, turn: int) -> None:
        """See `InputValues`."""
        del turn
        self._signs.change()

    def before_timed(self, turn: int, *, cold: bool, own: bool) -> None:
        """See `InputValues`: after a run that warmed the caches, the same again."""
        del turn, own
        if cold:
            self._signs.change()

    def judge_of(self, spec: KernelSpec, criteria: Criteria) -> Judge:
        """See `InputValues`; to be asked before any turn, while the values are as they were drawn."""
        judge = criteria.of_kernel(spec, self._problem, self._given).judge
        return lambda answer: judge(self._signs.brought_back(answer))


class FreshValues:
    """Drawn anew for every turn: Q, K and V, or dO alone where there are gradients.

    A library's graph of a forward pass that ran once may hold what it made of Q, K and V.

    Args:
        problem: The group's.
        given: What changes.
        renew: Of inputs that are a kernel of the user's own alone, called when Q, K, V and dO have all been
            drawn: O and LSE follow. None: the inputs are the whole group's.

    Attributes:
        drawn: Which draw the values are of.
    """

    def __init__(self, problem: Problem, given: Given, renew: Callable[[], None] | None = None) -> None:
        self.drawn = 0
        self._renew = renew
        self._turn: int | None = None  # whose timed runs have them
        self._judged = False
        self._problem, self._given = problem, given
        self._secret = secrets.randbits(64)
        self._criteria = Criteria()

    def before_warm(self, turn: int) -> None:
        """See `InputValues`."""
        del turn
        self._draw()
        self._turn = None

    def before_timed(self, turn: int, *, cold: bool, own: bool) -> None:
        """See `InputValues`: those of this turn are drawn once for all members where nothing runs between."""
        del cold
        if self._turn != turn or (own and self._judged):
            self._draw()
            self._turn, self._judged, self._criteria = turn, False, Criteria()

    def judge_of(self, spec: KernelSpec, criteria: Criteria) -> Judge:
        """See `InputValues`; members of one round share its oracle."""
        del criteria
        return partial(self._judge, spec)

    def _judge(self, spec: KernelSpec, answer: PassOutputs) -> Verdict:
        self._judged = True
        return self._criteria.of_kernel(spec, self._problem, self._given).judge(answer)

    def given_in(self, drawn: int) -> Given:
        """What was given in a draw, once more, in memory of its own."""
        copies = {name: array.copy() for name, array in self._changing()}
        redraw(copies.values(), self._rng(drawn))
        grad_output = copies.pop("grad_output", self._given.grad_output)
        return self._given._replace(inputs=self._given.inputs._replace(**copies), grad_output=grad_output)

    def _draw(self) -> None:
        self.drawn += 1
        redraw((array for _, array in self._changing()), self._rng(self.drawn))
        if self._renew is not None:
            self._renew()

    def _changing(self) -> Iterator[tuple[str, Any]]:
        """What changes, by the name of its field."""
        backward, inputs = self._problem.runs_backward, self._given.inputs
        if not backward or self._renew is not None:
            yield from zip("qkv", inputs.qkv, strict=True)
        if backward:
            yield "grad_output", self._given.grad_output

    def _rng(self, drawn: int) -> np.random.Generator:
        return np.random.default_rng([self._secret, drawn])


def values_of(problem: Problem, given: Given, *, own: bool) -> SignedValues | FreshValues:
    """What changes the inputs of a group.

    Args:
        problem: The group's.
        given: What its members share.
        own: Whether one of them is the user's own. Padding and pages keep their values and change signs.
    """
    return FreshValues(problem, given) if own and problem.even else SignedValues(problem, given)


def redraw(arrays: Any, rng: np.random.Generator) -> None:
    """Write standard-normal numbers over arrays, in place."""
    for array in arrays:
        flat = array.reshape(-1)  # a view: inputs have no gaps
        if array_module(array) is np and array.dtype == np.float32:
            rng.standard_normal(out=flat, dtype=np.float32)
            continue
        for start in range(0, flat.size, CHUNK):
            part = flat[start : start + CHUNK]
            part[...] = _drawn(array, rng, part.size).astype(array.dtype)


def redraw_row(given: Given, rng: np.random.Generator) -> None:
    """Write over one row of K and of V in every head, neither the first nor the last, so that O shows it."""
    keys, values = given.inputs.k, given.inputs.v
    rows = keys.shape[2]
    row = int(rng.integers(1, rows - 1)) if rows > FIRST_AND_LAST else 0
    for array, times in ((keys, 1.0), (values, min(MOST, max(1.0, rows / FELT)))):
        _write_row(array, row, rng, times)


FIRST_AND_LAST = 2


def redraw_row_of_gradients(given: Given, rng: np.random.Generator) -> None:
    """Write over one row of dO in every head, the last but one, which keeps keys under every band."""
    _write_row(given.grad_output, -FIRST_AND_LAST, rng)


def _write_row(array: Any, row: int, rng: np.random.Generator, times: float = 1.0) -> None:
    """Write so many times standard-normal numbers over one row of every head."""
    shape = (*array.shape[:2], array.shape[3])  # V may be wider than K, or narrower
    drawn = _drawn(array, rng, int(np.prod(shape))) * np.float32(times)
    array[:, :, row] = drawn.reshape(shape).astype(array.dtype)


def _drawn(array: Any, rng: np.random.Generator, count: int) -> Any:
    """So many standard-normal numbers, float32, in the memory that holds the array."""
    xp = array_module(array)
    if xp is np:
        return rng.standard_normal(count, dtype=np.float32)
    return xp.random.default_rng(int(rng.integers(1 << 62))).standard_normal(count, dtype="float32")
