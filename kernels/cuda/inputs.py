"""Random inputs in GPU memory."""

from collections.abc import Sequence
from typing import Any

import cupy

from kernels.launch import Inputs
from kernels.problem import Problem
from kernels.verify import storage_dtype


def make_inputs(problem: Problem) -> Inputs:
    """Draw standard-normal Q, K, V (in this order) from the problem's seed, rounded to its dtype."""
    return Inputs(*_drawn(problem, problem.seed, (problem.q_shape, problem.k_shape, problem.k_shape)))


def make_grad_output(problem: Problem) -> Any:
    """Draw a standard-normal dO from the seed behind the problem's, rounded to its dtype."""
    (grad_output,) = _drawn(problem, problem.seed + 1, (problem.q_shape,))
    return grad_output


def _drawn(problem: Problem, seed: int, shapes: Sequence[tuple[int, ...]]) -> list[Any]:
    draw = cupy.random.default_rng(seed).standard_normal
    dtype = storage_dtype(problem.dtype)
    return [draw(shape, dtype=cupy.float32).astype(dtype, copy=False) for shape in shapes]
