"""What the tile loops of kernels move in shared memory on a GPU, by formula.

The products of a tile read their operands from shared memory, and the copies of Q, K and V write them there.
How often a tile is read depends on who holds what. Every warp of flash2 reads all of K and V for its own
rows (ldmatrix, mma.sync). Every warpgroup of flash3 does (wgmma), and its rows of Q again for each key tile.
So both read a byte of K and V as often as they have warps, or warpgroups, to a tile. O on its way out is not
counted. `tests/kernels/cuda/test_emulated_shared.py` counts the same bytes in the emulator.
"""

from collections.abc import Callable
from math import ceil

from msgspec import structs

from flashscope.kernels.catalogue.flash2_cut import MIDDLE_HEAD, NARROW_HEAD, USUAL, hopper_tile
from flashscope.kernels.catalogue.flash3_share import (
    PANEL,
    Share,
    lifted_rows,
    share,
    usual_shape,
)
from flashscope.kernels.catalogue.flash3_steps import GROUP_ROWS, HALF_KEYS, HALVED_KEYS
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.walk import walks

SharedTraffic = Callable[[Problem], int]
"""Bytes that a forward pass of a problem in 16 bits moves, whose sequences are alike."""

ELEMENT = 2  # bytes
FRAGMENT = 16  # columns of an operand of mma.sync and wgmma, to which head dims are rounded up
MANY_WARPS = 8  # of a block of flash2 beyond `MIDDLE_HEAD`


def flash2_shared(problem: Problem) -> int:
    """Of flash2 as it is cut on Hopper."""
    narrow = problem.head_dim <= MIDDLE_HEAD
    return flash2_shared_as(problem, *(hopper_tile(problem) if narrow else USUAL._replace(warps=MANY_WARPS)))


def flash2_shared_as(problem: Problem, rows: int, keys: int, warps: int) -> int:
    """Of flash2 in tiles of so many query rows and keys, by blocks of so many warps."""
    width, heads = _round_up(problem.head_dim, FRAGMENT), problem.batch * problem.heads
    row_tiles = heads * ceil(problem.seqlen_q / rows)
    visited = heads * sum(walk.blocks for walk in walks(problem.mask, rows, keys))
    of_q, of_keys = rows * width * ELEMENT, keys * width * ELEMENT
    q_reads = row_tiles if problem.head_dim <= NARROW_HEAD else visited
    return visited * 2 * of_keys * (warps + 1) + of_q * (row_tiles + q_reads)


def flash3_shared(problem: Problem) -> int:
    """Of flash3."""
    return flash3_shared_as(problem, share(problem))


def flash3_step_shared(problem: Problem) -> int:
    """Of the steps before flash3, whose tiles are the usual ones, and whole."""
    return flash3_shared_as(problem, Share(usual_shape(problem), draws=False))


def flash3_first_shared(problem: Problem) -> int:
    """Of flash3-a, where every warpgroup multiplies all key tiles of its tile."""
    return flash3_shared_as(problem, Share(usual_shape(problem)), all_alike=True)


def flash3_shared_as(problem: Problem, chosen: Share, *, all_alike: bool = False) -> int:
    """Of flash3 shared out so.

    Copies fill key tiles for a whole tile; a warpgroup's products leave out those that it sees none of.

    Args:
        problem: What is computed.
        chosen: How.
        all_alike: Whether every warpgroup multiplies all key tiles of its tile.
    """
    if not all_alike:  # tiles that begin before the first row are those of a problem of more rows
        problem = structs.replace(problem, seqlen_q=problem.seqlen_q + lifted_rows(problem, chosen))
    keys, rows, packed = chosen.shape.block_k, chosen.shape.rows, chosen.pack_gqa
    heads = problem.batch * problem.heads // packed
    row_tiles = heads * ceil(problem.seqlen_q * packed / rows)
    if packed == 1:
        copied = heads * sum(walk.blocks for walk in walks(problem.mask, rows, keys))
        multiplied = (
            chosen.shape.groups * copied if all_alike else heads * _by_warpgroups(problem, rows, keys)
        )
    else:  # all rows take all keys that any query of a head sees
        seen = sum(walk.blocks for walk in walks(problem.mask, problem.seqlen_q, keys))
        copied, multiplied = row_tiles * seen, heads * ceil(problem.seqlen_q * packed / GROUP_ROWS) * seen
    read, written = (_round_up(problem.head_dim, unit) * ELEMENT for unit in (FRAGMENT, PANEL))
    q_copies = chosen.splits * row_tiles * rows
    halved = 0 if all_alike else HALF_KEYS * heads * _halved(problem, chosen)
    of_products = multiplied * (GROUP_ROWS + 2 * keys) - halved
    return of_products * read + (2 * keys * copied + q_copies) * written


def _halved(problem: Problem, chosen: Share) -> int:
    """Halves of first key tiles, of K and of V, that the warpgroups of a head leave out: none of theirs.

    Under a causal mask that is every other one, where its rows end with half a tile; without one, and of
    packed heads, all or none. Of an only tile V is multiplied whole.
    """
    usual = chosen.shape == usual_shape(problem) and chosen.draws and chosen.splits == 1
    if not usual or chosen.shape.block_k != HALVED_KEYS or problem.window is not None:
        return 0
    whole, rest = divmod(problem.seqlen_q, GROUP_ROWS)
    last_keys = (problem.seqlen_k - 1) % HALVED_KEYS + 1
    ends_in_half, alone = last_keys <= HALF_KEYS, problem.seqlen_k <= HALF_KEYS
    diagonal = problem.seqlen_k - problem.seqlen_q
    if not problem.causal or chosen.pack_gqa > 1:  # the first row sees all keys of the tiles before
        ends_in_half &= not problem.causal or diagonal + 1 >= problem.seqlen_k - last_keys
        groups = ceil(problem.seqlen_q * chosen.pack_gqa / GROUP_ROWS)
        return groups * ends_in_half * (1 if alone else 2)
    first = max(0, -diagonal // GROUP_ROWS)  # that sees any key
    ends = [GROUP_ROWS * (first + turn) + diagonal for turn in (1, 2)]
    turns = [turn for turn, end in enumerate(ends) if HALF_KEYS - 1 <= end % HALVED_KEYS <= HALF_KEYS]
    halving = sum(2 * ((max(0, whole - first) - turn + 1) // 2) for turn in turns)
    only = sum(ends[turn] <= HALF_KEYS and whole - first > turn for turn in turns)
    begins = problem.seqlen_k - last_keys
    last = rest > 0 and ends_in_half and problem.seqlen_k - rest + 1 >= begins
    return halving - only + last * (1 if alone else 2)


def _by_warpgroups(problem: Problem, rows: int, keys: int) -> int:
    """Key tiles of all warpgroups of a head: from where their tile begins to where their own rows end."""
    window = problem.window
    far = window and (problem.seqlen_q + problem.seqlen_k, window[1])
    from_first = structs.replace(problem, window=far).mask
    ends = sum(walk.blocks for walk in walks(from_first, GROUP_ROWS, keys))
    if window is None:
        return ends
    pairs = zip(walks(from_first, rows, keys), walks(problem.mask, rows, keys), strict=True)
    return ends - sum((whole.blocks - walk.blocks) * ceil(walk.rows / GROUP_ROWS) for whole, walk in pairs)


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit
