"""How many keys flash2's tiles have on Hopper, in 16 bits and up to head dim 128.

Measured on an H100 (flash2.cu, "Tried and lost, or won"). It knows the problem alone and counts the 132 SMs
of H100 SXM and H200, so that formulas need no device.

Tried and not used, on an H100 in 88 cells: 80 keys a tile, -8 to +1 % at head dim 128 and -6 to +3 % at 64
but for few rows; tiles of 64 rows at head dim 128 under a causal mask, +6 to +15 % where there are 192 to 272
tiles of 128 rows, -3 to +2 % of 64, 128 and 320 tiles, -11 % and more beyond.
"""

from math import ceil

from flashscope.kernels.workload.problem import Problem

SMS, BLOCKS_PER_SM = 132, 2
ROWS, KEYS = 128, 64  # of a tile
NARROW_HEAD, MIDDLE_HEAD = 64, 128
"""Q stays in registers up to the first; two blocks share an SM up to the second."""
LONG, LONG_KEYS = 1024, 96  # from here on, without a mask, a narrow head gains 1 to 8 % from more keys a tile
LONG_HEADS = range(24, 65, 8)  # narrower ones are copied 64 rows at a time
FEW_KEYS, NEARLY_FULL = 32, 0.95
"""Keys of causal tiles at head dim 128 where the tiles fill all places of two blocks an SM twice, but for
this share at most: 1 to 4 % less time than 64 (512 tiles); of 448 tiles or 576 they take 2 to 3 % more."""


def hopper_keys(problem: Problem) -> int:
    """Keys of a tile, where no registers are spilled with so many."""
    masked = problem.window is not None or problem.block_mask is not None or not problem.even
    terms = problem.softcap is not None or problem.alibi  # which take registers
    if problem.widest_dim <= NARROW_HEAD:
        long = problem.seqlen_k >= LONG and {problem.head_dim, problem.value_dim} <= set(LONG_HEADS)
        return LONG_KEYS if long and not (masked or terms or problem.causal) else KEYS
    few = problem.widest_dim == MIDDLE_HEAD and problem.causal and not masked
    return FEW_KEYS if few and _fill_two_rounds(problem) else KEYS


def _fill_two_rounds(problem: Problem) -> bool:
    tiles = problem.batch * problem.heads * ceil(problem.seqlen_q / ROWS)
    places = 2 * BLOCKS_PER_SM * SMS
    return NEARLY_FULL * places <= tiles <= places
