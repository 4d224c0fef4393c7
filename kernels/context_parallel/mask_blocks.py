"""What a rank's rows see of the keys it works on, as blocks that any attention kernel takes.

A kernel knows two masks: none, and causal aligned to the bottom right. The rows and keys of a rank may be
several stretches of the sequence (zigzag has two), and then their mask is neither. But both are sorted, so a
row sees a prefix of the keys, and the length of that prefix never falls from one row to the next. Where it
stays the same the rows see all of one prefix; where it grows by one key a row they see it causally. So rows
are cut only where neither goes on, and no row is in two blocks.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flashscope.kernels.workload.mask import Mask


class MaskBlock(NamedTuple):
    """Rows that attend to the first keys, counted among those that a rank holds and works on.

    Attributes:
        rows: Which rows.
        keys: So many keys, from the first.
        causal: Row i of R sees the first keys - R + i + 1 of them; else each row sees all.
    """

    rows: range
    keys: int
    causal: bool

    @property
    def pairs(self) -> int:
        """(query, key) pairs that are kept."""
        return Mask.of(len(self.rows), self.keys, causal=self.causal).kept_pairs()


class Growth(NamedTuple):
    """Rows of which each sees `grows` (0 or 1) keys more than the one before; the first sees `seen`."""

    rows: range
    seen: int
    grows: int


def mask_blocks(
    rows: Sequence[range], keys: Sequence[range], shift: int, *, causal: bool
) -> tuple[MaskBlock, ...]:
    """The blocks of some rows and keys; rows that see none of the keys are in no block.

    Args:
        rows: Stretches of the sequence's rows, sorted.
        keys: Stretches of its keys, sorted.
        shift: Causal keeps key k of row q where k <= q + shift.
        causal: Whether that is asked for; else all is kept.
    """
    if not causal:
        return (MaskBlock(range(sum(map(len, rows))), sum(map(len, keys)), causal=False),)
    grown = _joined(one for stretch in _placed(rows) for one in _growths(*stretch, keys, shift))
    return tuple(
        MaskBlock(
            one.rows, one.seen + one.grows * (len(one.rows) - 1), causal=one.grows > 0 and len(one.rows) > 1
        )
        for one in grown
    )


def _placed(rows: Sequence[range]) -> Iterator[tuple[int, range]]:
    """Each stretch, and how many rows lie before it."""
    before = 0
    for stretch in rows:
        yield before, stretch
        before += len(stretch)


def _growths(before: int, rows: range, keys: Sequence[range], shift: int) -> Iterator[Growth]:
    """The parts of one stretch of rows, those left out that see no key."""
    seen = 0
    row = rows.start
    for stretch in keys:
        first = min(max(row, stretch.start - shift), rows.stop)  # the first row that sees one of the stretch
        if seen and first > row:
            yield Growth(range(before + row - rows.start, before + first - rows.start), seen, 0)
        end = min(max(first, stretch.stop - shift), rows.stop)  # the first that sees all, but for those grown
        if end > first:
            at = first + shift - stretch.start + 1
            yield Growth(range(before + first - rows.start, before + end - rows.start), seen + at, 1)
        seen, row = seen + len(stretch), end
        if row == rows.stop:
            return
    if seen:
        yield Growth(range(before + row - rows.start, before + len(rows)), seen, 0)


def _joined(parts: Iterator[Growth]) -> list[Growth]:
    """The same with neighbours made one where the second goes on as the first; one row goes on either way."""
    joined: list[Growth] = []
    for one in parts:
        last = joined[-1] if joined else None
        if last is not None and last.rows.stop == one.rows.start:
            step = one.seen - (last.seen + last.grows * (len(last.rows) - 1))
            fits = step in {0, 1} and all(len(part.rows) == 1 or part.grows == step for part in (last, one))
            if fits:
                joined[-1] = Growth(range(last.rows.start, one.rows.stop), last.seen, step)
                continue
        joined.append(one)
    return joined
