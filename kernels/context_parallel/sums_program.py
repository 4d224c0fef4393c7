"""The CUDA program that merges O and LSE of blocks, and adds gradients: `cuda/rank_sums.cu`, described."""

from collections.abc import Mapping
from math import prod
from typing import NamedTuple

import numpy as np

from flashscope.kernels.cuda.program import KernelLaunch, Program, ceil_div
from flashscope.kernels.workload.problem import Dtype

THREADS, WARP = 256, 32
MERGE, ADD = "merge_rows", "add_rows"
BUFFERS: Mapping[str, tuple[str, ...]] = {
    MERGE: ("part", "part_lse", "output", "lse"),
    ADD: ("part", "sums"),
}


class RowParts(NamedTuple):
    """A part (batch, heads, rows, d) of arrays with more rows.

    Attributes:
        shape: The part's shape.
        first: Which of all rows its first one is.
        all_rows: How many there are.
        dtype: The part's dtype.
    """

    shape: tuple[int, ...]
    first: int
    all_rows: int
    dtype: Dtype


def program(entry: str, part: RowParts) -> Program:
    """One launch: `merge_rows` or `add_rows` of a part, a warp a row."""
    lines, rows = prod(part.shape[:3]), part.shape[2]
    numbers = (np.int64(lines), np.int32(rows), np.int32(part.first), np.int32(part.all_rows))
    launch = KernelLaunch(
        entry,
        grid=ceil_div(lines, THREADS // WARP),
        arguments=(*BUFFERS[entry], *numbers),
        threads=THREADS,
    )
    defines = {f"DTYPE_{part.dtype}": 1, "HEAD_DIM": part.shape[3]}
    return Program("rank_sums.cu", defines, (launch,))
