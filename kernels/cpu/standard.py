"""standard: the definition, one matrix after another.

Idea: three steps, S = scale Q K^T, P = softmax(S), O = P V, each reading and writing whole matrices.
Predecessor: none; this is what the tiled kernels are compared with.
Limit: S and P are Nq x Nk for every head. Memory grows with the square of the sequence length, and every
element makes several trips through it.
"""

import numpy as np

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cpu.launch import CpuLaunch, Floats, bind
from flashscope.kernels.cpu.tiles import scores, weighted
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Allocate O, LSE, S, P and l, and bind them."""
    return bind(spec, problem, inputs, _standard)


def _standard(launch: CpuLaunch) -> None:
    problem = launch.problem
    s, p, l = (launch.workspace[name] for name in ("S", "P", "l"))
    everything = (slice(0, problem.seqlen_q), slice(0, problem.seqlen_k))
    for head in np.ndindex(problem.batch, problem.heads):
        q, k, _ = launch.head(head)
        scores(q, k, s[head], problem, everything, bias=problem.bias(head[1]))
    for head in np.ndindex(problem.batch, problem.heads):
        softmax(s[head], p[head], (l[head], launch.lse[head]), launch.sink(head))
    for head in np.ndindex(problem.batch, problem.heads):
        weighted(p[head], launch.head(head)[2], launch.output[head], problem.mask, everything)


def softmax(s: Floats, p: Floats, sums: tuple[Floats, Floats], sink: np.float32) -> None:
    """P = exp(S - m) / l and LSE = m + ln l of some rows; P may be S.

    `sums` are l and LSE, which holds m on the way; the sink of the head is a score more, -inf without one.
    """
    l, lse = sums
    np.max(s, axis=1, out=lse)
    np.maximum(lse, sink, out=lse)
    empty = np.isneginf(lse)  # rows that keep no key and have no sink
    lse[empty] = 0  # exp(-inf - 0) = 0 where -inf - -inf would be NaN
    np.subtract(s, lse[:, None], out=p)
    np.exp(p, out=p)
    np.sum(p, axis=1, out=l)
    if not np.isneginf(sink):
        l += np.exp(sink - lse)
    l[empty] = 1
    p /= l[:, None]
    lse += np.log(l, out=l)
    lse[empty] = -np.inf
