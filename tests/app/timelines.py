"""Timelines that no kernel recorded: of as many rows, lanes and bars as a test wants."""

from typing import Any

import numpy as np

from flashscope.kernels.workload.problem import Passes, Problem
from flashscope.kernels.workload.timeline import (
    STORE,
    ClockedKernel,
    RowKind,
    StageTimeline,
    TimelineRequest,
    outer_is_keys,
)
from flashscope.kernels.workload.trace import Array

BLOCK = 16
OF_A_TILE = 4  # load, QKᵀ, softmax, PV


def made_timeline(
    kernel: ClockedKernel = "flash2",
    *,
    seqlen: int = 64,
    causal: bool = False,
    passes: Passes = "forward",
    rows: int = 1,
    lanes: tuple[str, ...] = ("Python",),
    row_kind: RowKind = "thread",
    tile_ns: int = 1_000,
    build: str = "0123456789ab",
) -> StageTimeline:
    """Two heads in tiles of 16 x 16; blocks go to lanes in turn, every stage takes a quarter of a tile."""
    request = TimelineRequest(
        problem=Problem(
            seqlen_q=seqlen, seqlen_k=seqlen, batch=1, heads=2, head_dim=8, causal=causal, passes=passes
        ),
        kernel=kernel,
        rounds=3,
    )
    bars, blocks = _bars(request, rows * len(lanes), tile_ns)
    span = int(bars[:, 6].max())

    def column(array: Any, place: Any, dtype: Any = np.int64) -> Array:
        return Array.of(array[:, place].astype(dtype))

    return StageTimeline(
        request=request,
        device="A made-up device",
        source="made up for a test",
        build=build,
        block_q=BLOCK,
        block_k=BLOCK,
        row_kind=row_kind,
        rows=Array.of(np.arange(rows, dtype=np.int32)),
        lanes=lanes,
        lane=column(bars, 0, np.int32),
        stage=column(bars, 1, np.uint8),
        tile=column(bars, [2, 3, 4], np.int32),
        begin=column(bars, 5),
        end=column(bars, 6),
        block_lane=column(blocks, 0, np.int32),
        block=column(blocks, [1, 2], np.int32),
        block_begin=column(blocks, 3),
        block_end=column(blocks, 4),
        span_ns=span,
        clocked_ns=Array.of(np.array([span, span + 30, span - 30], np.int64)),
        plain_ns=Array.of(np.array([span - 10, span + 10, span], np.int64)),
    )


def _bars(request: TimelineRequest, lanes: int, tile_ns: int) -> tuple[Any, Any]:
    """Lane, stage, head, i, j, begin, end of each bar; lane, head, outer block, begin, end of each block."""
    tiles = -(-request.problem.seqlen_q // BLOCK)
    free = [0] * lanes
    bars: list[tuple[int, ...]] = []
    blocks: list[tuple[int, ...]] = []
    for n, (head, outer) in enumerate((head, outer) for head in range(2) for outer in range(tiles)):
        lane = n % lanes
        begin = now = free[lane]
        for inner in range(outer + 1 if request.problem.causal else tiles):
            i, j = (inner, outer) if outer_is_keys(request) else (outer, inner)
            for stage in range(OF_A_TILE):
                bars.append((lane, stage, head, i, j, now, now + tile_ns // OF_A_TILE))
                now += tile_ns // OF_A_TILE
        last = (-1, outer) if outer_is_keys(request) else (outer, -1)
        bars.append((lane, STORE, head, *last, now, now + tile_ns // OF_A_TILE))
        free[lane] = now + tile_ns // OF_A_TILE
        blocks.append((lane, head, outer, begin, free[lane]))
    return np.array(sorted(bars, key=lambda bar: (bar[0], bar[5]))), np.array(blocks)
