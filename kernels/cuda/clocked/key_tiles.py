"""From the clocks of flash3's backward pass to bars on lanes: a lane for each warpgroup of an SM.

A step is a tile of queries before a tile of keys. A warpgroup asks for S and for dP together, and later for
dQ, dV and dK; the tensor cores take such products one after the other while the warpgroup goes on. So QKᵀ
lasts from when S is asked for until it is there; the softmax computes P under the product dOVᵀ, of which the
bar shows what is left then; dS ends when it is stored for dQ. dQ lasts from when it is asked for until it is
there; what the additions to its sums in memory, issued under dV, leave of that product is dV's bar, and dK is
what comes after it. The first warpgroup's dQ is that of the step before: of its first step it is dropped,
and belongs to no tile of queries. The producer's loads last as long as asking for them takes. Between bars
a lane waits: for its turn at the tensor cores, for tiles or, where sums are added in turns, for those.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flashscope.kernels.cuda.clocked.groups import PRODUCER, ClockedGroups, GroupAxis, assembled, group_lanes
from flashscope.kernels.cuda.clocks import WarpBars
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

GROUPS = 2  # warpgroups that compute, and have rows of clocks and anchors
CLOCKS = 16  # of a row
ROWS_BESIDE_STEPS = 3
BARS_OF_A_STEP, BARS_OF_A_TILE = 2 * 8 + 2, 2 * 3 + 2  # of all lanes
BLOCK, MAY_ADD, LOADS = 1, 10, 12  # places in a tile's first row, and in a step's
StepBars = npt.NDArray[np.int64]  # bars: head, stage, i, j, begin and end


class KeyTile(NamedTuple):
    """A tile of keys, which a block owns.

    Attributes:
        head: The first query head of those that share its K and V.
        j: Which tile of the head.
        steps: int64 (steps, 2): query head and tile of queries of each step.
    """

    head: int
    j: int
    steps: npt.NDArray[np.int64]


def most_rows(problem: Problem, tile: TileSize) -> int:
    """Rows of clocks that a tile of keys has at most, of one warpgroup."""
    group = problem.heads // problem.key_heads
    return group * ceil_div(problem.seqlen_q, tile.q) + ROWS_BESIDE_STEPS


def key_tiles(problem: Problem, tile: TileSize) -> Iterator[KeyTile]:
    """All tiles of keys by their numbers, with the queries that see them in the kernel's order."""
    group = problem.heads // problem.key_heads
    for head in range(0, problem.batch * problem.heads, group):
        for j in range(ceil_div(problem.seqlen_k, tile.k)):
            seen, of_group = _seen(problem, tile, j), np.arange(head, head + group)
            if problem.deterministic:  # a tile in all heads, then the one before it
                steps = np.column_stack((np.tile(of_group, len(seen)), np.repeat(seen[::-1], group)))
            else:
                steps = np.column_stack((np.repeat(of_group, len(seen)), np.tile(seen, group)))
            yield KeyTile(head, j, steps.astype(np.int64))


