"""Problems whose heads fill several tiles together, masked, scored and laid out in every other way."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from flashscope.kernels.catalogue.flash3_share import (
    MOST_GROUPS_SHARED,
    Share,
    small_shapes,
    usual_shape,
)
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.problem import Problem

ROWS, KEYS, GROUP = 90, 320, 3  # of a head, and heads of one of K and V: 270 rows in tiles of 64 or 128
RAGGED: dict[str, Any] = {"batch": 3, "query_lengths": (90, 0, 61), "key_lengths": (40, 300, 259)}
OTHERS: dict[str, dict[str, Any]] = {
    "ragged": RAGGED,
    "ragged pages": {**RAGGED, "page_size": 64},
    "window": {"window": (60, 20)},
    "softcap": {"softcap": 2.0},
    "sinks": {"sinks": True},
    "all of scores, ragged": {**RAGGED, "softcap": 2.0, "sinks": True, "alibi": True},
    "blocks": {"block_mask": BlockMask.random(ROWS, KEYS, block_q=32, block_k=64, kept_share=0.5, seed=1)},
    "values of another head dim": {},
}


def of_other(kind: str, head_dim: int, *, causal: bool, kv_heads: int = 1) -> Problem:
    """One of `OTHERS`."""
    values = 64 if head_dim == 128 else 128
    return Problem(
        heads=GROUP * kv_heads,
        kv_heads=kv_heads,
        seqlen_q=ROWS,
        seqlen_k=KEYS,
        head_dim=head_dim,
        head_dim_v=values if "values" in kind else None,
        dtype="bfloat16",
        causal=causal,
        **OTHERS[kind],
    )


def ways(problem: Problem, splits: int) -> Iterator[Share]:
    """Its heads packed into tiles of every shape; under a block mask heads stay alone."""
    packed = GROUP if problem.block_mask is None else 1
    for shape, draws in product((usual_shape(problem), *small_shapes(problem)), (True, False)):
        if shape.groups <= MOST_GROUPS_SHARED:
            yield Share(shape, packed, splits, draws)
