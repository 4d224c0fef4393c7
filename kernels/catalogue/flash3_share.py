"""How flash3 shares a problem among the SMs: tiles of queries, heads packed into them, parts of their keys.

Where there are few tiles, the last of them leave SMs idle. Then tiles of fewer queries win, or keys in parts
whose results a second launch merges. `share` compares what they cost by a model whose constants are times
measured on an H200 (flash3-attempts.md, "Few tiles"). It knows the problem alone and counts the 132 SMs of
H100 SXM and H200: every Hopper gives the same bits, and the workspace is known without a device.
"""

from collections.abc import Iterator
from functools import lru_cache, partial
from itertools import product
from math import ceil, inf
from typing import NamedTuple

from flashscope.kernels.catalogue.flash3_steps import (
    GROUP_ROWS,
    HALVED_KEYS,
    STEP_COSTS,
    causal_cost,
    row_cost,
)
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.walk import longest_walk, walks

SMS = 132
PANEL = 64  # columns of a tile in shared memory, which are padded to whole ones
SHORT_KEYS, SHORT_BLOCK_KEYS = 3072, 4096  # of uneven batches, of blocks: up to here 128 keys a tile win
BLOCKS_TILE = 176  # keys of a tile beyond them, under a block mask
NARROW_HEAD, MIDDLE_HEAD, WIDE_HEAD = 64, 128, 192
FEW_KEYS = 256  # up to here tiles of 64 keys gain 3 to 5 %: nothing hides the first and the last
MOST_GROUPS_SHARED = 2  # warpgroups with packed heads or parts, but for few rows before many keys
MANY_WAVES = 6  # from so many tiles an SM on the usual tile wins
FEW_WAVES = 2  # up to so many tiles an SM all that counts is how many waves they are

STEP_KEYS, STEP_US, STEP_US_A_GROUP = 128, 0.6, 0.27  # of a step at head dim 64, and of each warpgroup in it
SM_BYTES_A_US = 48_500  # that every SM can load at once from the L2
TILE_US = {1: 1.4, 2: 2.2, 3: 3.3}  # of a tile besides its steps, by warpgroups
AGAIN = 1.15  # more, for tiles of one warpgroup that follow each other
MERGE_US, MERGE_BYTES_A_US = 3.0, 3e6
IDLE_READING, TAIL, READ_MERGE_US = 0.16, 0.05, 1.5
"""Where the memory sets the pace: time lost to idle SMs, in their share; to a part that is still read when
the others end, in its time; to a merge, which begins meanwhile (H100)."""
PACKED_SHARE = 0.975  # of the tiles of heads alone: up to here packed ones win (H100)
DRAM_BYTES_A_US = 4.2e6
MOST_PARTS_OF_MANY = 8  # where tiles fill more than half of the SMs
MOST_WIDE_PARTS, LONG_READ = 11, 16384
"""The same over `WIDE_HEAD` from so many keys on, where tiles of 80 keys win, too (H100)."""
PART_KEYS = 128  # of a part at least
SURE, LAUNCH_US = 0.9, 4.8  # of the usual way's time, with what a launch takes: up to here others win (H100)
SURE_WIDE = 0.75  # over `WIDE_HEAD`: there they gain as little as 0.77 of what the model says (H100)
BEFORE_KEYS, KEYS_A_ROW = 1024, 4  # from here on, and from so many for each row, other ways are looked at
PAGED_KEYS, WIDE_PAGED_KEYS = 128, 64  # of a tile, whole pages or part of one; the second for wide heads
LONG_OF_UNEVEN = 1024  # keys: from here on uneven tiles are better not drawn early
LONG_NARROW, LONG_WIDE = 16384, 8192  # keys: tiles of head dim 64, causal ones over 192 wait from here on


class TileShape(NamedTuple):
    """A tile: consumer warpgroups of 64 query rows, and keys."""

    groups: int
    block_k: int

    @property
    def rows(self) -> int:
        """Query rows of a tile, Br."""
        return self.groups * GROUP_ROWS


FEW_ROWS_SHAPE = TileShape(1, 64)  # of few queries; two blocks of it fit an SM up to `MIDDLE_HEAD`


class Share(NamedTuple):
    """What one block works on at a time, and why.

    Attributes:
        shape: Its tile; under a block mask the mask decides instead.
        pack_gqa: Query heads whose rows fill tiles together: all that share K and V, or 1.
        splits: Parts that a tile's keys are cut into; above 1 a second launch merges their results.
        draws: Whether blocks stay and draw tiles; else each has one, and starts where there is room.
        residents: Blocks side by side on an SM: one starts or ends while the other keeps the memory busy.
        reason: Why, in words.
    """

    shape: TileShape
    pack_gqa: int = 1
    splits: int = 1
    draws: bool = True
    residents: int = 1
    reason: str = ""


class TileLoad(NamedTuple):
    """The tiles of a problem in one shape.

    Attributes:
        tiles: How many there are, of all heads.
        longest: Keys that the longest walks over.
        mean: Keys that they walk over on average.
    """

    tiles: int
    longest: int
    mean: float


@lru_cache(maxsize=64)
def usual_shape(problem: Problem) -> TileShape:
    """The tile that wins where there are many.

    Measured on an H200, but for head dim 224, for pages, for softcapped scores and, over head dim 64, biased
    ones: for these registers are too few in three warpgroups.
    """
    shape = _plain_shape(problem)
    if shape.groups <= MOST_GROUPS_SHARED:
        return shape
    short = problem.softcap is not None or (problem.alibi and problem.head_dim > NARROW_HEAD)
    return TileShape(MOST_GROUPS_SHARED, HALVED_KEYS) if short else shape


def _plain_shape(problem: Problem) -> TileShape:
    head_dim = problem.widest_dim
    if problem.page_size is not None:
        return _paged_shape(head_dim)
    if head_dim <= NARROW_HEAD:
        return TileShape(3, 128)
    if head_dim <= 96:  # noqa: PLR2004 - a table of head dims
        return TileShape(3, 112)
    if head_dim <= MIDDLE_HEAD:
        return TileShape(2, _middle_keys(problem))
    if head_dim <= WIDE_HEAD:
        wide_keys = 112 if head_dim <= 160 else 96  # noqa: PLR2004 - a table of head dims
        return TileShape(2, HALVED_KEYS if problem.value_dim <= MIDDLE_HEAD else wide_keys)
    return TileShape(2, 80)


def _middle_keys(problem: Problem) -> int:
    """Keys of a tile at head dim 128: those whose steps cost least."""
    keys, features = problem.longest_keys, problem.features
    if "block_mask" in features:
        return HALVED_KEYS if keys <= SHORT_BLOCK_KEYS else BLOCKS_TILE
    if "window" in features:
        return HALVED_KEYS
    if "ragged" in features:
        return HALVED_KEYS if keys <= SHORT_KEYS else max(STEP_COSTS)
    if problem.alibi and problem.rows <= 2 * SMS * 2 * GROUP_ROWS:  # of a block a tile registers are too few
        return HALVED_KEYS
    if not problem.causal:
        # In one wave nothing hides a tile's first step and its last one.
        one_wave = _tiles(problem, TileShape(2, HALVED_KEYS), 1) <= SMS
        return HALVED_KEYS if one_wave else min(STEP_COSTS, key=partial(row_cost, keys))
    return min((HALVED_KEYS, max(STEP_COSTS)), key=partial(causal_cost, problem))


def _paged_shape(head_dim: int) -> TileShape:
    """Keys of a tile that pages of every size make up, or that make up pages."""
    groups = 3 if head_dim <= NARROW_HEAD else 2
    return TileShape(groups, PAGED_KEYS if head_dim <= MIDDLE_HEAD else WIDE_PAGED_KEYS)


def small_shapes(problem: Problem) -> Iterator[TileShape]:
    """Tiles of fewer queries than the usual one, the smallest last."""
    usual, panels = usual_shape(problem), ceil(problem.widest_dim / PANEL)
    few = problem.longest_keys <= FEW_KEYS
    if panels <= 2:  # noqa: PLR2004 - two warpgroups' tiles of 64 keys were measured up to head dim 128
        if few or usual.groups > MOST_GROUPS_SHARED:
            yield TileShape(2, 64 if few else 128)
        yield TileShape(1, 64 if few or _streams(problem) else 128)
    else:
        wide = problem.widest_dim > WIDE_HEAD and not _reads_long(problem)
        yield TileShape(1, 64 if wide or problem.page_size is not None else 80)


