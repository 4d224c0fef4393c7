"""What the plots of a comparison over N draw: for each kernel and session one strand of points."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from flashscope.app.figures.series import Series, Values, extract
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.compare import Comparison, Contrast, Lone, Pair, kernel_over
from flashscope.profiles.results.model.curves import Curve, curve_by_problem
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.quantities.quantity import Quantity

PointIndices = NDArray[np.intp]
NO_PLACE = -1
CHANGES = {"faster", "slower", "more", "less"}


@dataclass(frozen=True, eq=False)
class Strand:
    """Points of one kernel in one session, or of their ratios; arrays are (points,), NaN where there is none.

    Attributes:
        kernel: The kernel.
        session: Which side: 0 is the baseline.
        seqlen: N, rising.
        value: The figure, or the ratio.
        low: Lower end of its spread, or of the ratio's interval.
        high: Upper end of the same.
        place: The pair's number in the comparison, -1 where a point has no partner.
        changed: Whether the pair's verdict is a change.
        faint: Whether it is one of several runs of its side, which stand behind their median.
    """

    kernel: str
    session: int
    seqlen: Values
    value: Values
    low: Values
    high: Values
    place: PointIndices
    changed: NDArray[np.bool_]
    faint: bool = False


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
        curves: A strand for each kernel and side: of several runs their median from the least to the
            largest, and one for each run, faint, before it.
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
    """What falls on one curve: pairs by contrast with their numbers, rows by side, and those of its runs."""

    pairs: dict[int, list[tuple[int, Pair]]] = field(default_factory=lambda: defaultdict(list))
    rows: dict[int, list[PointRow]] = field(default_factory=lambda: defaultdict(list))
    runs: dict[int, dict[int, list[PointRow]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )


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
    for session, number, row in _runs(comparison):
        gathered[curves[row.problem]].runs[session][number].append(row)
    for place, (session, pair) in enumerate(flattened(comparison)):
        gathered[curves[pair.base.problem]].pairs[session].append((place, pair))
    over = kernel_over(comparison.base, comparison.quantity)
    return {curve: _sheet(one, comparison.quantity, over) for curve, one in gathered.items()}


def _rows(comparison: Comparison) -> Iterator[tuple[int, PointRow]]:
    """Every point of every session, the baseline's first and once."""
    first = comparison.contrasts[0]
    yield from ((0, row) for row in _side(first, base=True))
    for session, contrast in enumerate(comparison.contrasts, 1):
        yield from ((session, row) for row in _side(contrast, base=False))


def _runs(comparison: Comparison) -> Iterator[tuple[int, int, PointRow]]:
    """Every point of every run of the sides that have several."""
    base = comparison.contrasts[0].base_runs
    for session, runs in enumerate((base, *(one.other_runs for one in comparison.contrasts))):
        for number, run in enumerate(runs if len(runs) > 1 else ()):
            yield from ((session, number, row) for row in rows(run))


def _side(contrast: Contrast, *, base: bool) -> Iterator[PointRow]:
    lone: Iterable[Lone] = contrast.base_only if base else contrast.other_only
    yield from (pair.base if base else pair.other for pair in contrast.pairs)
    yield from (one.row for one in lone)


def _sheet(gathered: _Gathered, quantity: Quantity, over: str | None) -> Sheet:
    ratios = tuple(
        _ratios(kernel, session, members)
        for session, pairs in gathered.pairs.items()
        for kernel, members in _by_kernel(pairs).items()
    )
    points = [row for members in gathered.rows.values() for row in members]
    seqlens = tuple(sorted({row.seqlen for row in points}))
    kernels = tuple(dict.fromkeys(row.kernel for row in points))
    every = [pair for pairs in gathered.pairs.values() for _, pair in pairs]
    return Sheet(ratios, tuple(_curves(gathered, quantity, over)), _band(every), seqlens, kernels)


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


def _curves(gathered: _Gathered, quantity: Quantity, over: str | None) -> Iterator[Strand]:
    places: dict[tuple[int, str, int], int] = {}
    for session, pairs in gathered.pairs.items():
        for place, pair in pairs:
            places[session, pair.kernel, pair.base.seqlen] = place
            places.setdefault((0, pair.kernel, pair.base.seqlen), place)
    for session, members in sorted(gathered.rows.items()):
        runs = [extract(run, quantity, over) for run in gathered.runs[session].values()]
        for series in extract(members, quantity, over):
            ours = [one for run in runs for one in run if one.kernel == series.kernel]
            yield from (_run(session, one) for one in ours)
            yield _curve(session, _median(series, ours) if ours else series, places)


def _median(first: Series, runs: Sequence[Series]) -> Series:
    """The median of several runs of one plan, from the least to the largest; NaN where there is none."""
    values = np.array([run.value for run in runs])
    known = np.isfinite(values).any(axis=0)
    ends = np.full((3, values.shape[1]), np.nan)
    ends[:, known] = np.nanpercentile(values[:, known], (50, 0, 100), axis=0)
    return replace(first, value=ends[0], low=ends[1], high=ends[2])


def _run(session: int, series: Series) -> Strand:
    """One of several runs: no point of it is a pair, and no spread of it is drawn."""
    nothing = np.full(series.seqlen.size, np.nan)
    place, filled = np.full(series.seqlen.size, NO_PLACE), np.ones(series.seqlen.size, dtype=np.bool_)
    return Strand(
        series.kernel, session, series.seqlen, series.value, nothing, nothing, place, filled, faint=True
    )


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
