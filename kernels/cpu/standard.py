"""standard: the definition, one matrix after another.

Idea: three steps, S = scale Q K^T, P = softmax(S), O = P V, each reading and writing whole matrices.
Predecessor: none; this is what the tiled kernels are compared with.
Limit: S and P are Nq x Nk for every head. Memory grows with the square of the sequence length, and every
element makes several trips through it.
"""

import numpy as np

from kernels.cpu.launch import CpuLaunch, bind
from kernels.cpu.tiles import mask_causal
from kernels.launch import Inputs, Launch
from kernels.problem import Problem
from kernels.spec import KernelSpec


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Allocate O, LSE, S, P and l, and bind them."""
    return bind(spec, problem, inputs, _standard)


def _standard(launch: CpuLaunch) -> None:
    _scores(launch)
    _softmax(launch)
    np.matmul(launch.workspace["P"], launch.inputs.v, out=launch.output)


def _scores(launch: CpuLaunch) -> None:
    """S = scale Q K^T, masked."""
    problem, s = launch.problem, launch.workspace["S"]
    np.matmul(launch.inputs.q, launch.inputs.k.swapaxes(-1, -2), out=s)
    s *= np.float32(problem.softmax_scale)
    mask_causal(s, problem, (slice(0, problem.seqlen_q), slice(0, problem.seqlen_k)))


def _softmax(launch: CpuLaunch) -> None:
    """P = exp(S - m) / l and LSE = m + ln l; `lse` holds m on the way."""
    problem, lse = launch.problem, launch.lse
    s, p, l = (launch.workspace[name] for name in ("S", "P", "l"))
    empty = max(0, problem.seqlen_q - problem.seqlen_k) if problem.causal else 0  # leading rows without keys
    np.max(s, axis=-1, out=lse)
    lse[..., :empty] = 0  # exp(-inf - 0) = 0 where -inf - -inf would be NaN
    np.subtract(s, lse[..., None], out=p)
    np.exp(p, out=p)
    np.sum(p, axis=-1, out=l)
    l[..., :empty] = 1
    p /= l[..., None]
    lse += np.log(l, out=l)
    lse[..., :empty] = -np.inf
