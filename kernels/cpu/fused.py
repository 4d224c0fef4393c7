"""fused: standard's three steps for a few rows at a time, with all of their scores: fusing without tiling.

Idea: the softmax of a row needs the row, not the matrix. The scores of one block of query rows are computed,
normalised and multiplied with V before the next block begins, so S and P are never held whole.
Predecessor: standard holds S and P of every head.
Limit: a buffer as long as a row. On a GPU that is shared memory, and ends where a row no longer fits; here it
is a cache, which only gets slower. The tiled kernels need no row at all.
"""

import numpy as np

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cpu.launch import CpuLaunch, bind
from flashscope.kernels.cpu.standard import softmax
from flashscope.kernels.cpu.tiles import blocks, scores, weighted
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Allocate O, LSE and one block's rows of scores, and bind them."""
    return bind(spec, problem, inputs, _fused)


def _fused(launch: CpuLaunch) -> None:
    problem, s = launch.problem, launch.workspace["S rows"]
    for head in np.ndindex(problem.batch, problem.heads):
        q, k, v = launch.head(head)
        for rows in blocks(problem.seqlen_q, len(s)):
            part, l = (launch.workspace[name][: rows.stop - rows.start] for name in ("S rows", "l"))
            area = rows, slice(0, problem.seqlen_k)
            scores(q[rows], k, part, problem, area, bias=problem.bias(head[1]))
            softmax(part, part, (l, launch.lse[head][rows]), launch.sink(head))
            weighted(part, v, launch.output[head][rows], problem.mask, area)