def _streams(problem: Problem) -> bool:
    """Whether a tile of one warpgroup waits for keys: of few rows, or of a whole head with its own keys."""
    alone = problem.heads == problem.key_heads
    return problem.seqlen_q < GROUP_ROWS or (problem.seqlen_q == GROUP_ROWS and alone)


def _reads_long(problem: Problem) -> bool:
    """Whether few queries of wide heads have more tiles than half of the SMs, and many keys each."""
    few = problem.seqlen_q <= GROUP_ROWS and problem.head_dim > WIDE_HEAD and problem.page_size is None
    if not few or problem.longest_keys < LONG_READ:
        return False
    return SMS < 2 * _tiles(problem, FEW_ROWS_SHAPE, problem.heads // problem.key_heads) <= 2 * SMS


@lru_cache(maxsize=4096)
def share(problem: Problem) -> Share:
    """The share that costs least by the model; the usual one where tiles are many."""
    if problem.block_mask is not None:
        return _share_of_blocks(problem)
    usual = usual_shape(problem)
    shape = usual if problem.seqlen_q > GROUP_ROWS else [*small_shapes(problem)][-1]
    pack_gqa = packed_heads(problem, shape)
    tiles = _tiles(problem, shape, pack_gqa)
    if tiles > MANY_WAVES * SMS:
        told = f"{tiles:,} tiles of {shape.rows} queries keep {SMS} SMs busy"
        found = Share(shape, pack_gqa, reason="; ".join((told, *_packing(pack_gqa))))
        return found._replace(draws=not _long(problem, found), residents=_residents(problem, found))
    best = min(_candidates(problem), key=lambda found: _cost(problem, found))
    best = _surely_better(problem, best) or best
    best = best._replace(draws=_draws(problem, best), residents=_residents(problem, best))
    return best._replace(reason=_reason(problem, best))


def _share_of_blocks(problem: Problem) -> Share:
    """Under a block mask keys are split, if anything."""
    usual = TileShape(2, usual_shape(problem).block_k)
    if _tiles(problem, usual, 1) > SMS:
        return Share(usual, reason="the block mask decides")
    found = [Share(usual, splits=splits) for splits in _parts(problem, usual, 1)]
    best = min(found, key=lambda one: _cost(problem, one))
    return best._replace(reason=_reason(problem, best))


def _candidates(problem: Problem) -> Iterator[Share]:
    for shape in (usual_shape(problem), *small_shapes(problem)):
        pack_gqa = packed_heads(problem, shape)
        for splits in _parts(problem, shape, pack_gqa) if shape.groups <= MOST_GROUPS_SHARED else (1,):
            yield Share(shape, pack_gqa, splits)


def _surely_better(problem: Problem, best: Share) -> Share | None:
    """Another way than the usual ones, where the model says that it saves more than the model errs.

    Of few rows before many keys: there the tiles of packed heads walk over hardly more keys under a causal
    mask, and may be a wave less; parts may fill the last wave. The keys are read in any case.
    """
    few = problem.seqlen_k >= max(BEFORE_KEYS, KEYS_A_ROW * problem.seqlen_q)
    if problem.features - {"causal", "gqa"} or not few:
        return None
    ways = product((usual_shape(problem), *small_shapes(problem)), (1, problem.heads // problem.key_heads))
    found = (
        Share(*way, splits) for way in ways for splits in _parts(problem, *way, most_tiles=FEW_WAVES * SMS)
    )
    other = min(found, key=lambda one: _cost(problem, one))
    least, most = (LAUNCH_US + max(_reading_us(problem), _cost(problem, one)) for one in (other, best))
    sure = SURE_WIDE if problem.head_dim > WIDE_HEAD else SURE
    return other if least <= sure * most else None


def packed_heads(problem: Problem, shape: TileShape) -> int:
    """Query heads that share K and V, where together they fill tiles better than each alone; else 1.

    They lie one after the other in memory, so that together they are one head of as many times the rows. A
    tile then walks over all keys that any row of a head sees: under a mask that pays where one head does not
    fill a tile.
    """
    group = problem.heads // problem.key_heads
    if shape.groups > MOST_GROUPS_SHARED:
        return 1
    if problem.seqlen_q < shape.rows:
        return group
    if problem.features - {"gqa"} or shape != usual_shape(problem):
        return 1
    groups = problem.batch * problem.key_heads
    alone = groups * group * ceil(problem.seqlen_q / shape.rows)
    together = groups * ceil(group * problem.seqlen_q / shape.rows)
    few = alone <= FEW_WAVES * SMS and ceil(together / SMS) == ceil(alone / SMS)
    return 1 if few or together > PACKED_SHARE * alone else group


def lifted_rows(problem: Problem, chosen: Share) -> int:
    """Rows before a head's first at which its tiles begin, to meet the diagonal as a square's tiles do.

    Where keys are more than rows, and not by a multiple of `GROUP_ROWS`, warpgroups would end within key
    tiles: each would compute what none of its rows sees. It is done where no tile more is needed for it,
    where halves of key tiles are computed (flash3_layout.cuh), and where registers are left for it.
    """
    beyond, rows = problem.seqlen_k - problem.seqlen_q, chosen.shape.rows
    plain = problem.causal and beyond > 0 and not problem.features - {"causal", "gqa"}
    whole = chosen.pack_gqa == 1 and chosen.splits == 1 and chosen.draws
    halved = chosen.shape.block_k == HALVED_KEYS and chosen.shape == usual_shape(problem)
    lift = beyond % GROUP_ROWS
    room = problem.head_dim == MIDDLE_HEAD and lift <= -problem.seqlen_q % rows
    return lift if plain and whole and halved and room else 0


def _parts(problem: Problem, shape: TileShape, pack_gqa: int, most_tiles: int = SMS) -> range:
    """Into how many parts keys of so many tiles may be cut: so that all fit the SMs at once, or few."""
    load = _load(problem, shape, pack_gqa)
    many = MOST_WIDE_PARTS if _reads_long(problem) else MOST_PARTS_OF_MANY
    most = max(many, SMS // load.tiles) if load.tiles <= most_tiles else 1
    return range(1, 1 + max(1, min(most, int(load.mean) // PART_KEYS)))


@lru_cache(maxsize=64)
def _load(problem: Problem, shape: TileShape, pack_gqa: int) -> TileLoad:
    """The tiles of all heads; packed ones take all keys that any query of a head sees."""
    tiles, rows = _tiles(problem, shape, pack_gqa), problem.seqlen_q if pack_gqa > 1 else shape.rows
    if problem.block_mask is not None:
        keys = problem.kept_pairs / problem.seqlen_q
        return TileLoad(tiles, int(keys), keys)
    longest = of_all = number = 0
    for one, count in problem.alike.items():
        longest = max(longest, longest_walk(one.mask, rows))
        of_all += count * sum(walk.blocks for walk in walks(one.mask, rows, 1))
        number += count * ceil(one.seqlen_q / rows)
    return TileLoad(tiles, longest, of_all / max(1, number))


def _tiles(problem: Problem, shape: TileShape, pack_gqa: int) -> int:
    """Tiles that have something to compute, of all heads; at least one."""
    found = problem.alike.items()  # packed heads lie apart by the padding
    rows = ((problem.seqlen_q if pack_gqa > 1 else one.seqlen_q, count) for one, count in found)
    return (
        problem.heads // pack_gqa * sum(count * ceil(one * pack_gqa / shape.rows) for one, count in rows) or 1
    )


def _cost(problem: Problem, found: Share) -> float:
    """What the model says of a share, in microseconds; infinite where parts gain nothing."""
    load = _load(problem, found.shape, found.pack_gqa)
    items = load.tiles * found.splits
    longest, mean = (_item_us(problem, found, keys / found.splits) for keys in (load.longest, load.mean))
    even = load.longest - load.mean < STEP_KEYS
    computing_us = ceil(items / SMS) * longest if even else max(longest, items / SMS * mean)
    computing_us *= AGAIN if found.shape.groups == 1 and load.tiles > SMS else 1
    if found.splits == 1:
        return computing_us
    merged_bytes = items * min(found.shape.rows, problem.seqlen_q * found.pack_gqa) * problem.value_dim * 8
    merged_us, whole_us = merged_bytes / MERGE_BYTES_A_US, _cost(problem, found._replace(splits=1))
    reading_us = _reading_us(problem)
    if whole_us >= reading_us:
        return computing_us + MERGE_US + merged_us
    if problem.seqlen_q > GROUP_ROWS:
        return inf
    # The memory sets the pace already: all that parts can gain is that fewer SMs are idle meanwhile.
    idle = _idle(load.tiles) - _idle(items)
    return whole_us + READ_MERGE_US + merged_us + TAIL * mean - IDLE_READING * idle * reading_us


def _idle(items: int) -> float:
    """Rounds of items that leave SMs idle, in parts of those that do not."""
    return ceil(items / SMS) * SMS / items - 1


def _reading_us(problem: Problem) -> float:
    """What the memory takes for Q, K and V without padding."""
    return sum(count * one.input_bytes for one, count in problem.alike.items()) / DRAM_BYTES_A_US


def _item_us(problem: Problem, found: Share, keys: float) -> float:
    """One tile, or part of it: its steps, and what comes before and after them."""
    groups, head_dim = found.shape.groups, problem.head_dim
    products = STEP_US + STEP_US_A_GROUP * groups * head_dim / NARROW_HEAD
    loads = 2 * STEP_KEYS * head_dim * problem.itemsize / SM_BYTES_A_US
    return keys / STEP_KEYS * max(products, loads) + TILE_US[groups]


def _draws(problem: Problem, found: Share) -> bool:
    """Whether blocks stay: each draws its next tile early, which is bad for uneven ones, two for an SM.

    Tiles of few queries end when the memory has delivered: who waits for it had better not hold a second one.
    """
    if problem.seqlen_q <= GROUP_ROWS or _long(problem, found):
        return False
    load = _load(problem, found.shape, found.pack_gqa)
    items = load.tiles * found.splits
    uneven = load.longest >= LONG_OF_UNEVEN and load.longest - load.mean >= STEP_KEYS
    return items > (2 * SMS if uneven else SMS)


def _residents(problem: Problem, found: Share) -> int:
    """Two blocks an SM where few queries leave room for them, and there are more than one an SM."""
    fit = found.shape == FEW_ROWS_SHAPE and problem.widest_dim <= MIDDLE_HEAD
    items = _tiles(problem, found.shape, found.pack_gqa) * found.splits
    return 2 if fit and problem.seqlen_q < GROUP_ROWS and items > SMS else 1


def _long(problem: Problem, found: Share) -> bool:
    """Whether a tile walks over so many keys that it is better not drawn before its turn."""
    wide = problem.head_dim > WIDE_HEAD
    if not (problem.causal if wide else problem.head_dim <= NARROW_HEAD):
        return False
    least = (LONG_WIDE if wide else LONG_NARROW) * found.splits
    return problem.longest_keys >= least and _load(problem, found.shape, found.pack_gqa).longest >= least


def _packing(heads: int) -> tuple[str, ...]:
    return (f"the {heads} query heads of a K/V head fill tiles together",) if heads > 1 else ()


def _reason(problem: Problem, found: Share) -> str:
    usual, tiles = usual_shape(problem), _load(problem, found.shape, found.pack_gqa).tiles
    told = [f"{SMS} SMs get {tiles} tiles of {found.shape.rows} queries"]
    if found.shape.groups < usual.groups and found.pack_gqa == 1:
        told.append(f"not {_tiles(problem, usual, 1)} of {usual.rows}, which use them less")
    told += _packing(found.pack_gqa)
    if found.splits > 1:
        told.append(f"keys are cut into {found.splits} parts, merged by a second launch")
    if found.residents > 1:
        told.append("two blocks share an SM, one starts while the other one reads")
    if problem.page_size is not None:
        told.append(f"{found.shape.block_k} keys a tile suit pages of {problem.page_size}")
    return "; ".join(told)
