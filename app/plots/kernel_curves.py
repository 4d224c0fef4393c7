"""What one kernel draws in one plot: its curve, its whiskers and its model; created once."""

from typing import Any

import numpy as np
import pyqtgraph as pg

from app.look.theme import Theme, kernel_mark
from app.plots.axes import to_axis
from app.plots.marks import LINE_ONLY
from app.plots.series import Series, Values
from app.plots.symbols import OWN, symbol
from app.words.kinds import Scale


class KernelCurves:
    """The three items of one kernel in one plot."""

    def __init__(self, plot: pg.PlotWidget, kernel: str, theme: Theme) -> None:
        self._mark = kernel_mark(kernel)
        self._drawn: tuple[Series, Scale] | None = None
        # The places are computed here, so the items never transform themselves: log mode stays off.
        self._model = pg.PlotCurveItem(connect="finite", antialias=True)
        self._whiskers = pg.PlotCurveItem(connect="pairs", antialias=True)
        self.curve = pg.PlotDataItem(
            connect="finite", antialias=True, symbol=symbol(self._mark.symbol), symbolSize=8
        )
        self._model.setZValue(-10)
        for item in (self._model, self._whiskers, self.curve):
            plot.addItem(item, ignoreBounds=True)
        self.apply_theme(theme)

    def set_series(self, series: Series, scale: Scale) -> None:
        """Draw the series, placed on axes of log2 N and of that scale."""
        if self._drawn is not None and _same(self._drawn[0], series) and self._drawn[1] == scale:
            return  # most updates concern another kernel
        self._drawn = (series, scale)
        x = to_axis(series.seqlen, "log2")
        _draw(self.curve, x, to_axis(series.value, scale))
        _draw(self._model, x, to_axis(series.model, scale))
        ends = np.column_stack((to_axis(series.low, scale), to_axis(series.high, scale)))
        known = np.isfinite(ends).all(axis=1)
        self._whiskers.setData(np.repeat(x[known], 2), ends[known].ravel())

    def set_visible(self, visible: bool) -> None:
        """Show or hide all three."""
        for item in (self.curve, self._model, self._whiskers):
            item.setVisible(visible)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour; a rim in the card's colour keeps overlapping symbols legible."""
        colour = pg.mkColor(self._mark.on(theme))
        self.curve.setPen(pg.mkPen(colour, width=self._mark.width))
        self.curve.setSymbolPen(self._rim(colour, theme))
        self.curve.setSymbolBrush(pg.mkBrush(colour))
        self._whiskers.setPen(pg.mkPen(colour, width=1.5))
        faint = pg.mkColor(colour)
        faint.setAlpha(200)
        self._model.setPen(pg.mkPen(faint, width=1.3, dash=[4, 4]))

    def _rim(self, colour: Any, theme: Theme) -> Any:
        """What a symbol is drawn with around its area; it would eat up our own, which have holes."""
        if self._mark.symbol in OWN:
            return pg.mkPen(None)
        return pg.mkPen(colour if self._mark.symbol in LINE_ONLY else theme.panel, width=1)


def _draw(item: pg.PlotDataItem, x: Values, y: Values) -> None:
    """Set the data; symbols need at least one finite place, so without one there is no data at all."""
    known = slice(None) if np.isfinite(y).any() else slice(0)
    item.setData(x[known], y[known])


def _same(one: Series, other: Series) -> bool:
    """Whether two series look the same."""
    columns = ("seqlen", "value", "low", "high", "model")
    return all(np.array_equal(getattr(one, c), getattr(other, c), equal_nan=True) for c in columns)
