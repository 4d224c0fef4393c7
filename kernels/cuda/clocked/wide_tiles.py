"""From the clocks of flash3's backward pass for wide heads to bars: its warpgroups have parts of their own.

The first computes S, P, dV and half of its block's columns of dQ, the second dP, dS, dK and the other half.
QKᵀ and dOVᵀ last from when they are asked for until they are there; the softmax ends when P is in shared
memory, dS when it is. dQ is asked for with dV, or with dK: its bar is what comes after them, and that of the
first warpgroup is of the step before, so that of its first step it is dropped, and belongs to no tile of
queries. Of the two threads that load, one asks for K and Q, the other for V and dO: their bars last as long
as asking takes. Between bars a lane waits: for its turn at the tensor cores, for tiles, for the other block's
dS or, where sums are added in turns, for those. Both blocks of a pair have 64 keys each of the tile of 128.
"""

from typing import Any

import numpy as np

from flashscope.kernels.cuda.clocked.groups import ClockedGroups, GroupAxis, assembled
from flashscope.kernels.cuda.clocked.key_tiles import (
    GROUPS,
    KeyTile,
    StepBars,
    key_tiles,
    stage_bars,
)
from flashscope.kernels.cuda.clocks import CYCLES, WarpBars
from flashscope.kernels.cuda.flash3_backward import PAIR
from flashscope.kernels.cuda.program import TileSize, ceil_div
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import (
    ADD_DQ,
    DK,
    DOV,
    DQ,
    DS,
    DV,
    LOAD,
    NO_PLACE,
    QK,
    SOFTMAX,
    STORE,
)

CLOCKS = 16  # of a row: flash3_backward_wide_clocks.cuh
PRODUCERS = ("producer of Q", "producer of dO")
LANES = (*PRODUCERS, *(f"warpgroup {group + 1}" for group in range(GROUPS)))
BLOCK, STORES, LOADS, ONCE = 9, 10, 12, 14  # places in a row
BARS_OF_A_STEP, BARS_OF_A_TILE = 2 + 5 + 5, 2 + 2 + 2  # of all lanes of a block


def most_rows(problem: Problem, tile: TileSize) -> int:
    """Rows of clocks that a tile of keys has at most, of one warpgroup."""
    return problem.heads // problem.key_heads * ceil_div(problem.seqlen_q, tile.q) + 1


def most_bars(problem: Problem, tile: TileSize) -> int:
    """As many bars as there can be."""
    tiles = [*key_tiles(problem, tile)]
    return PAIR * (sum(len(one.steps) for one in tiles) * BARS_OF_A_STEP + len(tiles) * BARS_OF_A_TILE)


def wide_tile_bars(problem: Problem, tile: TileSize, found: ClockedGroups, multiprocessors: int) -> WarpBars:
    """The bars of all lanes; a row for each SM, in it one for each warpgroup and each thread that loads."""
    computing = found.ends.reshape(-1, GROUPS, 4)
    loading = np.repeat(computing[:, :1], len(PRODUCERS), axis=1)  # all see one clock
    axis = GroupAxis(np.ascontiguousarray(np.concatenate((loading, computing), axis=1)), LANES)
    bars: list[StepBars] = []
    blocks: list[tuple[int, ...]] = []
    for number, one in enumerate(key_tiles(problem, tile)):
        for rank in range(PAIR):
            rows = found.rows[number * PAIR + rank].astype(np.int64)
            if not rows.any():
                continue  # its SM wrote none
            block = int(rows[0, len(one.steps), BLOCK])
            told = [_loads(rows[group], one) for group in range(GROUPS)]
            told += [_first(rows[0], one), _second(rows[1], one)]
            for lane, own in enumerate(told):
                place, times = axis.place(block, lane), axis.times(block, lane, own[:, 4:])
                bars.append(np.column_stack((np.full(len(own), place), own[:, [1, 0, 2, 3]], times)))
                if lane >= len(PRODUCERS):
                    begun = int(axis.begin_ns(block, lane))
                    blocks.append((place, one.head, one.j, begun, int(times[-1, 1])))
    return assembled(axis, bars, blocks, multiprocessors)


def _loads(rows: Any, tile: KeyTile) -> StepBars:
    """The bars of one thread that loads: of the tile K or V, and of each step Q or dO."""
    (of_head, i), count = tile.steps.T, len(tile.steps)
    once, steps = rows[: min(count, 1), ONCE:], rows[:count, LOADS:ONCE]
    return np.concatenate(
        [
            stage_bars((tile.head, LOAD, NO_PLACE, tile.j), once[:, 0], _asked(once)),
            stage_bars((of_head, LOAD, i, tile.j), steps[:, 0], _asked(steps)),
        ]
    )


def _asked(clocks: Any) -> Any:
    """When all had been asked for; what came before that was noted has the clock of another load, or none."""
    begin, end = clocks[:, 0], clocks[:, 1]
    return np.where((end != 0) & ((end - begin) % CYCLES < CYCLES // 2), end, begin)


def _first(rows: Any, tile: KeyTile) -> StepBars:
    """The bars of the warpgroup that computes S, P and dV; its dQ is a step behind."""
    (head, i), count = tile.steps.T, len(tile.steps)
    steps, told = rows[:count], []
    if count:
        of_dq = np.append(head[:1], head), np.append(NO_PLACE, i)  # of all rows, the last one's too
        asked, there = np.append(steps[:, 4], rows[count, 3]), rows[: count + 1, 5]
        told = [
            *_in_turn((head, i, tile.j), steps[:, :3], (QK, SOFTMAX)),
            *_in_turn((head, i, tile.j), steps[:, 3:5], (DV,)),
            stage_bars((of_dq[0], DQ, of_dq[1], tile.j), asked, there),
            _added((of_dq[0][1:], of_dq[1][1:], tile.j), rows[1 : count + 1, 5:8]),
        ]
    return np.concatenate([*told, _stored(rows[count], tile)])


def _second(rows: Any, tile: KeyTile) -> StepBars:
    """The bars of the warpgroup that computes dP, dS and dK."""
    (head, i), count = tile.steps.T, len(tile.steps)
    steps, where = rows[:count], (head, i, tile.j)
    told = [
        *_in_turn(where, steps[:, :2], (DOV,)),
        *_in_turn(where, steps[:, 2:4], (DS,)),
        *_in_turn(where, steps[:, 4:7], (DK, DQ)),
        _added(where, steps[:, 6:9]),
    ]
    return np.concatenate([*told, _stored(rows[count], tile)])


def _in_turn(where: tuple[Any, Any, int], clocks: Any, stages: tuple[int, ...]) -> list[StepBars]:
    """Bars of stages one behind the other."""
    head, i, j = where
    return [stage_bars((head, stage, i, j), clocks[:, n], clocks[:, n + 1]) for n, stage in enumerate(stages)]


def _added(where: tuple[Any, Any, int], clocks: Any) -> StepBars:
    """From when dQ is there, or may be added, until it is."""
    head, i, j = where
    begin = np.where(clocks[:, 1], clocks[:, 1], clocks[:, 0])
    return stage_bars((head, ADD_DQ, i, j), begin, clocks[:, 2])


def _stored(row: Any, tile: KeyTile) -> StepBars:
    return stage_bars((tile.head, STORE, NO_PLACE, tile.j), row[STORES : STORES + 1], row[STORES + 1 : LOADS])
