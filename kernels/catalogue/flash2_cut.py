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
FEW_TILES, SHORT_TILE = range(SMS + 1, 273), Flash2Tile(rows=64, warps=2)
"""Where causal tiles at head dim 128 are so many, half the rows in each make flash2 6 to 15 % faster, as SMs
share them more evenly: of 64, 128 and 320 -3 to +2 %, of 384 -11 %, of 512 -13 %, of many -19 to -39 %."""
NEARLY_FULL, NARROW_TILE = 0.95, USUAL._replace(keys=32)
"""Where causal tiles at head dim 128 fill all places of two blocks an SM twice, but for this share at most,
fewer keys a tile take 1 to 4 % less time (512 tiles); of 448 tiles or 576 they take 2 to 3 % more."""


def hopper_tile(problem: Problem) -> Flash2Tile:
    """The fastest tile, where no registers are spilled with so many keys."""
    masked = problem.window is not None or problem.block_mask is not None or not problem.even
    terms = problem.softcap is not None or problem.alibi  # which take registers
    if problem.widest_dim <= NARROW_HEAD:
        long = problem.seqlen_k >= LONG and {problem.head_dim, problem.value_dim} <= set(LONG_HEADS)
        return LONG_TILE if long and not (masked or terms or problem.causal) else USUAL
    if problem.widest_dim != MIDDLE_HEAD or masked or not problem.causal:
        return USUAL
    tiles = problem.batch * problem.heads * ceil(problem.seqlen_q / ROWS)
    if tiles in FEW_TILES and not terms:
        return SHORT_TILE
    places = 2 * BLOCKS_PER_SM * SMS
    return NARROW_TILE if NEARLY_FULL * places <= tiles <= places else USUAL
