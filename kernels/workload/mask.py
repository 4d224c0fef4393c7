"""Which (query, key) pairs of one head are kept: causal, window and block mask as one thing.

Causal and window keep a band of the score matrix, as FlashAttention defines it: with D = Nk - Nq a query q
sees the keys q + D - left <= k <= q + D + right. Causal sets right to 0; a side of -1 is unbounded. A block
mask takes whole blocks out of that band.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from flashscope.kernels.workload.block_mask import BlockMask

AT_ONCE = 1 << 18  # blocks that are counted together: a few milliseconds of work


class Mask(NamedTuple):
    """The pairs kept of one head; the same for all heads.

    Attributes:
        seqlen_q: Nq.
        seqlen_k: Nk.
        lowest: A kept pair has lowest <= k - q ...
        highest: ... and k - q <= highest; both are clamped to what can occur.
        blocks: Blocks that are kept; None: all.
    """

    seqlen_q: int
    seqlen_k: int
    lowest: int
    highest: int
    blocks: BlockMask | None = None

    @classmethod
    def of(
        cls,
        seqlen_q: int,
        seqlen_k: int,
        *,
        causal: bool = False,
        window: tuple[int, int] | None = None,
        blocks: BlockMask | None = None,
    ) -> "Mask":
        """The mask of these options, as `Problem` has them."""
        left, right = window or (-1, -1)
        if causal:
            right = 0
        shift = seqlen_k - seqlen_q
        lowest = 1 - seqlen_q if left < 0 else max(1 - seqlen_q, shift - left)
        highest = seqlen_k - 1 if right < 0 else min(seqlen_k - 1, shift + right)
        return cls(seqlen_q, seqlen_k, lowest, highest, blocks)

    def band(self, row: int) -> range:
        """The keys inside the band of one query; the block mask may drop some of them."""
        return range(max(0, row + self.lowest), max(0, min(self.seqlen_k, row + self.highest + 1)))

    def span(self, rows: slice) -> range:
        """The keys inside the band of any of these queries; the block mask may drop some of them."""
        first, last = max(0, rows.start + self.lowest), min(self.seqlen_k, rows.stop + self.highest)
        return range(first, max(first, last))

    def hides(self, rows: slice, columns: slice) -> bool:
        """Whether a pair of a tile may be hidden; False only where all are kept."""
        in_band = (
            columns.stop - 1 - rows.start <= self.highest and columns.start - rows.stop + 1 >= self.lowest
        )
        return self.blocks is not None or not in_band

    def keeping(self, key: int, rows: slice) -> Any:
        """Which of these queries keep a key: NumPy bool (rows,)."""
        import numpy as np  # noqa: PLC0415 - the messages stay importable in milliseconds

        queries = np.arange(rows.start, rows.stop)
        kept = (key - queries >= self.lowest) & (key - queries <= self.highest)
        if self.blocks is not None:
            kept &= self.blocks.array()[queries // self.blocks.block_q, key // self.blocks.block_k]
        return kept

    def keeps(self, rows: slice, columns: slice) -> bool:
        """Whether any pair of a tile of queries and keys is kept; a tile without one is never computed."""
        return any(_meets(part, self.lowest, self.highest) for part in self._kept_parts(rows, columns))

    def dropped(self, rows: slice, columns: slice) -> Iterator[tuple[slice, slice]]:
        """The parts of a tile that the block mask drops, as queries and keys."""
        return (part for part, kept in self._parts(rows, columns) if not kept)

    def kept_pairs(self) -> int:
        """How many pairs are kept, exactly."""
        if self.blocks is None and self.lowest == 1 - self.seqlen_q and self.highest == self.seqlen_k - 1:
            return self.seqlen_q * self.seqlen_k
        return _kept_pairs(self)

    def pairs(self, rows: slice, columns: slice) -> int:
        """How many pairs of a tile are kept, exactly."""
        return sum(
            _pairs_up_to(part, self.highest) - _pairs_up_to(part, self.lowest - 1)
            for part in self._kept_parts(rows, columns)
        )

    def _kept_parts(self, rows: slice, columns: slice) -> Iterator[tuple[slice, slice]]:
        return (part for part, kept in self._parts(rows, columns) if kept)

    def _parts(self, rows: slice, columns: slice) -> Iterator[tuple[tuple[slice, slice], bool]]:
        """A tile cut along the blocks of the block mask, each part with whether it is kept."""
        if self.blocks is None:
            yield (rows, columns), True
            return
        for i, part_rows in _cut(rows, self.blocks.block_q):
            for j, part_columns in _cut(columns, self.blocks.block_k):
                yield (part_rows, part_columns), self.blocks.keeps(i, j)


class PackedMask(NamedTuple):
    """The pairs kept of the rows of several heads, one head after the other, as packed tiles have them.

    Attributes:
        mask: That of one head.
        head_rows: Rows from one head to the next; those behind the mask's own are padding and keep nothing.
    """

    mask: Mask
    head_rows: int

    def keeping(self, key: int, rows: slice) -> Any:
        """Which of these rows keep a key: NumPy bool (rows,)."""
        import numpy as np  # noqa: PLC0415 - as above

        kept = np.zeros(self.head_rows, bool)
        kept[: self.mask.seqlen_q] = self.mask.keeping(key, slice(0, self.mask.seqlen_q))
        return kept[np.arange(rows.start, rows.stop) % self.head_rows]

    def span(self, rows: slice) -> range:
        """The keys inside the band of any row of a head: a tile may have rows of several."""
        del rows
        return self.mask.span(slice(0, self.mask.seqlen_q))

    def keeps(self, rows: slice, columns: slice) -> bool:
        """Whether a tile is computed: wherever any row of a head keeps one of its keys."""
        del rows
        return self.mask.keeps(slice(0, self.mask.seqlen_q), columns)


def _cut(span: slice, block: int) -> Iterator[tuple[int, slice]]:
    """The blocks that a span touches: index, and the part of the span inside."""
    for index in range(span.start // block, -(-span.stop // block)):
        yield index, slice(max(span.start, index * block), min(span.stop, (index + 1) * block))


def _meets(part: tuple[slice, slice], lowest: int, highest: int) -> bool:
    """Whether a pair of the part has lowest <= k - q <= highest."""
    rows, columns = part
    least, most = columns.start - (rows.stop - 1), columns.stop - 1 - rows.start
    return bool(max(least, lowest) <= min(most, highest))


def _pairs_up_to(part: tuple[slice, slice], highest: int) -> int:
    """Pairs of the part with k - q <= highest: query q has highest + 1 + q - start of them, in 0 .. width."""
    rows, columns = part
    width = columns.stop - columns.start
    first, last = (highest + 1 + row - columns.start for row in (rows.start, rows.stop - 1))
    return _ramp_sum(last, width) - _ramp_sum(first - 1, width)


def _ramp_sum(last: int, width: int) -> int:
    """The sum of min(max(i, 0), width) over all i <= last."""
    if last <= 0:
        return 0
    ramp = min(last, width)
    return ramp * (ramp + 1) // 2 + width * (last - ramp)


@lru_cache(maxsize=256)
def _kept_pairs(mask: Mask) -> int:
    """Counted once a mask: a table asks again for every row it draws."""
    if mask.blocks is not None:
        return _kept_pairs_of_blocks(mask, mask.blocks)
    return mask.pairs(slice(0, mask.seqlen_q), slice(0, mask.seqlen_k))


def _kept_pairs_of_blocks(mask: Mask, blocks: BlockMask) -> int:
    """`Mask.pairs` of the whole matrix, many blocks at once: there may be millions."""
    rows, columns = blocks.shape
    step = max(1, AT_ONCE // columns)
    return sum(_kept_pairs_of_rows(mask, blocks, range(rows)[i : i + step]) for i in range(0, rows, step))


def _kept_pairs_of_rows(mask: Mask, blocks: BlockMask, rows: range) -> int:
    import numpy as np  # noqa: PLC0415 - the messages stay importable in milliseconds

    # What is multiplied here takes twice the bits of a length, which of a file may be any.
    kind = np.int64 if max(mask.seqlen_q, mask.seqlen_k) < 1 << 31 else object
    starts = (
        np.array(rows, kind)[:, None] * blocks.block_q,
        np.arange(blocks.shape[1]).astype(kind) * blocks.block_k,
    )
    ends = np.minimum(starts[0] + blocks.block_q, mask.seqlen_q), starts[1] + blocks.block_k
    width = np.minimum(ends[1], mask.seqlen_k) - starts[1]

    def ramp_sum(last: Any) -> Any:  # as _ramp_sum
        ramp = np.clip(last, 0, width)
        return ramp * (ramp + 1) // 2 + width * np.maximum(last - width, 0)

    def pairs_up_to(highest: int) -> Any:  # as _pairs_up_to
        before = highest + 1 - starts[1]
        return ramp_sum(before + ends[0] - 1) - ramp_sum(before + starts[0] - 1)

    return int(
        (
            (pairs_up_to(mask.highest) - pairs_up_to(mask.lowest - 1))
            * blocks.array()[rows.start : rows.stop]
        ).sum()
    )
