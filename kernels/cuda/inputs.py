"""Random inputs in GPU memory."""

import cupy

from kernels.launch import Inputs
from kernels.problem import Problem
from kernels.verify import storage_dtype


def make_inputs(problem: Problem) -> Inputs:
    """Draw standard-normal Q, K and V (in this order) from the problem's seed, rounded to its dtype."""
    draw = cupy.random.default_rng(problem.seed).standard_normal
    dtype = storage_dtype(problem.dtype)
    shapes = (problem.q_shape, problem.k_shape, problem.k_shape)
    return Inputs(*(draw(shape, dtype=cupy.float32).astype(dtype, copy=False) for shape in shapes))
