"""Problems under every combination of masks and head groups, and attention by brute force over them."""

import math
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs

WINDOWS = st.tuples(st.integers(-1, 70), st.integers(-1, 70))


LONG_WINDOWS = st.tuples(st.integers(-1, 300), st.integers(-1, 300))


@st.composite
def block_masked(
    draw: st.DrawFn,
    longest: int,
    head_dims: Sequence[int],
    block_q: st.SearchStrategy[int],
    block_k: st.SearchStrategy[int],
) -> Problem:
    """Ragged lengths x causal x window x random blocks, for the tables that kernels take them from."""
    seqlen_q, seqlen_k = draw(st.integers(1, longest)), draw(st.integers(1, longest))
    return Problem(
        seqlen_q=seqlen_q,
        seqlen_k=seqlen_k,
        head_dim=draw(st.sampled_from(head_dims)),
        dtype="bfloat16",
        causal=draw(st.booleans()),
        window=draw(st.none() | LONG_WINDOWS),
        block_mask=BlockMask.random(
            seqlen_q,
            seqlen_k,
            block_q=draw(block_q),
            block_k=draw(block_k),
            kept_share=draw(st.floats(0, 1)),
            seed=draw(st.integers(0, 1000)),
        ),
    )


@st.composite
def masked_problems(draw: st.DrawFn, longest: int = 60) -> Problem:
    """Ragged lengths x causal x window x block mask x GQA, small enough for brute force."""
    seqlen_q, seqlen_k = draw(st.integers(1, longest)), draw(st.integers(1, longest))
    kv_heads, group = draw(st.integers(1, 2)), draw(st.integers(1, 3))
    problem = Problem(
        seqlen_q=seqlen_q,
        seqlen_k=seqlen_k,
        batch=draw(st.integers(1, 2)),
        heads=kv_heads * group,
        kv_heads=draw(st.sampled_from((kv_heads, None if group == 1 else kv_heads))),
        head_dim=draw(st.sampled_from((16, 24, 40))),
        causal=draw(st.booleans()),
        window=draw(st.none() | WINDOWS),
        seed=draw(st.integers(0, 1000)),
    )
    return msgspec.structs.replace(problem, block_mask=draw(st.none() | block_masks(seqlen_q, seqlen_k)))


@st.composite
def block_masks(draw: st.DrawFn, seqlen_q: int, seqlen_k: int) -> BlockMask:
    """Any pattern of blocks of any size, also larger than the sequences."""
    return BlockMask.random(
        seqlen_q,
        seqlen_k,
        block_q=draw(st.integers(1, 80)),
        block_k=draw(st.integers(1, 80)),
        kept_share=draw(st.floats(0, 1)),
        seed=draw(st.integers(0, 1000)),
    )


def kept(problem: Problem) -> npt.NDArray[np.bool_]:
    """Every pair (Nq, Nk) asked one by one, in the words of the definition."""
    shift = problem.seqlen_k - problem.seqlen_q
    left, right = problem.window or (-1, -1)

    def keeps(q: int, k: int) -> bool:
        if problem.causal and k > q + shift:
            return False
        if left != -1 and k < q + shift - left:
            return False
        if right != -1 and k > q + shift + right:
            return False
        mask = problem.block_mask
        return mask is None or bool(mask.array()[q // mask.block_q, k // mask.block_k])

    return np.array([[keeps(q, k) for k in range(problem.seqlen_k)] for q in range(problem.seqlen_q)])


def brute_force(problem: Problem, inputs: Inputs) -> tuple[Any, Any]:
    """O and LSE in float64, head by head, over the kept pairs alone."""
    q, k, v = (array.astype(np.float64) for array in inputs.qkv)
    output, lse, mask = np.zeros(problem.q_shape), np.full(problem.q_shape[:3], -math.inf), kept(problem)
    group = problem.heads // (problem.kv_heads or problem.heads)
    for b, h, row in np.ndindex(problem.q_shape[:3]):
        keys = mask[row]
        if keys.any():
            s = problem.softmax_scale * (k[b, h // group][keys] @ q[b, h, row])
            weights = np.exp(s - s.max())
            output[b, h, row] = weights @ v[b, h // group][keys] / weights.sum()
            lse[b, h, row] = s.max() + math.log(weights.sum())
    return output, lse
