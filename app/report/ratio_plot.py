"""What changed between two sessions over N: figures with the baseline's dashed, and ratios around 1."""

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element

import numpy as np

from flashscope.app.figures.series import Failure, Series, Values, extract
from flashscope.app.figures.ticks import to_axis
from flashscope.app.report.frame import Frame, drawing
from flashscope.app.report.markup import tag
from flashscope.app.report.plot import RAIL_PX, curve_elements, line, plot, rails
from flashscope.app.words.kinds import KINDS, Scale, unit_text
from flashscope.app.words.results.verdicts import ratio_digits
from flashscope.profiles.results.compare import Pair, kernel_over
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.model.session import UNFINISHED, Session
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.wire.measurement import Figure, Number

WIDE = 4.0  # times: ratios that far apart stand on a logarithmic axis


def figures_of(
    quantity: Quantity,
    pairs: Sequence[Pair],
    classes: Mapping[str, str],
    sides: Sequence[Sequence[Session]] = (),
) -> Element:
    """The quantity here, solid, and in the baseline, dashed; of sides with several runs each run, faint."""
    series = [_figures(kernel, members) for kernel, members in _by_kernel(pairs).items()]
    over = kernel_over(sides[0][0], quantity) if sides else None
    several = [run for side in sides if len(side) > 1 for run in side]
    runs = [one for run in several for one in _of_run(quantity, pairs, run, over)]
    caption = tag(
        "figcaption",
        tag("h3", quantity.title),
        tag("span", f"{unit_text(quantity, over)}; dashed: baseline{'; faint: each run' if runs else ''}"),
    )
    return tag("figure", caption, plot(quantity, series, _seqlens(pairs), classes, runs))


def _of_run(quantity: Quantity, pairs: Sequence[Pair], run: Session, over: str | None) -> list[Series]:
    """The points of these pairs in one run."""
    wanted = {(pair.kernel, pair.base.problem) for pair in pairs}
    return extract([row for row in rows(run) if (row.kernel, row.problem) in wanted], quantity, over)


def ratios_of(pairs: Sequence[Pair], classes: Mapping[str, str]) -> Element:
    """Here over the baseline with 95% intervals; the band holds changes too small to count."""
    series = [_ratios(kernel, members) for kernel, members in _by_kernel(pairs).items()]
    seqlens = np.array(_seqlens(pairs), dtype=np.float64)
    band = np.array([_threshold(pairs, seqlen) for seqlen in seqlens])
    ends = np.concatenate([values for one in series for values in (one.value, one.low, one.high)])
    shown = np.concatenate((ends, 1 + band, 1 / (1 + band)))
    failing = [one.failures for one in series if one.failures]
    frame = Frame.around(seqlens, shown, _scale(shown), RAIL_PX * len(failing), zero=False)
    parts = [*_band(frame, seqlens, band), *frame.axes(_seqlens(pairs), KINDS["ratio"])]
    parts += [
        part for one in series for part in curve_elements(frame, ratio_digits, one, classes[one.kernel])
    ]
    caption = tag(
        "figcaption", tag("h3", "Ratio to the baseline"), tag("span", "95% intervals; band: the threshold")
    )
    drawn = drawing(frame, "Ratio to the baseline over N", *parts, *rails(frame, failing, classes))
    return tag("figure", caption, drawn)


def _by_kernel(pairs: Sequence[Pair]) -> dict[str, list[Pair]]:
    found: dict[str, list[Pair]] = {}
    for pair in sorted(pairs, key=lambda pair: pair.base.seqlen):
        found.setdefault(pair.kernel, []).append(pair)
    return {kernel: found[kernel] for kernel in dict.fromkeys(pair.kernel for pair in pairs)}


def _seqlens(pairs: Sequence[Pair]) -> list[int]:
    return sorted({pair.base.seqlen for pair in pairs})


def _figures(kernel: str, pairs: Sequence[Pair]) -> Series:
    ours, theirs = zip(*map(_sides, pairs), strict=True)
    columns = {end: _column([getattr(one, end) for one in theirs]) for end in ("value", "low", "high")}
    return _series(kernel, pairs, columns | {"model": _column([one.value for one in ours])})


def _sides(pair: Pair) -> tuple[Figure, Figure]:
    """The figures of both points, of those that count."""
    base = pair.base_figure if pair.base.done else None
    other = pair.other_figure if pair.other.done else None
    return base or Figure(), other or Figure()


def _ratios(kernel: str, pairs: Sequence[Pair]) -> Series:
    read = {"value": "ratio", "low": "ratio_low", "high": "ratio_high"}
    columns = {end: _column([getattr(pair, name) for pair in pairs]) for end, name in read.items()}
    return _series(kernel, pairs, columns | {"model": _column([None] * len(pairs))})


def _series(kernel: str, pairs: Sequence[Pair], columns: Mapping[str, Values]) -> Series:
    seqlens = np.array([pair.base.seqlen for pair in pairs], dtype=np.float64)
    others = [pair.other for pair in pairs if not pair.other.done and pair.other.status not in UNFINISHED]
    failures = tuple(Failure(kernel, row.seqlen, row.status, row.reason) for row in others)
    beside = _column([None] * len(pairs))
    return Series(
        kernel=kernel,
        seqlen=seqlens,
        beside=beside,
        failures=failures,
        running=None,
        doubted=np.zeros(len(pairs), dtype=np.bool_),
        **columns,
    )


def _column(values: Sequence[Number | None]) -> Values:
    return np.array([np.nan if value is None else float(value) for value in values], dtype=np.float64)


def _threshold(pairs: Sequence[Pair], seqlen: float) -> float:
    """The largest of the pairs at a length, NaN where none is known."""
    at = (pair.threshold for pair in pairs if pair.base.seqlen == seqlen)
    return max((one for one in at if one is not None), default=np.nan)


def _scale(shown: Values) -> Scale:
    known = shown[np.isfinite(shown) & (shown > 0)]
    return "log10" if known.size and known.max() > WIDE * known.min() else "linear"


def _band(frame: Frame, seqlens: Values, band: Values) -> list[Element]:
    """The band, and the line of no change."""
    even = tag("path", d=line(frame, seqlens, np.ones_like(seqlens)), class_="even")
    known = np.isfinite(band)
    if not known.any():
        return [even]
    seqlens, band = seqlens[known], band[known]
    edges = to_axis(1 + band, frame.scale), to_axis(1 / (1 + band), frame.scale)
    there, back = (
        [f"{frame.x(n):.1f},{frame.y(y):.1f}" for n, y in zip(seqlens, edge, strict=True)] for edge in edges
    )
    return [
        tag("path", d=f"M{'L'.join([*there, *reversed(back)])}Z", class_="band"),
        even,
    ]
