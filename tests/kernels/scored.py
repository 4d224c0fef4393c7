"""Problems whose scores are more than scaled and masked, and attention over them by brute force."""

import math
from typing import Any

import msgspec
import numpy as np
from hypothesis import strategies as st

from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs
from tests.kernels.masked import kept


@st.composite
def scored(draw: st.DrawFn, problems: st.SearchStrategy[Problem]) -> Problem:
    """These problems with softcaps that bind seldom or often, sinks, a bias, a V of any width, or several."""
    softcap = draw(st.none() | st.sampled_from((0.25, 1.0, 5.0, 50.0)))
    more = {name: draw(st.booleans()) for name in ("sinks", "alibi")}
    width = draw(st.none() | st.sampled_from((1, 8, 33, 72)))
    return msgspec.structs.replace(draw(problems), softcap=softcap, head_dim_v=width, **more)


def slope_of(head: int, heads: int) -> float:
    """ALiBi's, as the paper tells it: heads of a power of two, then every other one of twice as many."""
    power = 2 ** int(math.log2(heads))
    if head < power:
        return float(2.0 ** (-8 * (head + 1) / power))
    return float(2.0 ** (-4 * (2 * (head - power) + 1) / power))


def brute_force(problem: Problem, inputs: Inputs) -> tuple[Any, Any]:
    """O and LSE in float64, head by head and row by row, in the words of the definition."""
    q, k, v = (array.astype(np.float64) for array in inputs.qkv)
    output, lse, mask = np.zeros(problem.o_shape), np.full(problem.q_shape[:3], -math.inf), kept(problem)
    group, shift = problem.heads // problem.key_heads, problem.seqlen_k - problem.seqlen_q
    for b, h, row in np.ndindex(problem.q_shape[:3]):
        keys = mask[row]
        s = problem.softmax_scale * (k[b, h // group] @ q[b, h, row])
        if problem.softcap is not None:
            s = problem.softcap * np.tanh(s / problem.softcap)
        if problem.alibi:
            s = s + slope_of(h, problem.heads) * (np.arange(problem.seqlen_k) - row - shift)
        # A sink is one key more, whose value is 0.
        s, values = s[keys], v[b, h // group][keys]
        if inputs.sinks is not None:
            s, values = np.append(s, inputs.sinks[h]), np.vstack([values, np.zeros(v.shape[-1])])
        if s.size:
            m = s.max()
            weights = np.exp(s - m)
            output[b, h, row] = weights @ values / weights.sum()
            lse[b, h, row] = m + math.log(weights.sum())
    return output, lse
