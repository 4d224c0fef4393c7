"""One lane of the telemetry strip: a quantity over time, with the running kernels shaded behind it."""

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg

from flashscope.app.control.guard import guarded
from flashscope.app.figures.lanes import Lane
from flashscope.app.figures.ring import Values, held, thin
from flashscope.app.figures.spans import Span
from flashscope.app.figures.ticks import binary_step, nice_step
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.plots.style import SecondsAxis, UnitAxis, restyle, tick_font
from flashscope.app.plots.timeline.shades import ShadeRange, Shades
from flashscope.app.plots.timeline.time_plot import TimePlot
from flashscope.app.words.plain import cut_short

HIGHEST = 1e18  # in a lane's unit: what is above, no device reads
SHADE = 44  # opacity of a span, of 255
TOP_PX, BOTTOM_PX = 8, 3  # free above the top tick and below 0
LEAST_PX = 34
THIN_PX = 1.2  # a pixel at 100 %, three on a stage
TWO_TICKS_PX = 30


class _EndTicks(UnitAxis):
    """An axis for a low plot: a tick at the top, and one at 0 where there is room for both.

    Attributes:
        top_only: Whether there is none, so that the lanes of a stage do not meet.
    """

    top_only = False

    @guarded(list)
    def tickValues(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, list[float]]]:  # noqa: N803
        """The top, or 0 and the top."""
        top = nice_floor(maxVal - px(TOP_PX) * (maxVal - minVal) / max(size, 1.0))
        return [(top or 1.0, [top] if self.top_only or size < px(TWO_TICKS_PX) else [0.0, top])]


def nice_floor(at_most: float) -> float:
    """The largest of 1, 2, 2.5, 5 times a power of ten that is not above `at_most`."""
    if at_most <= 0:
        return 0.0
    step = nice_step(at_most)
    if step <= at_most * (1 + 1e-9):
        return step
    return max(step * factor for factor in (0.4, 0.5, 0.8) if step * factor <= at_most * (1 + 1e-9))


class TelemetryLane(TimePlot):
    """Draws one field of the readings as steps, its capacity, and the spans of the kernels."""

    def __init__(self, lane: Lane, theme: Theme) -> None:
        super().__init__({"left": _EndTicks("left"), "bottom": SecondsAxis()}, theme)
        self.lane = lane
        self._make_items()
        bottom = self.getAxis("bottom")
        keep(bottom, bottom.setHeight, 1)
        bottom.setStyle(showValues=False, tickLength=0)
        keep(self, self.setMinimumHeight, LEAST_PX)
        self.setAccessibleName(f"{lane.title} in {lane.unit} over time in seconds")
        self.apply_theme(theme)

    def _make_items(self) -> None:
        self._shades = Shades(self, SHADE)
        self._capacity = pg.InfiniteLine(angle=0, movable=False)
        self.curve = pg.PlotDataItem(connect="finite", stepMode="right", antialias=False)
        self._note = pg.TextItem(anchor=(0, 0.5))
        self._note.setZValue(10)
        for item in (self._capacity, self.curve, self._note):
            self.addItem(item, ignoreBounds=True)
        self._capacity.hide()
        self._note.hide()

    def show_readings(self, times: Values, values: Values, spans: Sequence[Span], view: ShadeRange) -> None:
        """Draw the readings that lie in the view (seconds), and the spans behind them."""
        inside = readings_in_view(times, view)
        with np.errstate(over="ignore"):  # of a file's absurd figures
            seen_t, seen_v = thin(*held(times[inside], values[inside] / self.lane.divisor))
        self.curve.setData(seen_t, seen_v)
        top = self._top(seen_v)
        scale = top / max(self.box.height() - px(TOP_PX) - px(BOTTOM_PX), 4.0)
        low, high = -px(BOTTOM_PX) * scale, top + px(TOP_PX) * scale
        self.box.setRange(xRange=view, yRange=(low, high), padding=0)
        self._note.setPos(view[0], (low + high) / 2)
        self._shades.draw(spans, view, (low, high), self._theme)

    def tick_top_only(self, top_only: bool) -> None:
        """Have a tick at the top alone, or one at 0, too."""
        axis = self.getAxis("left")
        axis.top_only, axis.picture = top_only, None
        axis.update()

    def show_capacity(self, capacity: float | None) -> None:
        """Draw a dashed line at the capacity, given in the reading's unit."""
        self._capacity.setVisible(capacity is not None)
        if capacity is not None:
            self._capacity.setValue(capacity / self.lane.divisor)

    def show_note(self, note: str) -> None:
        """Say why there is nothing to draw; an empty note removes the words."""
        note = cut_short(note)
        if note == self._note.toPlainText() and self._note.isVisible() == bool(note):
            return
        self._note.setVisible(bool(note))
        self.getAxis("left").setStyle(showValues=not note)
        self._note.setText(note, color=self._theme.dim)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour everything that is drawn; the spans follow when they are drawn."""
        self._theme = theme
        restyle(self, theme)
        self.curve.setPen(pg.mkPen(theme.text, width=px(2)))
        self._capacity.setPen(pg.mkPen(theme.error, width=px(THIN_PX), dash=[5, 4]))
        self._note.fill = pg.mkBrush(theme.panel)
        self._note.setFont(tick_font())
        self._note.setColor(theme.dim)

    def _top(self, values: Values) -> float:
        finite = values[np.isfinite(values)]
        highest = max(min(float(finite.max()), HIGHEST) if finite.size else 0.0, self.lane.top)
        return binary_step(highest) if self.lane.unit == "GiB" else highest


def readings_in_view(times: Values, view: ShadeRange) -> slice:
    """The readings of a view, with the one before it that still holds at its begin."""
    first, last = np.searchsorted(times, view)
    return slice(max(0, int(first) - 1), int(last) + 1)


def peak_and_mean(times: Values, values: Values, view: ShadeRange) -> tuple[float, float] | None:
    """The highest and the mean of the readings in a view; None without any."""
    known = values[readings_in_view(times, view)]
    known = known[np.isfinite(known)]
    with np.errstate(over="ignore"):  # of a file's absurd figures
        return (float(known.max()), float(known.mean())) if known.size else None
