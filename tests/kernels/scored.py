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
    """These problems with softcaps that bind hardly or at almost every score, with sinks, or with several."""
    softcap, sinks = draw(st.none() | st.sampled_from((0.25, 1.0, 5.0, 50.0))), draw(st.booleans())
    return msgspec.structs.replace(draw(problems), softcap=softcap, sinks=sinks)


def brute_force(problem: Problem, inputs: Inputs) -> tuple[Any, Any]:
    """O and LSE in float64, head by head and row by row, in the words of the definition."""
    q, k, v = (array.astype(np.float64) for array in inputs.qkv)
    output, lse, mask = np.zeros(problem.q_shape), np.full(problem.q_shape[:3], -math.inf), kept(problem)
    group = problem.heads // problem.key_heads
    for b, h, row in np.ndindex(problem.q_shape[:3]):
        keys = mask[row]
        s = problem.softmax_scale * (k[b, h // group] @ q[b, h, row])
        if problem.softcap is not None:
            s = problem.softcap * np.tanh(s / problem.softcap)
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
