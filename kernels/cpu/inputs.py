"""Random inputs in host memory."""

from collections.abc import Sequence

import numpy as np

from kernels.cpu.launch import Floats
from kernels.errors import UnsupportedError
from kernels.launch import Inputs
from kernels.problem import Problem


def make_inputs(problem: Problem) -> Inputs:
    """Draw standard-normal Q, K and V (float32, in this order) from the problem's seed.

    Raises:
        UnsupportedError: The dtype is not float32.
    """
    return Inputs(*_drawn(problem, problem.seed, (problem.q_shape, problem.k_shape, problem.k_shape)))


def make_grad_output(problem: Problem) -> Floats:
    """Draw a standard-normal dO (float32) from the seed behind the problem's.

    Raises:
        UnsupportedError: The dtype is not float32.
    """
    (grad_output,) = _drawn(problem, problem.seed + 1, (problem.q_shape,))
    return grad_output


def _drawn(problem: Problem, seed: int, shapes: Sequence[tuple[int, ...]]) -> list[Floats]:
    if problem.dtype != "float32":
        raise UnsupportedError(f"The CPU backend computes in float32, not {problem.dtype}; choose float32.")
    draw = np.random.default_rng(seed).standard_normal
    return [draw(shape, dtype=np.float32) for shape in shapes]
