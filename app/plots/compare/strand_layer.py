"""The strands of a plot of a comparison: a few items draw all of them, as dozens paint too slowly."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QRectF
from PySide6.QtGui import QBrush, QPainter, QPainterPath, QPen

from flashscope.app.control.guard import guarded
from flashscope.app.figures.ring import thin
from flashscope.app.figures.shapes import OWN
from flashscope.app.figures.strands import Strand
from flashscope.app.figures.ticks import to_axis
from flashscope.app.look.kernel_marks import kernel_mark
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import ZOOM, px
from flashscope.app.plots.compare.dashes import session_pen
from flashscope.app.plots.marks import LINE_ONLY
from flashscope.app.plots.symbols import symbol
from flashscope.app.words.kinds import Scale

SYMBOL_PX = 8
FAINT = 0.3  # opacity of what is not the current session's
BEHIND = 5  # by how much that lies deeper
ONE_RUN = 0.45  # opacity of one of several runs
MOST_SYMBOLS = 300  # of a strand: more are a line alone
MOST_IN_ALL = 2000  # of all strands: where they have more, all are lines alone


class StrandStroke(NamedTuple):
    """A strand in the coordinates of a plot; arrays are (points,) of those that have a symbol.

    Attributes:
        strand: What is drawn.
        line: Through all points.
        whiskers: Their spreads.
        x: Where the symbols are.
        y: The same upwards.
        changed: Whether they are filled: hollow ones stand for what is no sure change.
    """

    strand: Strand
    line: QPainterPath
    whiskers: QPainterPath
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    changed: NDArray[np.bool_]


def stroke(strand: Strand, scale: Scale) -> StrandStroke:
    """What draws a strand on axes of log2 N and of that scale."""
    x, y = to_axis(strand.seqlen, "log2"), to_axis(strand.value, scale)
    few = y.size <= MOST_SYMBOLS and not strand.faint
    ends = np.column_stack((to_axis(strand.low, scale), to_axis(strand.high, scale)))
    known = np.isfinite(ends).all(axis=1) & few
    whiskers = pg.arrayToQPath(np.repeat(x[known], 2), ends[known].ravel(), connect="pairs")
    shown = np.isfinite(y) & few
    line = pg.arrayToQPath(*thin(x, y), connect="finite")
    return StrandStroke(strand, line, whiskers, x[shown], y[shown], strand.changed[shown])


class StrandLayer:
    """Some strands of a plot, drawn in their order: whiskers, lines over them, symbols over those.

    Args:
        plot: Where they are drawn.
        theme: The colours in use.
        behind: Whether they stand back, faint.
    """

    def __init__(self, plot: pg.PlotWidget, theme: Theme, *, behind: bool = False) -> None:
        self._theme = theme
        self._lines = LinesItem()
        self._symbols = pg.ScatterPlotItem(pxMode=True)
        for depth, item in enumerate((self._lines, self._symbols)):
            item.setZValue(depth - BEHIND * behind)
            item.setOpacity(FAINT if behind else 1.0)
            plot.addItem(item, ignoreBounds=True)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours: `draw` draws with them."""
        self._theme = theme

    def draw(self, strokes: Sequence[StrandStroke]) -> None:
        """Draw these strands and no others."""
        marked = strokes if sum(one.x.size for one in strokes) <= MOST_IN_ALL else ()
        inked = [
            (one, *_pens(one.strand.kernel, one.strand.session, self._theme, ZOOM.factor, one.strand.faint))
            for one in strokes
        ]
        whiskers = [(pen, one.whiskers) for one, _, pen in inked if marked]
        self._lines.draw([*whiskers, *((pen, one.line) for one, pen, _ in inked)])
        self._mark(marked)

    def _mark(self, strokes: Iterable[StrandStroke]) -> None:
        spots = [spot for one in strokes for spot in _spots(one, self._theme)]
        x, y, symbols, pens, brushes = map(list, zip(*spots, strict=True)) if spots else ([],) * 5
        self._symbols.setData(x=x, y=y, symbol=symbols, pen=pens, brush=brushes, size=px(SYMBOL_PX))


class LinesItem(pg.GraphicsObject):  # type: ignore[misc] # pyqtgraph publishes no types
    """Paths, each with its pen."""

    def __init__(self) -> None:
        super().__init__()
        self._paths: Sequence[tuple[QPen, QPainterPath]] = ()

    def draw(self, paths: Sequence[tuple[QPen, QPainterPath]]) -> None:
        """Draw these lines."""
        self._paths = paths
        self.update()

    @guarded(QRectF)
    def boundingRect(self) -> QRectF:
        """All that is in view."""
        return QRectF(self.viewRect())

    @guarded()
    def viewTransformChanged(self, *_view: object) -> None:
        """Another part is in view."""
        super().viewTransformChanged()
        self.prepareGeometryChange()

    @guarded()
    def paint(self, painter: QPainter, option: object, widget: object = None) -> None:
        """Draw one over the other."""
        del option, widget
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for pen, path in self._paths:
            painter.setPen(pen)
            painter.drawPath(path)


def _spots(one: StrandStroke, theme: Theme) -> Iterator[tuple[float, float, Any, QPen, QBrush]]:
    """Place and look of each symbol."""
    looks = [_look(one.strand.kernel, changed, theme, ZOOM.factor) for changed in (False, True)]
    for x, y, changed in zip(one.x.tolist(), one.y.tolist(), one.changed.tolist(), strict=True):
        yield x, y, *looks[changed]


@cache
def _look(kernel: str, changed: bool, theme: Theme, zoom: float) -> tuple[Any, QPen, QBrush]:
    """Symbol, rim and filling; each made once, as pyqtgraph keeps a picture of every one it has seen.

    Hollow symbols need a line in the kernel's colour; ours are holes and areas already.
    """
    mark = kernel_mark(kernel)
    own = mark.symbol in OWN and mark.symbol not in LINE_ONLY
    rim = pg.mkPen(mark.on(theme), width=(0.6 if own else 1.4) * zoom)
    return symbol(mark.symbol), rim, pg.mkBrush(mark.on(theme) if changed else theme.panel)


@cache
def _pens(kernel: str, session: int, theme: Theme, zoom: float, faint: bool) -> tuple[QPen, QPen]:
    """The pens of a line and of its whiskers; those of one of several runs are faint and thin."""
    mark = kernel_mark(kernel)
    colour = pg.mkColor(mark.on(theme))
    colour.setAlphaF(ONE_RUN if faint else 1.0)
    return session_pen(session, colour, 1.0 if faint else mark.width), pg.mkPen(colour, width=1.2 * zoom)
