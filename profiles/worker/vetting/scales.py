"""A kernel of the user's own on values of other sizes than the usual ones, in the same arrays.

Large: each row of Q points at one key that it keeps, so that this key's score is about 10,000 and every other
lies thousands below. O is then that key's V, however scores are rounded on the way; without the row's maximum
every exponential overflows. In float16 scores stay below what holds them before they are scaled, too. Graded:
that score is 2 to 14, another for each row, and all others are near 0, so that each key weighs little and all
of them together may not be left out. Small: all scores are nearly 0, O is nearly the mean of V, and V itself
is small.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from flashscope.kernels.launching.passes import Given
from flashscope.kernels.workload.arrays import array_module
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.worker.vetting.values import redraw

LARGE_SCORE = 1e4
LARGEST_PRODUCT = 2e4  # of q and k before the scale, in float16
LARGE_V, SMALL = 64.0, 1 / 64
GRADED_SCORES = 2.0, 14.0
ROWS = 16  # of each head that are compared


def draw_large(problem: Problem, given: Given, rng: np.random.Generator) -> None:
    """Write values over the inputs whose largest scores are about 10,000, and a large V."""
    q, k, v = given.inputs.qkv
    redraw((q, k, v), rng)
    _multiply(v, LARGE_V)
    product = LARGE_SCORE / abs(problem.softmax_scale)
    if problem.dtype == "float16":
        product = min(product, LARGEST_PRODUCT)
    _point_at_keys(problem, given, rng, np.full(problem.seqlen_q, product))


def draw_graded(problem: Problem, given: Given, rng: np.random.Generator) -> None:
    """Write values over the inputs whose rows have one score of 2 to 14, and others near 0."""
    redraw(given.inputs.qkv, rng)
    scores = rng.uniform(*GRADED_SCORES, problem.seqlen_q)
    _point_at_keys(problem, given, rng, scores / abs(problem.softmax_scale))


def draw_small(problem: Problem, given: Given, rng: np.random.Generator) -> None:
    """Write values over the inputs that are 1/64 of the usual ones."""
    del problem
    redraw(given.inputs.qkv, rng)
    for array in given.inputs.qkv:
        _multiply(array, SMALL)


SCALES: Mapping[str, Callable[[Problem, Given, np.random.Generator], None]] = {
    "scores of about 10,000": draw_large,
    "one key up to 14 above all others": draw_graded,
    "values of a 64th of the usual size": draw_small,
}
"""What draws the inputs of each scale, by what they have."""


def _point_at_keys(
    problem: Problem, given: Given, rng: np.random.Generator, products: npt.NDArray[np.float64]
) -> None:
    """Make each row of Q a multiple of a key that it keeps.

    Args:
        problem: What is computed.
        given: The inputs, of which K is drawn already.
        rng: Draws the keys.
        products: Of each row with its key (rows,), before the scale, whose sign they get; of a key whose
            numbers' squares are 1 on average.
    """
    q, k, _ = given.inputs.qkv
    xp, group = array_module(q), problem.heads // problem.key_heads
    factors = xp.asarray(np.copysign(products / problem.head_dim, problem.softmax_scale), "float32")
    chosen = xp.asarray(_kept_keys(problem, rng))
    for head in range(problem.heads):
        keys = k[:, head // group].astype("float32")
        q[:, head] = (keys[:, chosen] * factors[:, None]).astype(q.dtype)


def _multiply(array: Any, factor: float) -> None:
    """In place; CuPy multiplies no bfloat16."""
    array[...] = (array.astype("float32") * np.float32(factor)).astype(array.dtype)


def _kept_keys(problem: Problem, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """A key of each query row, drawn from those inside its band; any for a row that keeps none."""
    mask, rows = problem.mask, np.arange(problem.seqlen_q)
    first = np.clip(rows + mask.lowest, 0, problem.seqlen_k - 1)
    last = np.clip(rows + mask.highest, first, problem.seqlen_k - 1)
    return rng.integers(first, last + 1)
