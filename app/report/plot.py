"""One quantity over N as inline SVG: curves, whiskers, models, and a rail of points without a value."""

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from xml.etree.ElementTree import Element

import numpy as np

from flashscope.app.figures.series import Failure, Series, Values, extract, failure_text
from flashscope.app.figures.shapes import path_data
from flashscope.app.figures.statuses import STATUS_MARKS
from flashscope.app.figures.ticks import to_axis
from flashscope.app.look.kernel_marks import KernelMark, kernel_mark
from flashscope.app.report.frame import LEFT, TOP, Frame, drawing
from flashscope.app.report.markup import tag
from flashscope.app.words.kinds import unit_text, words_of
from flashscope.app.words.units import seqlen_text
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.quantity import Quantity

ValueText = Callable[[float], str]
SYMBOL_PX, GLYPH_PX, RAIL_PX = 8, 10, 14
NARROW_PX = 96  # left of a glyph, below which its word stands to the right


def figure_of(
    quantity: Quantity, rows: Sequence[PointRow], baseline: str | None, classes: Mapping[str, str]
) -> Element:
    """A plot of the rows of one curve with its caption."""
    over = baseline if quantity.relative else None
    caption = tag("figcaption", tag("h3", quantity.title), tag("span", unit_text(quantity, over)))
    series = extract(rows, quantity, baseline)
    return tag("figure", caption, plot(quantity, series, sorted({row.seqlen for row in rows}), classes))


def plot(
    quantity: Quantity,
    series: Sequence[Series],
    seqlens: Sequence[int],
    classes: Mapping[str, str],
    runs: Sequence[Series] = (),
) -> Element:
    """The series of one quantity, over single runs, faint.

    Args:
        quantity: What is drawn.
        series: Of each kernel.
        seqlens: Where ticks may stand.
        classes: The kernels' colours.
        runs: Of each kernel in each of several runs.
    """
    words = words_of(quantity)
    columns = [values for one in series for values in (one.value, one.low, one.high, one.model)]
    columns += [one.value for one in runs]
    failing = [one.failures for one in series if one.failures]
    frame = Frame.around(
        np.array(seqlens, dtype=np.float64), np.concatenate(columns), words.scale, RAIL_PX * len(failing)
    )
    parts = frame.axes(seqlens, words)
    parts += [
        tag("path", d=line(frame, one.seqlen, one.value), class_=f"run {classes[one.kernel]}") for one in runs
    ]
    parts += [part for one in series for part in curve_elements(frame, words.text, one, classes[one.kernel])]
    parts += rails(frame, failing, classes)
    return drawing(frame, f"{quantity.title} over N", *parts)


def curve_elements(frame: Frame, text: ValueText, series: Series, colour: str) -> list[Element]:
    """The model, whiskers, line and symbols of one kernel."""
    mark = kernel_mark(series.kernel)
    ends = zip(
        series.seqlen, to_axis(series.low, frame.scale), to_axis(series.high, frame.scale), strict=True
    )
    whiskers = "".join(
        f"M{frame.x(n):.1f},{frame.y(low):.1f}V{frame.y(high):.1f}"
        for n, low, high in ends
        if np.isfinite(low + high)
    )
    return [
        tag("path", d=line(frame, series.seqlen, series.model), class_=f"model {colour}"),
        tag("path", d=whiskers, class_=f"whisker {colour}"),
        tag(
            "path",
            d=line(frame, series.seqlen, series.value),
            class_=f"curve {colour}",
            stroke_width=mark.width,
            **_dashes(mark),
        ),
        *_marks(frame, text, series, colour),
    ]


def _dashes(mark: KernelMark) -> dict[str, str]:
    """The attribute of a curve in strokes; none of a whole one."""
    return {"stroke_dasharray": " ".join(f"{mark.width * part:g}" for part in mark.dash)} if mark.dash else {}


def line(frame: Frame, seqlens: Values, values: Values) -> str:
    """The `d` of a path through these values that crosses no gap."""
    places = zip(seqlens, to_axis(values, frame.scale), strict=True)
    runs = (list(run) for known, run in groupby(places, lambda one: bool(np.isfinite(one[1]))) if known)
    return "".join(
        "M" + "L".join(f"{frame.x(n):.1f},{frame.y(place):.1f}" for n, place in run) for run in runs
    )


def _marks(frame: Frame, text: ValueText, series: Series, colour: str) -> list[Element]:
    """The symbols; the pointer over one reads its figure."""
    symbol = kernel_mark(series.kernel).symbol
    known = zip(series.seqlen, series.value, to_axis(series.value, frame.scale), strict=True)
    return [
        tag(
            "path",
            tag("title", f"{series.kernel}, N = {seqlen_text(int(n))}: {text(value)}"),
            d=path_data(symbol, frame.x(n), frame.y(place), SYMBOL_PX),
            class_=f"mark {colour}",
        )
        for n, value, place in known
        if np.isfinite(place)
    ]


def rails(frame: Frame, failing: Sequence[Sequence[Failure]], classes: Mapping[str, str]) -> list[Element]:
    """The rails above a plot, one a kernel that failed somewhere."""
    lines = enumerate(failing)
    return [part for line, one in lines for part in _rail(frame, one, line, classes[one[0].kernel])]


def _rail(frame: Frame, failures: Sequence[Failure], line: int, colour: str) -> list[Element]:
    """The glyphs of one kernel's points without a value, and the word of the first."""
    y = TOP + RAIL_PX * (line + 0.5)
    drawn = [_glyph(failure, frame.x(failure.seqlen), y, colour) for failure in failures]
    first, last = (frame.x(failures[place].seqlen) for place in (0, -1))
    beside = last + RAIL_PX if first - LEFT < NARROW_PX else first - RAIL_PX
    word = STATUS_MARKS[failures[0].status].word
    anchor = "start" if beside > last else "end"
    return [*drawn, tag("text", word, x=f"{beside:.1f}", y=f"{y + 4:.1f}", text_anchor=anchor, class_="tick")]


def _glyph(failure: Failure, x: float, y: float, colour: str) -> Element:
    strokes = STATUS_MARKS[failure.status].strokes
    lines = (
        " ".join(f"{x + a * GLYPH_PX:.1f},{y + b * GLYPH_PX:.1f}" for a, b in stroke) for stroke in strokes
    )
    path = "".join(f"M{line}" for line in lines)
    return tag("path", tag("title", failure_text(failure)), d=path, class_=f"glyph {colour}")


def legend_element(kernels: Sequence[str], classes: Mapping[str, str]) -> Element:
    """The mark of each kernel beside its name."""
    made = tag("ul", class_="legend")
    for kernel in kernels:
        mark = tag("path", d=path_data(kernel_mark(kernel).symbol, 6, 6, 10), class_="mark")
        made.append(tag("li", tag("svg", mark, viewBox="0 0 12 12", class_=classes[kernel]), kernel))
    return made
