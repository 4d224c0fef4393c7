"""Points that belong on one curve over N: those that share everything else but the batch.

The batch may vary along a curve, as in a sweep with a constant number of tokens.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kernels.problem import Dtype
from profiles.summary import PointRow


class Group(NamedTuple):
    """What the points of one curve share; see Problem."""

    head_dim: int
    heads: int
    dtype: Dtype
    causal: bool
    kv_heads: int | None
    window: tuple[int, int] | None
    block_mask: str
    batch: int | None = None

    @property
    def label(self) -> str:
        """Head dim and mask in words, grouped heads, and the batch where it tells groups apart."""
        shared = "" if self.kv_heads in {None, self.heads} else f", {self.kv_heads} kv heads"
        batch = "" if self.batch is None else f", batch {self.batch}"
        return f"d {self.head_dim}, {self.mask}{shared}{batch}"

    @property
    def mask(self) -> str:
        """The masks in words."""
        return mask_words(causal=self.causal, window=self.window, blocks=self.block_mask) or "no mask"


def mask_words(*, causal: bool, window: tuple[int, int] | None, blocks: str) -> str:
    """Masks in words, empty without any; window and blocks as the command line takes them."""
    words = ["causal"] if causal else []
    words += [f"window {window[0]},{window[1]}"] if window else []
    words += [blocks] if blocks else []
    return ", ".join(words)


def group_of(row: PointRow) -> Group:
    """The group of a row among rows whose batch follows from N."""
    return Group(row.head_dim, row.heads, row.dtype, row.causal, row.kv_heads, row.window, row.block_mask)


def grouped(rows: Sequence[PointRow]) -> dict[Group, list[PointRow]]:
    """Rows by group, in the order of their first row.

    The batch tells groups apart where the same kernel and N would otherwise stand twice on a curve.
    """
    by_batch: dict[tuple[str, int, int, Group], set[int]] = {}
    for row in rows:
        by_batch.setdefault((row.kernel, row.seqlen, row.seqlen_k, group_of(row)), set()).add(row.batch)
    apart = any(len(batches) > 1 for batches in by_batch.values())
    found: dict[Group, list[PointRow]] = {}
    for row in rows:
        group = group_of(row)
        found.setdefault(group._replace(batch=row.batch) if apart else group, []).append(row)
    return found
