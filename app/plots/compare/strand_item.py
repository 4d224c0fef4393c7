"""What one kernel of one session draws in a plot of a comparison; created once."""

from typing import Any

import numpy as np
import pyqtgraph as pg

from app.look.theme import Theme, kernel_mark
from app.look.zoom import ZOOM, px
from app.plots.compare.dashes import session_pen
from app.plots.compare.strands import Strand
from app.plots.dots import brush, dress, pen
from app.plots.marks import LINE_ONLY
from app.plots.ring import thin
from app.plots.shapes import OWN
from app.plots.symbols import symbol
from app.plots.ticks import to_axis
from app.words.kinds import Scale

SYMBOL_PX = 8
FAINT = 0.3  # opacity of what is not the current session's
BEHIND = 5  # by how much that lies deeper
MOST_SYMBOLS = 300  # of a strand: more are a line alone


class StrandItem:
    """A line, its symbols and its whiskers; hollow symbols stand for what is no change.

    Args:
        plot: Where they are drawn.
        kernel: Whose colour and symbol they have.
        session: Whose dashes the line has, 0 for the baseline.
        theme: The colours in use.
    """

    def __init__(self, plot: pg.PlotWidget, kernel: str, session: int, theme: Theme) -> None:
        self._mark, self._session, self._theme = kernel_mark(kernel), session, theme
        self._changed = np.zeros(0, bool)  # of what has a symbol
        self._line = pg.PlotCurveItem(connect="finite", antialias=True)
        self._whiskers = pg.PlotCurveItem(connect="pairs", antialias=True)
        self._symbols = pg.ScatterPlotItem(pxMode=True, symbol=symbol(self._mark.symbol))
        self._parts = ((-1, self._whiskers), (0, self._line), (1, self._symbols))
        for depth, item in self._parts:
            item.setZValue(depth)
            plot.addItem(item, ignoreBounds=True)
        self.apply_theme(theme)

    def draw(self, strand: Strand, scale: Scale) -> None:
        """Draw a strand on axes of log2 N and of that scale."""
        x, y = to_axis(strand.seqlen, "log2"), to_axis(strand.value, scale)
        few = y.size <= MOST_SYMBOLS
        self._line.setData(*thin(x, y))
        ends = np.column_stack((to_axis(strand.low, scale), to_axis(strand.high, scale)))
        known = np.isfinite(ends).all(axis=1) & few
        self._whiskers.setData(np.repeat(x[known], 2), ends[known].ravel())
        shown = np.isfinite(y) & few
        self._changed = strand.changed[shown]
        self._symbols.setData(x=x[shown], y=y[shown], brush=self._brushes())

    def set_faint(self, faint: bool) -> None:
        """Let it stand back behind the others, or not."""
        for depth, item in self._parts:
            item.setOpacity(FAINT if faint else 1.0)
            item.setZValue(depth - BEHIND if faint else depth)

    def set_visible(self, visible: bool) -> None:
        """Show or hide all of it."""
        for _, item in self._parts:
            item.setVisible(visible)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        colour = self._mark.on(theme)
        self._line.setPen(session_pen(self._session, colour, self._mark.width))
        self._whiskers.setPen(pg.mkPen(colour, width=1.2 * ZOOM.factor))
        dress(self._symbols, self._rim(), self._brushes(), px(SYMBOL_PX))

    def _rim(self) -> Any:
        """Hollow symbols need a line in the kernel's colour; ours are holes and areas already."""
        own = self._mark.symbol in OWN and self._mark.symbol not in LINE_ONLY
        return pen(self._mark.on(self._theme), (0.6 if own else 1.4) * ZOOM.factor)

    def _brushes(self) -> list[Any]:
        full, hollow = brush(self._mark.on(self._theme)), brush(self._theme.panel)
        return [full if one else hollow for one in self._changed]
