"""Random inputs in host memory."""

from typing import Any

import numpy as np

from flashscope.kernels.cpu.launch import Floats
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.layout import draw_sinks, lay_keys, lay_queries, page_table
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs


def make_inputs(problem: Problem) -> Inputs:
    """Draw standard-normal Q, K and V (float32, in this order) from the problem's seed, and lay them out.

    Sequences have the rows and keys that they would have in an even batch; see `kernels.workload.layout`.

    Raises:
        UnsupportedError: The dtype is not float32.
    """
    draw = _drawer(problem, problem.seed)
    q = lay_queries(problem, draw(problem.q_shape, dtype=np.float32))
    k, v = (lay_keys(problem, draw(shape, dtype=np.float32)) for shape in (problem.k_shape, problem.v_shape))
    return Inputs(q, k, v, page_table(problem), draw_sinks(problem))


def make_grad_output(problem: Problem) -> Floats:
    """Draw a standard-normal dO (float32) from the seed behind the problem's.

    Raises:
        UnsupportedError: The dtype is not float32.
    """
    drawn: Floats = _drawer(problem, problem.seed + 1)(problem.o_shape, dtype=np.float32)
    return drawn


def _drawer(problem: Problem, seed: int) -> Any:
    if problem.dtype != "float32":
        raise UnsupportedError(f"The CPU backend computes in float32, not {problem.dtype}; choose float32.")
    return np.random.default_rng(seed).standard_normal
