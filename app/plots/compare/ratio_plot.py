"""The ratio to the baseline over N, with the band in which no change counts."""

from dataclasses import replace

import numpy as np
import pyqtgraph as pg

from flashscope.app.figures.strands import Band
from flashscope.app.figures.ticks import to_axis
from flashscope.app.look.theme import Theme
from flashscope.app.plots.compare.strand_plot import StrandPlot
from flashscope.app.words.kinds import KINDS

RATIO = replace(KINDS["ratio"], scale="log10")  # as far down as up: half is as far from 1 as twice
EMPTY = Band(np.empty(0), np.empty(0))
MOST = 400  # lengths of the band
SHADE = 60  # of 255
EDGE = 0.2  # doublings of N that the band goes beyond its first and last length


class RatioPlot(StrandPlot):
    """Strands of ratios around a line at 1."""

    def __init__(self, theme: Theme) -> None:
        self._one = pg.InfiniteLine(0.0, angle=0, movable=False)
        self._edges = [pg.PlotCurveItem(), pg.PlotCurveItem()]
        self._shade = pg.FillBetweenItem(*self._edges)
        self._band = EMPTY
        super().__init__("Ratio to the baseline over sequence length", RATIO, theme)
        for depth, item in ((-30, self._shade), (-20, self._one)):
            item.setZValue(depth)
            self.addItem(item, ignoreBounds=True)

    def show_band(self, band: Band) -> None:
        """Shade what is no change."""
        self._band = band = _fewer(band)
        x = to_axis(band.seqlen, "log2")
        if x.size:
            x = np.concatenate(([x[0] - EDGE], x, [x[-1] + EDGE]))
        share = np.concatenate((band.share[:1], band.share, band.share[-1:]))
        for edge, sign in zip(self._edges, (-1, 1), strict=True):
            edge.setData(x, sign * np.log10(1 + share))
        self._shade.setVisible(bool(x.size))

    def show_hint(self, text: str) -> None:
        """Say why there is nothing to see, in place of the line at 1."""
        super().show_hint(text)
        self._one.setVisible(not text)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        super().apply_theme(theme)
        shade = pg.mkColor(theme.dim)
        shade.setAlpha(SHADE)
        self._shade.setBrush(pg.mkBrush(shade))
        self._one.setPen(pg.mkPen(theme.dim, width=1))

    def _extent(self) -> tuple[float, float]:
        """With 1 and the band in sight, unless what is to be seen is far larger."""
        low, high = super()._extent() if self._strands else (0.0, 0.0)
        widest = float(np.log10(1 + self._band.share.max(initial=0.0)))
        return min(low, -widest), max(high, widest)


def _fewer(band: Band) -> Band:
    """A band of no more lengths than can be told apart, as wide as the widest of those it leaves out."""
    starts = np.arange(0, band.seqlen.size, 1 + band.seqlen.size // MOST)
    return Band(band.seqlen[starts], np.maximum.reduceat(band.share, starts)) if starts.size else band
