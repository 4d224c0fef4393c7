"""Points that belong on one curve over N: those that share everything else but the batch.

The batch may vary along a curve, as in a sweep with a constant number of tokens.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from flashscope.kernels.workload.problem import UNBOUNDED, Dtype, Problem
from flashscope.profiles.plan.problem_words import layout_words, pass_words, scoring_words, unusual_of
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import UNFINISHED


class Curve(NamedTuple):
    """What the points of one curve share, see Problem; batch and seed only where they tell curves apart.

    Attributes:
        named: Which of heads and dtype the label names: those in which curves differ that are else alike.
    """

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
    scoring: str = ""
    batch: int | None = None
    seed: int | None = None
    named: frozenset[str] = frozenset()

    @property
    def label(self) -> str:
        """Head dim, pass and mask in words, and what else is unusual or tells curves apart."""
        parts = [f"d {self.head_dim}", *filter(None, [self.unusual]), self.mask]
        parts += [counted_noun(self.heads, "head")] if "heads" in self.named else []
        parts += [counted_noun(self.kv_heads, "kv head")] if self.shares_heads else []
        parts += [] if self.scale is None else [f"scale {self.scale:g}"]
        parts += [] if self.batch is None else [f"batch {self.batch}"]
        parts += [] if self.seed is None else [f"seed {self.seed}"]
        parts += [self.dtype] if "dtype" in self.named else []
        return ", ".join(parts)

    @property
    def whole_label(self) -> str:
        """The same with heads and dtype, whatever other curves there are."""
        return self._replace(named=frozenset({"heads", "dtype"})).label

    @property
    def unusual(self) -> str:
        """Pass, query rows, lengths, pages, what is done to scores, where that does not go without saying."""
        return unusual_of(self.passes, self.queries, self.layout, self.scoring)

    @property
    def shares_heads(self) -> bool:
        """Whether query heads share those of K and V."""
        return self.kv_heads != self.heads

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
    return curve_of_problem(row.problem, row.block_mask)


def curve_of_problem(problem: Problem, block_mask: str = "") -> Curve:
    """The curve of a problem whose block mask is called so."""
    return Curve(
        head_dim=problem.head_dim,
        heads=problem.heads,
        dtype=problem.dtype,
        causal=problem.causal,
        kv_heads=problem.key_heads,
        window=problem.window if "window" in problem.features else None,
        block_mask=block_mask,
        scale=problem.scale,
        passes=pass_words(problem),
        queries=problem.queries,
        layout=layout_words(problem),
        scoring=scoring_words(problem),
    )


def by_curve(rows: Sequence[PointRow]) -> dict[Curve, list[PointRow]]:
    """Rows by curve, in the order of their first row.

    The batch or the seed tells curves apart where a kernel would otherwise stand twice at one N.
    """
    of_problem = curve_by_problem(rows)
    curves: dict[Curve, list[PointRow]] = {}
    for row in rows:
        curves.setdefault(of_problem[row.problem], []).append(row)
    return curves


def curve_with(curves: Mapping[Curve, Sequence[PointRow]], index: int | None) -> Curve | None:
    """The problems that a point belongs to, by its index; None: it is none of these."""
    found = (curve for curve, rows in curves.items() if any(row.point.index == index for row in rows))
    return next(found, None)


def counted_noun(count: int, noun: str) -> str:
    """A number of things, as `1 head` and `2 heads`."""
    return f"{count} {noun}{'s' * (count != 1)}"


def curve_by_problem(rows: Sequence[PointRow]) -> dict[Problem, Curve]:
    """The curve that each problem's points belong to among these rows."""
    return _named(_apart(rows))


def telling_labels(rows: Sequence[PointRow]) -> dict[Problem, str]:
    """The label of each problem's curve among these rows; empty where all are on one."""
    curves = curve_by_problem(rows)
    several = len(set(curves.values())) > 1
    return {problem: curve.label if several else "" for problem, curve in curves.items()}


def _apart(rows: Sequence[PointRow]) -> dict[Problem, Curve]:
    """The curve of each problem, with batch and seed where these tell curves apart."""
    known = {row.problem: row for row in rows}  # several kernels have each
    of_problem = {problem: curve_of(row) for problem, row in known.items()}
    batches, seeds = (_several(rows, of_problem, name) for name in ("batch", "seed"))
    return {
        problem: shared._replace(
            batch=problem.batch if shared in batches else None,
            seed=problem.seed if shared in seeds else None,
        )
        for problem, shared in of_problem.items()
    }


def _named(of_problem: dict[Problem, Curve]) -> dict[Problem, Curve]:
    """The same, with the names of heads and dtype where curves differ in them that are else alike."""
    curves = list(dict.fromkeys(of_problem.values()))
    heads, dtypes = (_differing(curves, name) for name in ("heads", "dtype"))
    if not heads and not dtypes:
        return of_problem
    named = {
        curve: curve._replace(
            named=frozenset(
                name
                for name, found in (("heads", heads), ("dtype", dtypes))
                if _without(curve, name) in found
            )
        )
        for curve in curves
    }
    return {problem: named[curve] for problem, curve in of_problem.items()}


def _differing(curves: Sequence[Curve], name: str) -> set[Curve]:
    """What curves share that differ in this field; the batch and the seed do not matter."""
    known: dict[Curve, set[object]] = {}
    for curve in curves:
        known.setdefault(_without(curve, name), set()).add(getattr(curve, name))
    return {shared for shared, values in known.items() if len(values) > 1}


def _without(curve: Curve, name: str) -> Curve:
    """A curve without one of heads and dtype."""
    alike = curve._replace(batch=None, seed=None)
    if name == "dtype":
        return alike._replace(dtype="float32")
    return alike._replace(heads=0, kv_heads=curve.kv_heads if curve.shares_heads else 0)


def _several(rows: Sequence[PointRow], curves: dict[Problem, Curve], name: str) -> set[Curve]:
    """The curves on which points that differ in this field of their problem would fall on one another."""
    if len({getattr(problem, name) for problem in curves}) <= 1:
        return set()
    known: dict[tuple[str, int, Curve], set[object]] = {}
    for row in rows:
        place = (row.kernel, row.seqlen, curves[row.problem])
        known.setdefault(place, set()).add(getattr(row.problem, name))
    return {curve for (_, _, curve), values in known.items() if len(values) > 1}


def baselines(rows: Sequence[PointRow], kernel: str | None) -> dict[Problem, PointRow]:
    """The done rows of the kernel that others are compared with, by their problem."""
    return {row.problem: row for row in rows if row.kernel == kernel and row.done}


def telling_seqlen(rows: Sequence[PointRow]) -> int | None:
    """Where a comparison says most: the longest of the sequence lengths that most kernels have done.

    Kernels that cannot run every length are not asked. None before a point has ended.
    """
    short = {row.kernel for row in rows if row.status == "unsupported"}
    done = Counter(row.seqlen for row in rows if row.done and row.kernel not in short)
    ended = {row.seqlen for row in rows if row.status not in UNFINISHED}
    return max(ended, key=lambda n: (done[n], n), default=None)
