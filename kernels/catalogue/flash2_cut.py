"""The tiles of flash2 on Hopper, in 16 bits and up to head dim 128.

Measured on an H100 (flash2.cu, "Tried and lost, or won"). It knows the problem alone and counts the 132 SMs
of H100 SXM and H200, so that formulas need no device.

Tried and not used, on an H100 in 88 cells: 80 keys a tile, -8 to +1 % at head dim 128 and -6 to +3 % at 64
but for few rows.
"""

from math import ceil
from typing import NamedTuple

from flashscope.kernels.workload.problem import Problem

SMS, BLOCKS_PER_SM = 132, 2
ROWS, KEYS = 128, 64  # of a tile
NARROW_HEAD, MIDDLE_HEAD = 64, 128
"""Q stays in registers up to the first; two blocks share an SM up to the second."""


class Flash2Tile(NamedTuple):
    """A tile: its query rows and its keys, and the warps that share the rows out."""

    rows: int = ROWS
    keys: int = KEYS
    warps: int = 4


USUAL = Flash2Tile()
LONG, LONG_TILE = 1024, USUAL._replace(keys=96)
"""From so many keys on, without a mask, a narrow head gains 1 to 8 % from more keys a tile."""
LONG_HEADS = range(24, 65, 8)  # narrower ones are copied 64 rows at a time
SHORT_TILE = Flash2Tile(rows=64)
"""A warp has 16 rows, so that registers are left for as many keys as 128."""
FEW_TILES: dict[tuple[bool, bool], tuple[tuple[range, int], ...]] = {
    (True, True): ((range(1, 265), 128), (range(265, 337), 96)),
    (True, False): ((range(1, SMS + 1), 128), (range(SMS + 1, 199), 64), (range(265, 331), 96)),
    (False, True): ((range(1, 161), 128), (range(161, 305), 96)),
    (False, False): ((range(1, SMS // 2 + 1), 128),),
}
"""By whether heads are narrow and causal: where there are so many tiles of 128 rows, half the rows in each
and so many keys make flash2 faster, since SMs share them more evenly. On an H100, from 1k keys on: up to 66
tiles by 36 to 61 %; causal ones by 17 to 61 % up to 160 and by 3 to 24 % beyond; narrow ones by 4 to 18 %. In
between and beyond they lose up to 33 %."""
SHORT_HEADS = range(24, MIDDLE_HEAD + 1, 8)  # measured of 64, 96 and 128
NEARLY_FULL, NARROW_TILE = 0.95, USUAL._replace(keys=32)
"""Where causal tiles at head dim 128 fill all places of two blocks an SM twice, but for this share at most,
fewer keys a tile take 1 to 4 % less time (512 tiles); of 448 tiles or 576 they take 2 to 3 % more."""


def hopper_tile(problem: Problem) -> Flash2Tile:
    """The fastest tile, where no registers are spilled with so many keys."""
    masked = problem.window is not None or problem.block_mask is not None or not problem.even
    terms = problem.softcap is not None or problem.alibi  # which take registers
    if masked or problem.widest_dim > MIDDLE_HEAD:
        return USUAL
    heads, narrow = {problem.head_dim, problem.value_dim}, problem.widest_dim <= NARROW_HEAD
    tiles = problem.batch * problem.heads * ceil(problem.seqlen_q / ROWS)
    long = problem.seqlen_k >= LONG and not terms
    for few, keys in FEW_TILES[narrow, problem.causal]:
        if long and heads <= {*SHORT_HEADS} and tiles in few:
            return SHORT_TILE._replace(keys=keys)
    if narrow:
        return LONG_TILE if long and heads <= {*LONG_HEADS} and not problem.causal else USUAL
    places = 2 * BLOCKS_PER_SM * SMS
    fills = problem.widest_dim == MIDDLE_HEAD and problem.causal and NEARLY_FULL * places <= tiles <= places
    return NARROW_TILE if fills else USUAL
