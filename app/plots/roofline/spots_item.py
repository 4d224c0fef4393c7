"""One kernel in a roofline: its points by each kind of bytes, and a line between those of each."""

from collections.abc import Sequence
from itertools import combinations

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
from flashscope.app.words.devices.roofline import TIERS
from flashscope.profiles.results.theory.roofline import Spot

SYMBOL_PX, SMALL_PX = 10, 6
FAINT = 130  # of 255

SpotPlaces = NDArray[np.float64]


class SpotsItem:
    """The points of one kernel, made once; by bytes of memory filled, of the cache hollow, of tiles small.

    Attributes:
        spots: What is drawn.
        tiers: Places of the filled ones, of the hollow ones and of the small ones, each (points, 2); NaN
            where there is none.
    """

    def __init__(self, plot: pg.PlotWidget, kernel: str, theme: Theme) -> None:
        self.kernel = kernel
        self._join = pg.PlotCurveItem(connect="pairs", antialias=True)
        self._dots = [
            pg.ScatterPlotItem(symbol=symbol(kernel_mark(kernel).symbol), pxMode=True) for _ in TIERS
        ]
        for depth, item in enumerate((self._join, *reversed(self._dots))):
            item.setZValue(depth)
            plot.addItem(item, ignoreBounds=True)
        self.apply_theme(theme)
        self.show(())

    def show(self, spots: Sequence[Spot]) -> None:
        """Draw these points in place of what was drawn."""
        self.spots = spots
        height = to_axis([spot.tflops for spot in spots], "log10")
        across = [
            to_axis([_or_nan(spot.intensities[tier]) for spot in spots], "log10")
            for tier in range(len(TIERS))
        ]
        self.tiers = [np.column_stack((x, height)) for x in across]
        self._fill()

    def _fill(self) -> None:
        pairs = [self._pairs(first, second) for first, second in combinations(range(len(TIERS)), 2)]
        joined = np.concatenate(pairs)
        self._join.setData(joined[:, 0], joined[:, 1])
        for dots, places in zip(self._dots, self.tiers, strict=True):
            known = np.isfinite(places).all(axis=1)
            dots.setData(places[known, 0], places[known, 1])

    def _pairs(self, first: int, second: int) -> SpotPlaces:
        """Ends of the lines between neighbouring marks: of one tier and of the next that is known."""
        between = [np.isfinite(places).all(axis=1) for places in self.tiers[first + 1 : second]]
        ends = self.tiers[first], self.tiers[second]
        drawn = np.logical_and.reduce([np.isfinite(places).all(axis=1) for places in ends])
        for known in between:
            drawn &= ~known
        return np.stack([places[drawn] for places in ends], axis=1).reshape(-1, 2)

    def place(self, number: int) -> tuple[float, float]:
        """Where the point of this number stands: by the bytes of memory if those are known."""
        first = next((places for places in self.tiers if np.isfinite(places[number]).all()), self.tiers[0])
        x, y = first[number]
        return float(x), float(y)

    def set_visible(self, visible: bool) -> None:
        """Show or hide all of it."""
        for item in (self._join, *self._dots):
            item.setVisible(visible)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        mark = kernel_mark(self.kernel)
        colour = mark.on(theme)
        faint = pg.mkColor(colour)
        faint.setAlpha(FAINT)
        rim = pen(None) if mark.symbol in FILLED else pen(theme.panel)
        filled, hollow, small = self._dots
        dress_dots(filled, pen(colour) if mark.symbol in LINE_ONLY else rim, brush(colour), px(SYMBOL_PX))
        for dots, size in ((hollow, SYMBOL_PX), (small, SMALL_PX)):
            dress_dots(dots, pen(colour, 1.2 * ZOOM.factor), brush(theme.panel), px(size))
        self._join.setPen(pg.mkPen(faint, width=1.2 * ZOOM.factor))


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value
