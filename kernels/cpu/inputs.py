"""Random inputs in host memory."""

import numpy as np

from kernels.errors import UnsupportedError
from kernels.launch import Inputs
from kernels.problem import Problem


def make_inputs(problem: Problem) -> Inputs:
    """Draw standard-normal Q, K and V (float32, in this order) from the problem's seed.

    Raises:
        UnsupportedError: The dtype is not float32.
    """
    if problem.dtype != "float32":
        raise UnsupportedError(f"The CPU backend computes in float32, not {problem.dtype}; choose float32.")
    draw = np.random.default_rng(problem.seed).standard_normal
    shapes = (problem.q_shape, problem.k_shape, problem.k_shape)
    return Inputs(*(draw(shape, dtype=np.float32) for shape in shapes))
