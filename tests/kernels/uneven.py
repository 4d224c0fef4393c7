"""Batches of different lengths and caches in pages, drawn; and what each sequence is by itself."""

from typing import Any

import msgspec
import numpy as np
from hypothesis import strategies as st

from flashscope.kernels.workload.lengths import PAGE_SIZES
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs
from tests.kernels.masked import WINDOWS


@st.composite
def uneven_problems(draw: st.DrawFn, longest: int = 70) -> Problem:
    """Lengths of each sequence, from none to all, with and without pages x causal x window x GQA."""
    page_size = draw(st.none() | st.sampled_from(PAGE_SIZES[:3]))
    seqlen_q, stretches = draw(st.integers(1, longest)), draw(st.integers(1, 3))
    seqlen_k = draw(st.integers(1, longest)) if page_size is None else stretches * page_size
    batch, kv_heads, group = draw(st.tuples(*[st.integers(1, 3)] * 3))
    of_batch = {"min_size": batch, "max_size": batch}
    keys = st.integers(0, seqlen_k) | st.sampled_from((0, 1, seqlen_k, seqlen_k - 1))
    return Problem(
        seqlen_q=seqlen_q,
        seqlen_k=seqlen_k,
        batch=batch,
        heads=kv_heads * group,
        kv_heads=kv_heads,
        head_dim=draw(st.sampled_from((16, 24))),
        causal=draw(st.booleans()),
        window=draw(st.none() | WINDOWS),
        seed=draw(st.integers(0, 1000)),
        query_lengths=draw(st.none() | st.lists(st.integers(0, seqlen_q), **of_batch).map(tuple)),
        key_lengths=draw(st.none() | st.lists(keys, **of_batch).map(tuple)),
        page_size=page_size,
    )


def alone(problem: Problem, inputs: Inputs, b: int) -> Inputs:
    """Q, K and V of one sequence, contiguous, its keys taken key by key."""
    rows, keys, size = problem.row_counts[b], problem.key_counts[b], problem.page_size
    q = inputs.q[b : b + 1, :, :rows].copy()
    if size is None:
        return Inputs(q, *(x[b : b + 1, :, :keys].copy() for x in (inputs.k, inputs.v)))
    return Inputs(q, *(_key_by_key(x, inputs.page_table[b], keys, size) for x in (inputs.k, inputs.v)))


def _key_by_key(pool: Any, table: Any, keys: int, size: int) -> Any:
    found = [pool[table[key // size], :, key % size] for key in range(keys)]
    return np.stack(found, axis=1)[None]


def options(problem: Problem) -> dict[str, Any]:
    """What `attention` is told of a problem beside its arrays."""
    names = ("causal", "window", "query_lengths", "key_lengths")
    return {name: getattr(problem, name) for name in names}


def of_one_sequence(problem: Problem, rows: int, keys: int) -> Problem:
    """The problem that a sequence is by itself, in the words of the definition."""
    plain = {"query_lengths": None, "key_lengths": None, "page_size": None}
    return msgspec.structs.replace(problem, batch=1, seqlen_q=rows, seqlen_k=keys, **plain)