def _seen(problem: Problem, tile: TileSize, j: int) -> range:
    """The tiles of queries that see one of these keys, as flash3_backward_layout.cuh has them."""
    shift = problem.seqlen_k - problem.seqlen_q
    left, right = (-1, -1) if problem.window is None else problem.window
    right = 0 if problem.causal else right
    first, last = 0, problem.seqlen_q - 1
    if right >= 0:
        first = max(0, j * tile.k - shift - right) // tile.q
    if left >= 0:
        last = min(last, min((j + 1) * tile.k, problem.seqlen_k) - 1 - shift + left)
    return range(first, first if last < 0 else max(first, last // tile.q + 1))


def most_bars(problem: Problem, tile: TileSize) -> int:
    """As many bars as there can be."""
    tiles = [*key_tiles(problem, tile)]
    return sum(len(one.steps) for one in tiles) * BARS_OF_A_STEP + len(tiles) * BARS_OF_A_TILE


def key_tile_bars(problem: Problem, tile: TileSize, found: ClockedGroups, multiprocessors: int) -> WarpBars:
    """The bars of all warpgroups; a row for each SM, in it a lane for each warpgroup of each block there."""
    ends = np.concatenate((found.ends[:, :1], found.ends), axis=1)  # all see one clock, the producer's too
    axis = GroupAxis(np.ascontiguousarray(ends), group_lanes(GROUPS + 1))
    bars: list[StepBars] = []
    blocks: list[tuple[int, ...]] = []
    for number, one in enumerate(key_tiles(problem, tile)):
        if not found.rows[number].any():
            continue  # its SM wrote none
        rows = found.rows[number].astype(np.int64)
        for lane in range(GROUPS + 1):
            own = rows[max(0, lane - 1)]
            block = int(own[0, BLOCK])
            told = _loads(own[1:], one) if lane == PRODUCER else _computed(own[1:], one, lane - 1)
            place = axis.place(block, lane)
            times = axis.times(block, lane, told[:, 4:])
            bars.append(np.column_stack((np.full(len(told), place), told[:, [1, 0, 2, 3]], times)))
            if lane != PRODUCER:
                begun = axis.times(block, lane, own[0, :1])[0]
                blocks.append((place, one.head, one.j, begun, times[-1, 1]))
    return assembled(axis, bars, blocks, multiprocessors)


def stage_bars(where: tuple[Any, int, Any, int], begin: Any, end: Any) -> StepBars:
    """Bars of a stage, as rows; heads and tiles of queries, begins and ends, in clocks, are columns."""
    columns = [np.broadcast_to(one, np.shape(begin)) for one in (*where, begin, end)]
    return np.column_stack(columns).astype(np.int64)


def _loads(rows: Any, tile: KeyTile) -> StepBars:
    """The producer's bars: of each step Q and dO, and of the tile K and V."""
    (of_head, i), count = tile.steps.T, len(tile.steps)
    once = (tile.head, LOAD, NO_PLACE, tile.j), rows[count : count + min(count, 1), LOADS:]
    told = [
        stage_bars(where, clocks[:, n], np.where(clocks[:, n + 1], clocks[:, n + 1], clocks[:, n]))
        for where, clocks in (once, ((of_head, LOAD, i, tile.j), rows[:count, LOADS:]))
        for n in (0, 2)
    ]
    return np.concatenate(told)


def _computed(rows: Any, tile: KeyTile, part: int) -> StepBars:
    """The bars of the first (0) or the second (1) warpgroup that computes; the store is the last one."""
    count, told = len(tile.steps), []
    last = rows[count + 1 if count else 0]
    if count:
        told = _steps(rows[:count], rows[1 : count + 1], tile, 1 - part)
    if count and not part:
        (head, i), begin = tile.steps[-1], last[MAY_ADD] or last[1]
        told.append(stage_bars((head, DQ, i, tile.j), last[:1], last[1:2]))
        told.append(stage_bars((head, ADD_DQ, i, tile.j), np.array([begin]), last[2:3]))
    told.append(stage_bars((tile.head, STORE, NO_PLACE, tile.j), last[3:4], last[4:5]))
    return np.concatenate(told)


def _steps(now: Any, then: Any, tile: KeyTile, lag: int) -> list[StepBars]:
    """The stages of all steps: `now` has what a step asks for, `then` what is there; dQ is `lag` behind."""
    head, i = tile.steps.T
    whole = now[:, 0] != 0  # not where no query sees a key of the warpgroup: it has a part of dQ alone
    own = head[whole], i[whole]
    told = [
        stage_bars((own[0], stage, own[1], tile.j), now[whole, n], now[whole, n + 1])
        for n, stage in enumerate((QK, SOFTMAX, DOV, DS))
    ]
    of_dq = np.append(head[:lag], head)[: len(head)], np.append([NO_PLACE] * lag, i)[: len(i)]
    may_add = np.where(then[:, MAY_ADD] != 0, then[:, MAY_ADD], then[:, 6])
    told.append(stage_bars((of_dq[0], DQ, of_dq[1], tile.j), now[:, 5], then[:, 6]))
    told.append(stage_bars((of_dq[0][lag:], ADD_DQ, of_dq[1][lag:], tile.j), may_add[lag:], then[lag:, 7]))
    told += [
        stage_bars((own[0], stage, own[1], tile.j), then[whole, n], then[whole, n + 1])
        for n, stage in enumerate((DV, DK), 7)
    ]
    return told
