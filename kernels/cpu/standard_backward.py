"""standard, backward: the chain rule, one matrix after another.

Idea: P is there, kept since the forward pass; dS is made of it, and three products follow. Of softcapped
scores their slopes are kept, too.
Predecessor: none; this is what recomputation replaces.
Limit: P is kept from the forward pass of every layer until its backward pass, Nq x Nk for every head, and
dS is as large. Only one of the two could be spared: dS = P (dP - delta) takes the place of dP, not of P.
"""

import numpy as np

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cpu.backward import CpuBackward, bind
from flashscope.kernels.cpu.backward_tiles import add_product, row_deltas, score_gradients, weights
from flashscope.kernels.cpu.launch import Floats
from flashscope.kernels.launching.launch import BackwardLaunch
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Saved


def prepare(spec: KernelSpec, problem: Problem, saved: Saved) -> BackwardLaunch:
    """Allocate the gradients, P, dS and delta, and fill P, which a forward pass would have left."""
    launch = bind(spec, problem, saved, _head)
    for head in launch.heads():
        p, row = (launch.workspace[name][head] for name in ("P", "delta"))
        weights((p, row, _slope(launch, head)), launch.head(head), problem, _whole(problem))
    return launch


def _whole(problem: Problem) -> tuple[slice, slice]:
    return slice(0, problem.seqlen_q), slice(0, problem.seqlen_k)


def _slope(launch: CpuBackward, head: tuple[int, ...]) -> Floats | None:
    """That of a head's softcapped scores; None without a softcap."""
    slope = launch.workspace.get("slope")
    return None if slope is None else slope[head]


def _head(launch: CpuBackward, head: tuple[int, ...]) -> None:
    one, area = launch.head(head), _whole(launch.problem)
    p, ds, delta = (launch.workspace[name][head] for name in ("P", "dS", "delta"))
    product = launch.workspace["product"]
    row_deltas(one, area[0], delta)
    score_gradients((ds, p, _slope(launch, head)), one, delta, area)
    add_product(one.dv, p.T, one.grad_output, product)
    add_product(one.dk, ds.T, one.q, product)
    np.matmul(ds, one.k, out=one.dq)
