"""A kernel that the program does not have: what `kernels/cpu/lazy.py` would hold, and the entry of it.

The softmax of a block of rows, divided by l once, behind the product with V.
"""

import numpy as np

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cpu.launch import CpuLaunch, bind
from flashscope.kernels.cpu.tiles import blocks, scores
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs

ENTRY = """
LAZY = KernelSpec(
    name="lazy",
    family="tiled",
    idea="whole rows of scores, divided by l once behind the product with V",
    dtypes={"cpu": ("float32",)},
    workspace=workspace.fused,
    implementation={"cpu": "flashscope.kernels.cpu.lazy"},
    features={"cpu": EVERY_FEATURE},
)
LADDER = (*LADDER, LAZY)
"""


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Allocate O, LSE and one block's rows of scores, and bind them."""
    return bind(spec, problem, inputs, _lazy)


def _lazy(launch: CpuLaunch) -> None:
    problem, s = launch.problem, launch.workspace["S rows"]
    for head in np.ndindex(problem.batch, problem.heads):
        q, k, v = launch.head(head)
        for rows in blocks(problem.seqlen_q, len(s)):
            p, l = (launch.workspace[name][: rows.stop - rows.start] for name in ("S rows", "l"))
            m, o = launch.lse[head][rows], launch.output[head][rows]
            scores(q[rows], k, p, problem, (rows, slice(0, problem.seqlen_k)))
            np.max(p, axis=1, out=m)
            empty = np.isneginf(m)  # rows that keep no key
            m[empty] = 0
            np.exp(np.subtract(p, m[:, None], out=p), out=p)
            np.sum(p, axis=1, out=l)
            l[empty] = 1
            np.matmul(p, v, out=o)
            o /= l[:, None]
            m += np.log(l, out=l)
            m[empty] = -np.inf
