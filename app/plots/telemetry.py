"""One lane of the telemetry strip: a quantity over time, with the running kernels shaded behind it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyqtgraph as pg

from app.control.guard import guarded
from app.look.theme import Theme, kernel_mark
from app.look.zoom import keep, px
from app.plots.ring import Values, thin
from app.plots.spans import Span, seqlen_changes
from app.plots.style import Plot, SecondsAxis, UnitAxis, restyle, tick_font
from app.plots.ticks import binary_step, nice_step
from app.words.plain import cut
from app.words.units import seqlen_text

Ends = tuple[float, float]
GIB = float(1 << 30)
HIGHEST = 1e18  # in a lane's unit: what is above, no device reads
LABEL_GAP_PX = 34  # between two labels of N
SHADE = 44  # opacity of a span, of 255
TOP_PX, BOTTOM_PX = 8, 3  # free above the top tick and below 0
TWO_TICKS_PX = 36
SPAN_STEPS = 150  # the open span grows in so many steps, not with every reading


@dataclass(frozen=True)
class Lane:
    """One quantity of the strip.

    Attributes:
        field: The field of a Reading.
        title: What it is.
        unit: Its unit.
        divisor: What a reading is divided by to get the value in the unit.
        about: How far the number can be trusted, for the tooltip.
        top: The least upper end of the axis, in the unit.
        height: Share of the strip's height.
    """

    field: str
    title: str
    unit: str
    about: str
    divisor: float = 1.0
    top: float = 1.0
    height: int = 2


LANES = (
    Lane(
        "memory_used",
        "memory used",
        "GiB",
        "Whole device, other programs included.",
        GIB,
        0.25,
        4,
    ),
    Lane(
        "utilisation",
        "busy (driver window)",
        "%",
        "Share of the driver's window in which any kernel ran; not efficiency.",
        1.0,
        100.0,
    ),
    Lane("power_w", "power", "W", "Board power as the driver reports it.", 1.0, 50.0),
    Lane("temperature_c", "temperature", "°C", "Die temperature.", 1.0, 50.0),
    Lane(
        "sm_clock_mhz",
        "SM clock",
        "MHz",
        "Clock of the multiprocessors at the moment of the reading.",
        1.0,
        500.0,
    ),
)


class _EndTicks(UnitAxis):
    """An axis for a low plot: a tick at the top, and one at 0 where there is room for both."""

    @guarded(list)
    def tickValues(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, list[float]]]:  # noqa: N803
        """The top, or 0 and the top."""
        top = nice_floor(maxVal - TOP_PX * (maxVal - minVal) / max(size, 1.0))
        return [(top or 1.0, [0.0, top] if size >= px(TWO_TICKS_PX) else [top])]


def nice_floor(at_most: float) -> float:
    """The largest of 1, 2, 2.5, 5 times a power of ten that is not above `at_most`."""
    if at_most <= 0:
        return 0.0
    step = nice_step(at_most)
    if step <= at_most * (1 + 1e-9):
        return step
    return max(step * factor for factor in (0.4, 0.5, 0.8) if step * factor <= at_most * (1 + 1e-9))


class TelemetryLane(Plot):
    """Draws one field of the readings as steps, its capacity, and the spans of the kernels."""

    def __init__(self, lane: Lane, theme: Theme, *, with_time: bool, with_seqlen: bool) -> None:
        super().__init__(axisItems={"left": _EndTicks("left"), "bottom": SecondsAxis()}, enableMenu=False)
        self.lane, self._theme, self._with_seqlen = lane, theme, with_seqlen
        self._labels: list[pg.TextItem] = []
        self._drawn: object = None  # what the spans were drawn from: they change far less often than readings
        self._make_items()
        self.plotItem.hideButtons()
        self.setFrameShape(self.Shape.NoFrame)
        self.setMouseEnabled(x=False, y=False)
        view = self.getViewBox()
        view.disableAutoRange()
        view.setDefaultPadding(0)
        left, bottom = self.getAxis("left"), self.getAxis("bottom")
        keep(left, left.setWidth, 44)
        keep(bottom, bottom.setHeight, 18 if with_time else 1)
        bottom.setStyle(showValues=with_time, tickLength=0, tickTextOffset=3)
        left.setStyle(tickLength=0, tickTextOffset=4, hideOverlappingLabels=False)
        keep(self, self.setMinimumHeight, 34 if with_time else 18)
        self.setAccessibleName(f"{lane.title} in {lane.unit} over time in seconds")
        self.apply_theme(theme)

    def _make_items(self) -> None:
        self._shades = pg.BarGraphItem(x0=[], x1=[], y0=[], height=[], brushes=[], pen=pg.mkPen(None))
        self._changes = pg.PlotDataItem(connect="pairs")
        self._capacity = pg.InfiniteLine(angle=0, movable=False)
        self.curve = pg.PlotDataItem(connect="finite", stepMode="right", antialias=False)
        self._note = pg.TextItem(anchor=(0, 0.5))
        self._note.setZValue(10)
        for item in (self._shades, self._changes, self._capacity, self.curve, self._note):
            self.addItem(item, ignoreBounds=True)
        self._capacity.hide()
        self._note.hide()

    def show_readings(self, times: Values, values: Values, spans: Sequence[Span], view: Ends) -> None:
        """Draw the readings that lie in the view (seconds), and the spans behind them."""
        first, last = np.searchsorted(times, view)
        inside = slice(max(0, first - 1), last + 1)
        seen_t, seen_v = thin(times[inside], values[inside] / self.lane.divisor)
        self.curve.setData(seen_t, seen_v)
        top = self._top(seen_v)
        scale = top / max(self.getViewBox().height() - TOP_PX - BOTTOM_PX, 4.0)
        low, high = -BOTTOM_PX * scale, top + TOP_PX * scale
        self.getViewBox().setRange(xRange=view, yRange=(low, high), padding=0)
        self._note.setPos(view[0], (low + high) / 2)
        step = (view[1] - view[0]) / SPAN_STEPS
        newest = math.floor(float(times[-1]) / step) * step if times.size else view[0]
        shown = [span if span.end_s is not None else replace(span, end_s=newest) for span in spans]
        self._shade([span for span in shown if (span.end_s or newest) >= view[0]], view, (low, high))

    def show_capacity(self, capacity: float | None) -> None:
        """Draw a dashed line at the capacity, given in the reading's unit."""
        self._capacity.setVisible(capacity is not None)
        if capacity is not None:
            self._capacity.setValue(capacity / self.lane.divisor)

    def show_note(self, note: str) -> None:
        """Say why there is nothing to draw; an empty note removes the words."""
        note = cut(note)
        if note == self._note.toPlainText() and self._note.isVisible() == bool(note):
            return
        self._note.setVisible(bool(note))
        self.getAxis("left").setStyle(showValues=not note)
        self._note.setText(note, color=self._theme.dim)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour everything that is drawn."""
        self._theme = theme
        restyle(self, theme)
        self.curve.setPen(pg.mkPen(theme.text, width=px(2)))
        self._changes.setPen(pg.mkPen(theme.dim, width=1, dash=[2, 3]))
        self._capacity.setPen(pg.mkPen(theme.error, width=1, dash=[5, 4]))
        self._note.fill = pg.mkBrush(theme.panel)
        for text in (self._note, *self._labels):
            text.setFont(tick_font())
            text.setColor(theme.dim)

    def _top(self, values: Values) -> float:
        finite = values[np.isfinite(values)]
        highest = max(min(float(finite.max()), HIGHEST) if finite.size else 0.0, self.lane.top)
        return binary_step(highest) if self.lane.unit == "GiB" else highest

    def _shade(self, spans: Sequence[Span], view: Ends, height: Ends) -> None:
        drawn = (tuple(spans), view, height, self.width())
        if drawn == self._drawn:
            return
        self._drawn = drawn
        # Kernels that took turns lie in bands above each other, the first on top.
        bands = [
            (span, place, kernel) for span in spans for place, kernel in enumerate(reversed(span.kernels))
        ]
        brushes = {kernel: _shade_brush(kernel, self._theme) for _, _, kernel in bands}
        tall = [(height[1] - height[0]) / len(span.kernels) for span, _, _ in bands]
        self._shades.setOpts(
            x0=[span.start_s for span, _, _ in bands],
            x1=[view[1] if span.end_s is None else span.end_s for span, _, _ in bands],
            y0=[height[0] + place * share for (_, place, _), share in zip(bands, tall, strict=True)],
            height=tall,
            brushes=[brushes[kernel] for _, _, kernel in bands],
        )
        changes = seqlen_changes(list(spans))
        self._changes.setData(np.repeat([time for time, _ in changes], 2), np.tile(height, len(changes)))
        if self._with_seqlen:
            self._label_seqlens(changes, view, height[1])

    def _label_seqlens(self, changes: Sequence[tuple[float, int]], view: Ends, top: float) -> None:
        gap = px(LABEL_GAP_PX) * (view[1] - view[0]) / max(1.0, self.getViewBox().width())
        kept: list[tuple[float, int]] = []
        for index, (time, seqlen) in enumerate(changes):
            following = changes[index + 1][0] if index + 1 < len(changes) else view[1]
            if following - time >= gap and view[0] <= time:
                kept.append((time, seqlen))
        while len(self._labels) < len(kept):
            label = pg.TextItem(anchor=(0, 0), color=self._theme.dim)
            label.setFont(tick_font())
            self.addItem(label, ignoreBounds=True)
            self._labels.append(label)
        for label, (time, seqlen) in zip(self._labels, kept, strict=False):
            label.setText(seqlen_text(seqlen))
            label.setPos(time, top)
        for index, label in enumerate(self._labels):
            label.setVisible(index < len(kept))


def _shade_brush(kernel: str, theme: Theme) -> object:
    colour = pg.mkColor(kernel_mark(kernel).on(theme))
    colour.setAlpha(SHADE)
    return pg.mkBrush(colour)
