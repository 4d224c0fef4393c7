"""What the plots of a comparison over N draw: for each kernel and session one strand of points."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from flashscope.app.figures.series import Series, Values, extract
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.compare import Comparison, Contrast, Lone, Pair
from flashscope.profiles.results.model.curves import Curve, curve_by_problem
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.registry import favoured_baseline

PointIndices = NDArray[np.intp]
NO_PLACE = -1
CHANGES = {"faster", "slower", "more", "less"}


@dataclass(frozen=True, eq=False)
class Strand:
    """Points of one kernel in one session, or of their ratios; arrays are (points,), NaN where there is none.

    Attributes:
        kernel: The kernel.
        session: Which session: 0 is the baseline.
        seqlen: N, rising.
        value: The figure, or the ratio.
        low: Lower end of its spread, or of the ratio's interval.
        high: Upper end of the same.
        place: The pair's number in the comparison, -1 where a point has no partner.
        changed: Whether the pair's verdict is a change.
    """

    kernel: str
    session: int
    seqlen: Values
    value: Values
    low: Values
    high: Values
    place: PointIndices
    changed: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Band:
    """The least change that counts over N, as a share; arrays are (lengths,)."""

    seqlen: Values
    share: Values


@dataclass(frozen=True, eq=False)
class Sheet:
    """One curve's points: problems that share all but N.

    Attributes:
        ratios: A strand for each kernel and other session that have pairs.
        curves: A strand for each kernel and session.
        band: What counts as a change.
        seqlens: Every N, rising.
        kernels: In the order of their first point.
    """

    ratios: tuple[Strand, ...]
    curves: tuple[Strand, ...]
    band: Band
    seqlens: tuple[int, ...]
    kernels: tuple[str, ...]


@dataclass(eq=False)
class _Gathered:
    """What falls on one curve: pairs by contrast with their numbers, and rows by session."""

    pairs: dict[int, list[tuple[int, Pair]]] = field(default_factory=lambda: defaultdict(list))
    rows: dict[int, list[PointRow]] = field(default_factory=lambda: defaultdict(list))


def flattened(comparison: Comparison) -> tuple[tuple[int, Pair], ...]:
    """Every pair with the number of its session, from 1: its place is where it stands here."""
    return tuple((n, pair) for n, one in enumerate(comparison.contrasts, 1) for pair in one.pairs)


def comparison_curves(comparison: Comparison) -> dict[Problem, Curve]:
    """The curve that each problem's points belong to, over all sessions."""
    return curve_by_problem([row for _, row in _rows(comparison)])


def sheets(comparison: Comparison, curves: Mapping[Problem, Curve]) -> dict[Curve, Sheet]:
    """What to draw of each curve, in the order of the baseline."""
    gathered: defaultdict[Curve, _Gathered] = defaultdict(_Gathered)
    for session, row in _rows(comparison):
        gathered[curves[row.problem]].rows[session].append(row)
    for place, (session, pair) in enumerate(flattened(comparison)):
        gathered[curves[pair.base.problem]].pairs[session].append((place, pair))
    return {curve: _sheet(one, comparison.quantity) for curve, one in gathered.items()}


def _rows(comparison: Comparison) -> Iterator[tuple[int, PointRow]]:
    """Every point of every session, the baseline's first and once."""
    first = comparison.contrasts[0]
    yield from ((0, row) for row in _side(first, base=True))
    for session, contrast in enumerate(comparison.contrasts, 1):
        yield from ((session, row) for row in _side(contrast, base=False))


def _side(contrast: Contrast, *, base: bool) -> Iterator[PointRow]:
    lone: Iterable[Lone] = contrast.base_only if base else contrast.other_only
    yield from (pair.base if base else pair.other for pair in contrast.pairs)
    yield from (one.row for one in lone)


def _sheet(gathered: _Gathered, quantity: Quantity) -> Sheet:
    ratios = tuple(
        _ratios(kernel, session, members)
        for session, pairs in gathered.pairs.items()
        for kernel, members in _by_kernel(pairs).items()
    )
    rows = [row for members in gathered.rows.values() for row in members]
    seqlens = tuple(sorted({row.seqlen for row in rows}))
    kernels = tuple(dict.fromkeys(row.kernel for row in rows))
    every = [pair for pairs in gathered.pairs.values() for _, pair in pairs]
    return Sheet(ratios, tuple(_curves(gathered, quantity)), _band(every), seqlens, kernels)


def _by_kernel(pairs: Sequence[tuple[int, Pair]]) -> dict[str, list[tuple[int, Pair]]]:
    found: defaultdict[str, list[tuple[int, Pair]]] = defaultdict(list)
    for place, pair in sorted(pairs, key=lambda one: one[1].base.seqlen):
        found[pair.kernel].append((place, pair))
    return found


def _ratios(kernel: str, session: int, members: Sequence[tuple[int, Pair]]) -> Strand:
    pairs = [pair for _, pair in members]
    return Strand(
        kernel,
        session,
        seqlen=_floats(pair.base.seqlen for pair in pairs),
        value=_floats(pair.ratio for pair in pairs),
        low=_floats(pair.ratio_low for pair in pairs),
        high=_floats(pair.ratio_high for pair in pairs),
        place=np.array([place for place, _ in members], dtype=np.intp),
        changed=np.array([pair.verdict in CHANGES for pair in pairs], dtype=np.bool_),
    )


def _curves(gathered: _Gathered, quantity: Quantity) -> Iterator[Strand]:
    places: dict[tuple[int, str, int], int] = {}
    for session, pairs in gathered.pairs.items():
        for place, pair in pairs:
            places[session, pair.kernel, pair.base.seqlen] = place
            places.setdefault((0, pair.kernel, pair.base.seqlen), place)
    for session, rows in sorted(gathered.rows.items()):
        baseline = favoured_baseline(tuple(dict.fromkeys(row.kernel for row in rows)))
        for series in extract(rows, quantity, baseline if quantity.relative else None):
            yield _curve(session, series, places)


def _curve(session: int, series: Series, places: Mapping[tuple[int, str, int], int]) -> Strand:
    keys = [(session, series.kernel, int(n)) for n in series.seqlen]
    place = np.array([places.get(key, NO_PLACE) for key in keys], dtype=np.intp)
    filled = np.ones(len(keys), dtype=np.bool_)
    spread = series.low, series.high
    return Strand(series.kernel, session, series.seqlen, series.value, *spread, place, filled)


def _band(pairs: Iterable[Pair]) -> Band:
    """The largest threshold at each N: what lies outside counts, whichever kernel's it is."""
    widest: dict[int, float] = {}
    for pair in pairs:
        if pair.threshold is not None:
            n = pair.base.seqlen
            widest[n] = max(widest.get(n, 0.0), pair.threshold)
    ordered = sorted(widest.items())
    return Band(_floats(n for n, _ in ordered), _floats(share for _, share in ordered))


def _floats(values: Iterable[float | None]) -> Values:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
