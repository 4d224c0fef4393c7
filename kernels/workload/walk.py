"""Which key blocks the query blocks of a problem visit, counted without visiting them.

A problem of a file may have 2^52 rows, so that no count here takes a step for each. A band of pairs makes
each query block visit the key blocks between two lines over its place, whose floors are summed as in Euclid's
algorithm (Graham, Knuth, Patashnik, Concrete Mathematics, 1994, section 3.5); a block mask is looked at
whole, in arrays.
"""

from functools import lru_cache
from typing import Any, NamedTuple

from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.mask import Mask


class Walk(NamedTuple):
    """Query blocks of one size, and the key blocks of which the masks keep a pair for them.

    Attributes:
        queries: Query blocks.
        rows: Rows of each.
        blocks: Key blocks that they visit, of all of them together.
        lasts: How many of them visit the last key block, which may be a shorter one.
    """

    queries: int
    rows: int
    blocks: int
    lasts: int


class Loaded(NamedTuple):
    """Key blocks that any query block visits: how many, and whether the last one is among them."""

    blocks: int
    last: bool


def walks(mask: Mask, block_q: int, block_k: int) -> list[Walk]:
    """The whole query blocks, and the shorter last one where there is one."""
    whole, rest = divmod(mask.seqlen_q, block_q)
    if mask.blocks is not None:
        tiles = _kept_tiles(mask, mask.blocks, block_q, block_k)
        counts = tiles.sum(axis=1), tiles[:, -1]
        spans = [(0, whole, block_q), (whole, whole + 1, rest)] if rest else [(0, whole, block_q)]
        return [
            Walk(stop - start, rows, *(int(of_each[start:stop].sum()) for of_each in counts))
            for start, stop, rows in spans
            if stop > start
        ]
    band = _Band(mask, block_q, block_k)
    found = [Walk(whole, block_q, *band.visited(0, whole))] if whole else []
    return [*found, Walk(1, rest, *band.visited(whole, whole + 1))] if rest else found


def loaded(mask: Mask, block_q: int, block_k: int) -> Loaded:
    """The key blocks that are visited at all."""
    if mask.blocks is not None:
        seen = _kept_tiles(mask, mask.blocks, block_q, block_k).any(axis=0)
        return Loaded(int(seen.sum()), bool(seen[-1]))
    first, stop = (
        max(0, mask.lowest) // block_k,
        _ceil(min(mask.seqlen_k, mask.seqlen_q + mask.highest), block_k),
    )
    return Loaded(stop - first, stop == _ceil(mask.seqlen_k, block_k))


def longest_walk(mask: Mask, block_q: int) -> int:
    """The most keys that a query block walks over, from the first to the last that any of its rows sees.

    It grows until a block sees the first key no more, and shrinks from where one sees the last: the longest
    is at one of these places.
    """
    band, last = _Band(mask, block_q, 1), _ceil(mask.seqlen_q, block_q) - 1
    near = (at + step for at in band.turns for step in (-1, 0, 1))
    return max(band.visited(at, at + 1)[0] for at in (0, last, *(min(max(at, 0), last) for at in near)))


class _Band:
    """Query blocks over a band of pairs; block i has the keys from i * block_q + lowest on."""

    def __init__(self, mask: Mask, block_q: int, block_k: int) -> None:
        self.mask, self.block_q, self.block_k = mask, block_q, block_k
        self.key_blocks = _ceil(mask.seqlen_k, block_k)
        self.turns = (
            _ceil(-mask.lowest, block_q),  # the first that begins behind key 0
            _ceil(mask.seqlen_k - mask.highest, block_q) - 1,  # the first that ends with the last key
        )

    def visited(self, start: int, stop: int) -> tuple[int, int]:
        """Key blocks that the query blocks from `start` to `stop` visit, and how many see the last."""
        if stop - start == 1:
            return self._of_one(start)
        seen = max(start, -self.mask.highest // self.block_q)
        end = min(stop, _ceil(self.mask.seqlen_k - self.mask.lowest, self.block_q))
        if end <= seen:
            return 0, 0
        behind, ended = (min(max(at, seen), end) for at in self.turns)
        first = _floors(behind, end, self.block_q, self.mask.lowest, self.block_k)
        up = self.block_q + self.mask.highest + self.block_k - 1  # a ceiling is a floor from there
        stops = _floors(seen, ended, self.block_q, up, self.block_k) + (end - ended) * self.key_blocks
        sees_last = ((self.key_blocks - 1) * self.block_k - self.mask.highest) // self.block_q
        return stops - first, end - min(max(sees_last, seen), end)

    def _of_one(self, at: int) -> tuple[int, int]:
        rows_end = min((at + 1) * self.block_q, self.mask.seqlen_q)
        low, high = (
            max(0, at * self.block_q + self.mask.lowest),
            min(self.mask.seqlen_k, rows_end + self.mask.highest),
        )
        if low >= high:
            return 0, 0
        stop = _ceil(high, self.block_k)
        return stop - low // self.block_k, int(stop == self.key_blocks)


def _floors(start: int, stop: int, slope: int, offset: int, divisor: int) -> int:
    """The sum of floor((slope * i + offset) / divisor) over start <= i < stop, where no term is negative."""
    count, total = stop - start, 0
    offset += slope * start
    while count > 0:
        total += count * (count - 1) // 2 * (slope // divisor) + count * (offset // divisor)
        slope, offset = slope % divisor, offset % divisor
        count, offset = divmod(slope * count + offset, divisor)
        slope, divisor = divisor, slope
    return total


@lru_cache(maxsize=8)  # each formula of a table asks for those of the row before
def _kept_tiles(mask: Mask, blocks: BlockMask, block_q: int, block_k: int) -> Any:
    """Of which tiles the masks keep a pair: bool (query blocks, key blocks).

    The matrix is cut at the edges of tiles and of blocks, and each part looked at: it is kept where its block
    is and the band meets it.
    """
    import numpy as np  # noqa: PLC0415 - the messages stay importable in milliseconds

    rows, columns = (
        _cuts(mask.seqlen_q, block_q, blocks.block_q),
        _cuts(mask.seqlen_k, block_k, blocks.block_k),
    )
    least = columns[None, :-1] - (rows[1:, None] - 1)
    most = columns[None, 1:] - 1 - rows[:-1, None]
    meets = np.maximum(least, mask.lowest) <= np.minimum(most, mask.highest)
    kept = blocks.array()[np.ix_(rows[:-1] // blocks.block_q, columns[:-1] // blocks.block_k)] & meets
    tops, lefts = (
        np.flatnonzero(cuts[:-1] % size == 0) for cuts, size in ((rows, block_q), (columns, block_k))
    )
    return np.logical_or.reduceat(np.logical_or.reduceat(kept, tops, axis=0), lefts, axis=1)


def _cuts(length: int, *sizes: int) -> Any:
    """Where tiles and blocks of these sizes begin, and the end: int64, rising."""
    import numpy as np  # noqa: PLC0415 - as above

    return np.unique(np.concatenate([*(np.arange(0, length, size) for size in sizes), [length]]))


def parts(mask: Mask, block_q: int, block_k: int) -> int:
    """How many parts are looked at to tell what is visited, at most; 1 without a block mask."""
    if mask.blocks is None:
        return 1
    rows, columns = mask.blocks.shape
    return (_ceil(mask.seqlen_q, block_q) + rows) * (_ceil(mask.seqlen_k, block_k) + columns)


def _ceil(number: int, divisor: int) -> int:
    return -(-number // divisor)
