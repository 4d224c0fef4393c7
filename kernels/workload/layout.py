"""Lay drawn inputs out as a problem says: padding behind each sequence, keys in a shuffled pool of pages.

What no kernel may read into a result holds NaN, and what of a page table none may follow is no page at all.
Arrays are float32, NumPy or CuPy, and may be overwritten.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from flashscope.kernels.workload.arrays import array_module
from flashscope.kernels.workload.lengths import pages_for
from flashscope.kernels.workload.problem import Problem

SINKS = 1  # beside the seed: another stream than those of Q, K, V and dO
NO_PAGES = (-1, 2**31 - 1)  # unused entries of a page table, in turns


def lay_queries(problem: Problem, q: Any) -> Any:
    """Q (batch, heads, seqlen_q, head_dim) with its padding."""
    return _padded(q, problem.row_counts)


def lay_keys(problem: Problem, keys: Any) -> Any:
    """K or V (batch, kv_heads, seqlen_k, its width) with its padding; in pages where the problem says so."""
    keys = _padded(keys, problem.key_counts)
    return keys if problem.page_size is None else _in_pages(problem, keys, problem.page_size)


def page_table(problem: Problem) -> Any:
    """A page of the pool for each stretch of keys in use, in an order shuffled by the seed.

    Returns:
        NumPy int32 (batch, seqlen_k / page_size); None without pages.
    """
    size, taken = problem.page_size, 0
    if size is None:
        return None
    order = np.random.default_rng(problem.seed).permutation(problem.pages).astype(np.int32)
    table = np.resize(np.array(NO_PAGES, np.int32), problem.page_table_shape)
    for row, keys in zip(table, problem.key_counts, strict=True):
        used = pages_for(keys, size)
        row[:used] = order[taken : taken + used]
        taken += used
    return table


def draw_sinks(problem: Problem) -> Any:
    """The sinks of a problem from its seed: normal around ln Nk, where they weigh about as much as all keys.

    Returns:
        NumPy float32 (heads,); None where it has none.
    """
    if not problem.sinks:
        return None
    drawn = np.random.default_rng([problem.seed, SINKS]).standard_normal(problem.heads)
    return (drawn + np.log(problem.seqlen_k)).astype(np.float32)


def _padded(array: Any, lengths: Sequence[int]) -> Any:
    for sequence, length in zip(array, lengths, strict=True):
        if length < array.shape[2]:
            sequence[:, length:] = np.nan
    return array


def _in_pages(problem: Problem, keys: Any, size: int) -> Any:
    """Keys in their pages; the spare ones hold NaN."""
    xp, (batch, heads, seqlen, width) = array_module(keys), keys.shape
    pool = xp.full((*problem.pool_shape[:3], width), np.nan, dtype=keys.dtype)
    stretches = keys.reshape(batch, heads, seqlen // size, size, width).transpose(0, 2, 1, 3, 4)
    for row, sequence, count in zip(page_table(problem), stretches, problem.key_counts, strict=True):
        used = pages_for(count, size)
        if used:
            pool[xp.asarray(row[:used])] = sequence[:used]
    return pool
