"""Random inputs in GPU memory."""

from typing import Any

import cupy

from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.layout import draw_sinks, lay_keys, lay_queries, page_table
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs


def make_inputs(problem: Problem) -> Inputs:
    """Draw standard-normal Q, K, V (in this order) from the problem's seed, rounded to its dtype.

    Sequences have the rows and keys that they would have in an even batch; see `kernels.workload.layout`.
    """
    draw = cupy.random.default_rng(problem.seed).standard_normal
    q = _rounded(problem, lay_queries(problem, draw(problem.q_shape, dtype=cupy.float32)))
    shapes = problem.k_shape, problem.v_shape
    k, v = (_rounded(problem, lay_keys(problem, draw(shape, dtype=cupy.float32))) for shape in shapes)
    tables = page_table(problem), draw_sinks(problem)
    return Inputs(q, k, v, *(None if table is None else cupy.asarray(table) for table in tables))


def make_grad_output(problem: Problem) -> Any:
    """Draw a standard-normal dO from the seed behind the problem's, rounded to its dtype."""
    draw = cupy.random.default_rng(problem.seed + 1).standard_normal
    return _rounded(problem, draw(problem.o_shape, dtype=cupy.float32))


def _rounded(problem: Problem, array: Any) -> Any:
    return array.astype(storage_dtype(problem.dtype), copy=False)
