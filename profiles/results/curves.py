"""Points that belong on one curve over N: those that share everything else but the batch.

The batch may vary along a curve, as in a sweep with a constant number of tokens.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from kernels.problem import UNBOUNDED, Dtype, Problem, unusual
from profiles.results.rows import PointRow

UNFINISHED = frozenset({"pending", "running"})


class Curve(NamedTuple):
    """What the points of one curve share, see Problem; batch and seed only where they tell curves apart."""

    head_dim: int
    heads: int
    dtype: Dtype
    causal: bool
    kv_heads: int
    window: tuple[int, int] | None
    block_mask: str
    scale: float | None = None
    passes: str = ""  # in words
    queries: int = 0
    layout: str = ""
    batch: int | None = None
    seed: int | None = None

    @property
    def label(self) -> str:
        """Head dim, pass and mask in words, and what else is unusual or tells curves apart."""
        parts = [f"d {self.head_dim}", *filter(None, [self.unusual]), self.mask]
        parts += [] if self.kv_heads == self.heads else [f"{self.kv_heads} kv heads"]
        parts += [] if self.scale is None else [f"scale {self.scale:g}"]
        parts += [] if self.batch is None else [f"batch {self.batch}"]
        parts += [] if self.seed is None else [f"seed {self.seed}"]
        return ", ".join(parts)

    @property
    def unusual(self) -> str:
        """Pass, query rows, lengths and pages in words, where they are not what goes without saying."""
        return unusual(self.passes, self.queries, self.layout)

    @property
    def mask(self) -> str:
        """The masks in words."""
        return mask_words(causal=self.causal, window=self.window, blocks=self.block_mask) or "no mask"


def mask_words(*, causal: bool, window: tuple[int, int] | None, blocks: str) -> str:
    """Masks in words, empty without any; window and blocks as the command line takes them."""
    words = ["causal"] if causal else []
    words += [f"window {window[0]},{window[1]}"] if window and max(window) > UNBOUNDED else []
    words += [blocks] if blocks else []
    return ", ".join(words)


def curve_of(row: PointRow) -> Curve:
    """The curve of a row among rows whose batch follows from N and whose seed is the same."""
    problem = row.problem
    return Curve(
        head_dim=problem.head_dim,
        heads=problem.heads,
        dtype=problem.dtype,
        causal=problem.causal,
        kv_heads=problem.key_heads,
        window=problem.window if "window" in problem.features else None,
        block_mask=row.block_mask,
        scale=problem.scale,
        passes=problem.pass_words,
        queries=problem.queries,
        layout=problem.layout,
    )


def by_curve(rows: Sequence[PointRow]) -> dict[Curve, list[PointRow]]:
    """Rows by curve, in the order of their first row.

    The batch or the seed tells curves apart where a kernel would otherwise stand twice at one N.
    """
    known = {row.problem: row for row in rows}  # several kernels have each
    of_problem = {problem: curve_of(row) for problem, row in known.items()}
    placed = [(of_problem[row.problem], row) for row in rows]
    batches, seeds = (_several(placed, name) for name in ("batch", "seed"))
    curves: dict[Curve, list[PointRow]] = {}
    for shared, row in placed:
        batch, seed = row.problem.batch if batches else None, row.problem.seed if seeds else None
        curves.setdefault(shared._replace(batch=batch, seed=seed), []).append(row)
    return curves


def _several(placed: Sequence[tuple[Curve, PointRow]], name: str) -> bool:
    """Whether points that differ in this field of their problem would fall on one another."""
    if len({getattr(row.problem, name) for _, row in placed}) <= 1:
        return False
    known: dict[tuple[str, int, Curve], set[object]] = {}
    for curve, row in placed:
        place = (row.kernel, row.seqlen, curve)
        known.setdefault(place, set()).add(getattr(row.problem, name))
    return any(len(values) > 1 for values in known.values())


def baselines(rows: Sequence[PointRow], kernel: str | None) -> dict[Problem, PointRow]:
    """The done rows of the kernel that others are compared with, by their problem."""
    return {row.problem: row for row in rows if row.kernel == kernel and row.done}


def telling_seqlen(rows: Sequence[PointRow]) -> int | None:
    """Where a comparison says most: the longest of the sequence lengths that most kernels have done.

    None before a point has ended.
    """
    done = Counter(row.seqlen for row in rows if row.done)
    ended = {row.seqlen for row in rows if row.status not in UNFINISHED}
    return max(ended, key=lambda n: (done[n], n), default=None)
