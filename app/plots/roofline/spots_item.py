"""One kernel in a roofline: its points by both kinds of bytes, and a line between the two of each."""

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray

from flashscope.app.figures.ticks import to_axis
from flashscope.app.look.kernel_marks import kernel_mark
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import ZOOM, px
from flashscope.app.plots.dots import brush, dress_dots, pen
from flashscope.app.plots.marks import LINE_ONLY
from flashscope.app.plots.symbols import FILLED, symbol
from flashscope.profiles.results.theory.roofline import Spot

SYMBOL_PX = 10
FAINT = 130  # of 255

SpotPlaces = NDArray[np.float64]


class SpotsItem:
    """The points of one kernel, made once; filled by the bytes of memory, hollow by those of the cache.

    Attributes:
        spots: What is drawn.
        dram: Places of the filled ones, (points, 2); NaN where there is none.
        l2: The same of the hollow ones.
    """

    def __init__(self, plot: pg.PlotWidget, kernel: str, theme: Theme) -> None:
        self.kernel = kernel
        self._join = pg.PlotCurveItem(connect="pairs", antialias=True)
        self._filled, self._hollow = (
            pg.ScatterPlotItem(symbol=symbol(kernel_mark(kernel).symbol), pxMode=True) for _ in range(2)
        )
        for item, depth in ((self._join, 0), (self._hollow, 1), (self._filled, 2)):
            item.setZValue(depth)
            plot.addItem(item, ignoreBounds=True)
        self.apply_theme(theme)
        self.show(())

    def show(self, spots: Sequence[Spot]) -> None:
        """Draw these points in place of what was drawn."""
        self.spots = spots
        height = to_axis([spot.tflops for spot in spots], "log10")
        across = [to_axis([_or_nan(spot.intensities[tier]) for spot in spots], "log10") for tier in (0, 1)]
        self.dram, self.l2 = (np.column_stack((x, height)) for x in across)
        self._fill()

    def _fill(self) -> None:
        both = np.isfinite(self.dram).all(axis=1) & np.isfinite(self.l2).all(axis=1)
        pairs = np.stack((self.dram[both], self.l2[both]), axis=1).reshape(-1, 2)
        self._join.setData(pairs[:, 0], pairs[:, 1])
        for dots, places in ((self._filled, self.dram), (self._hollow, self.l2)):
            known = np.isfinite(places).all(axis=1)
            dots.setData(places[known, 0], places[known, 1])

    def place(self, number: int) -> tuple[float, float]:
        """Where the point of this number stands: by the bytes of memory if those are known."""
        x, y = (self.dram if np.isfinite(self.dram[number]).all() else self.l2)[number]
        return float(x), float(y)

    def set_visible(self, visible: bool) -> None:
        """Show or hide all of it."""
        for item in (self._join, self._hollow, self._filled):
            item.setVisible(visible)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        mark = kernel_mark(self.kernel)
        colour = mark.on(theme)
        faint = pg.mkColor(colour)
        faint.setAlpha(FAINT)
        rim = pen(None) if mark.symbol in FILLED else pen(theme.panel)
        dress_dots(
            self._filled, pen(colour) if mark.symbol in LINE_ONLY else rim, brush(colour), px(SYMBOL_PX)
        )
        dress_dots(self._hollow, pen(colour, 1.2 * ZOOM.factor), brush(theme.panel), px(SYMBOL_PX))
        self._join.setPen(pg.mkPen(faint, width=1.2 * ZOOM.factor))


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value
