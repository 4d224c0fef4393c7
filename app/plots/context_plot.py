"""What is held over the context: a curve a kernel, the device's memory as a line, and where they meet."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log2
from typing import NamedTuple

import pyqtgraph as pg
from PySide6.QtCore import QSize, Qt

from flashscope.app.control.guard import guarded
from flashscope.app.figures.free_places import Box, free_place
from flashscope.app.figures.ticks import to_axis
from flashscope.app.look.kernel_marks import kernel_mark
from flashscope.app.look.theme import CAPTION_PX, Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.plots.axes import SeqlenAxis, ValueAxis
from flashscope.app.plots.dots import brush, dress_dots, pen
from flashscope.app.plots.style import Plot, grid_behind, restyle, tick_font
from flashscope.app.plots.symbols import symbol
from flashscope.app.plots.view_pixels import ViewPixels, around
from flashscope.app.words.kinds import KINDS
from flashscope.app.words.units import bytes_text, thousands

ContextCurve = Sequence[tuple[int, int]]
MARK_PX, EDGE = 11, 1  # the edge of a text that may stand on a line, in pixels
ABOVE, BELOW, BESIDE = 2.5, 0.7, 1.0  # doublings beyond the memory, the lowest curve and the longest context


class Drawn(NamedTuple):
    """What is drawn.

    Attributes:
        curves: (N, bytes) by kernel, rising.
        limits: The longest context that fits, by kernel; 0: none does.
        named: Whose limits are written out.
        capacity: Bytes of the device.
        context: N that is asked for.
    """

    curves: Mapping[str, ContextCurve] = {}
    limits: Mapping[str, int] = {}
    named: Sequence[str] = ()
    capacity: int = 1
    context: int = 1


class KernelItems(NamedTuple):
    """What is shown of a kernel: its curve, the mark of its limit, and that in words."""

    curve: pg.PlotCurveItem
    spot: pg.ScatterPlotItem
    text: pg.TextItem


class ContextPlot(Plot):
    """Draws a ledger over N: formulas, so its curves are dashed."""

    def __init__(self, theme: Theme) -> None:
        self._x_axis, self._y_axis = SeqlenAxis(), ValueAxis(KINDS["bytes"])
        super().__init__(axisItems={"bottom": self._x_axis, "left": self._y_axis}, enableMenu=False)
        self._theme, self.drawn = theme, Drawn()
        self._shown: dict[str, KernelItems] = {}
        self._memory = pg.InfiniteLine(angle=0, movable=False)
        self._asked = pg.InfiniteLine(angle=90, movable=False)
        self._said, self._context = pg.TextItem(anchor=(0, 1)), pg.TextItem(anchor=(0, 0))
        self._corner = pg.LabelItem("N")
        for item in (self._memory, self._asked, self._said, self._context):
            self.addItem(item, ignoreBounds=True)
        self._memory.setZValue(6)  # over the ground of a text, under the marks
        self.plotItem.layout.addItem(self._corner, 3, 0)
        self.range_by_hand()
        self.getViewBox().sigResized.connect(lambda *_: self._place_names())
        self.setAccessibleName("Memory over context, by kernel")
        keep(self._y_axis, self._y_axis.setWidth, 60)
        keep(self, self.setMinimumSize, 200, 150)
        self.apply_theme(theme)

    @guarded(QSize)
    def sizeHint(self) -> QSize:
        """As small as it may be: it takes the room that is left, and makes no page higher."""
        return QSize(self.minimumSize())

    def draw(self, drawn: Drawn) -> None:
        """Draw these curves in place of those before."""
        self.drawn = drawn
        for kernel in {**self._shown, **drawn.curves}:
            self._show_kernel(kernel, self._of(kernel))
        self._memory.setPos(log2(drawn.capacity))
        self._asked.setPos(log2(drawn.context))
        self._said.setText(f"{bytes_text(drawn.capacity)} of memory")
        self._context.setText(f"context {thousands(drawn.context)}")
        self._range()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        restyle(self, theme)
        grid_behind(self._x_axis, self._y_axis)
        self._corner.setText("N", color=theme.dim, size=f"{px(CAPTION_PX)}px")
        self._memory.setPen(pg.mkPen(theme.text, width=px(1.5)))
        self._asked.setPen(pg.mkPen(theme.dim, width=1, style=Qt.PenStyle.DotLine))
        for said, colour in ((self._said, theme.text), (self._context, theme.dim)):
            said.setFont(tick_font())
            said.setColor(colour)
        self.draw(self.drawn)

    def _of(self, kernel: str) -> KernelItems:
        """The items of a kernel, made when it is shown first."""
        if kernel not in self._shown:
            shown = KernelItems(pg.PlotCurveItem(), pg.ScatterPlotItem(), pg.TextItem(anchor=(0, 0)))
            for item, depth in zip(shown, (0, 10, 5), strict=True):
                item.setZValue(depth)
                self.addItem(item, ignoreBounds=True)
            self._shown[kernel] = shown
        return self._shown[kernel]

    def _show_kernel(self, kernel: str, shown: KernelItems) -> None:
        drawn, theme, mark = self.drawn, self._theme, kernel_mark(kernel)
        points, tokens = drawn.curves.get(kernel, ()), drawn.limits.get(kernel, 0)
        dashed = pg.mkPen(mark.on(theme), width=px(mark.width), style=Qt.PenStyle.DashLine)
        n, held = (to_axis(column, "log2") for column in (zip(*points, strict=True) if points else ((), ())))
        shown.curve.setData(n, held, pen=dashed, antialias=True)
        shown.spot.setData([log2(max(tokens, 1))], [log2(drawn.capacity)], symbol=symbol(mark.symbol))
        dress_dots(shown.spot, pen(theme.panel), brush(mark.on(theme)), px(MARK_PX))
        shown.spot.setVisible(bool(tokens))
        shown.text.setText(f"{kernel} {thousands(tokens)}")
        shown.text.setFont(tick_font())
        shown.text.setColor(theme.text)
        shown.text.fill = pg.mkBrush(theme.panel)  # or the grid would run through it
        shown.text.setVisible(bool(tokens) and kernel in drawn.named)

    def _range(self) -> None:
        """From the first N to beyond the longest that fits; from the lowest curve to above the memory."""
        drawn = self.drawn
        firsts = [points[0] for points in drawn.curves.values()]
        if not firsts:
            return
        first = log2(min(tokens for tokens, _ in firsts))
        last = log2(max(*drawn.limits.values(), drawn.context, 1)) + BESIDE
        top = log2(drawn.capacity)
        low = min(top, log2(min(held for _, held in firsts)))
        view = self.getViewBox()
        view.setRange(xRange=(first, last), yRange=(low - BELOW, top + ABOVE), padding=0)
        self._said.setPos(first, top)
        asked = log2(drawn.context)
        self._context.setAnchor((int(asked > (first + last) / 2), 0))
        self._context.setPos(asked, top + ABOVE)
        self._place_names()

    def _place_names(self) -> None:
        """Put what is written of limits where no curve, mark or other text is; without room it is not."""
        pixels, drawn, size = ViewPixels(self.getViewBox()), self.drawn, px(MARK_PX)
        down = round(
            pixels.of(0, log2(drawn.capacity))[1]
        )  # a whole pixel, or texts on the line would cross it
        limits = {kernel: tokens for kernel, tokens in drawn.limits.items() if tokens}
        spots = {kernel: (pixels.of(log2(tokens), 0)[0], down) for kernel, tokens in limits.items()}
        taken = [around(spot, size) for spot in spots.values()]
        taken += [_box(text, pixels) for text in (self._said, self._context)]
        paths = [[pixels.of(log2(n), log2(held)) for n, held in curve] for curve in drawn.curves.values()]
        lines = [((0, down), (pixels.width, down)), *(line for path in paths for line in pairwise(path))]
        for kernel in sorted(spots.keys() & {*drawn.named}, key=drawn.limits.__getitem__):
            text = self._of(kernel).text
            rect = text.boundingRect()
            needs = rect.width(), rect.height() - 2 * EDGE
            place = free_place(spots[kernel], needs, size / 2 + EDGE, pixels.field, (lines, taken))
            text.setVisible(place is not None)
            if place is not None:
                taken.append(place)
                text.setPos(*pixels.value(place.left, place.top - EDGE))


def _box(text: pg.TextItem, pixels: ViewPixels) -> Box:
    """Where a text is."""
    rect, (across, down) = text.boundingRect(), pixels.of(text.pos().x(), text.pos().y())
    left, upper = across - text.anchor.x() * rect.width(), down - text.anchor.y() * rect.height()
    return Box(left, upper, left + rect.width(), upper + rect.height())
