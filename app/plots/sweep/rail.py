"""The rail at the top of a plot: every point that has no value, at its N, with its reason."""

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF

from flashscope.app.figures.series import Failure, failure_text
from flashscope.app.figures.statuses import STATUS_MARKS
from flashscope.app.look.kernel_marks import kernel_mark
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import ZOOM, px
from flashscope.app.plots.dots import brush, pen
from flashscope.app.plots.status_marks import status_path
from flashscope.app.plots.style import tick_font
from flashscope.app.widgets.plain import plain_tip

HEADROOM_PX = 8
ROW_PX = 15
GLYPH_PX = 11
GAP_PX = 7  # between a glyph and its word
LOW_PX = 150  # a view lower than this has room for one row only, and for no words


class FailureRail:
    """Glyphs in rows, one row a kernel that failed somewhere, kept at the top of the view.

    In a low view all glyphs stand in one row, the kernels' side by side.

    Attributes:
        scatter: The glyphs; each spot's data is its Failure.
    """

    def __init__(self, plot: pg.PlotWidget, theme: Theme) -> None:
        self._theme = theme
        self._plot = plot
        self._rows: list[tuple[Failure, ...]] = []
        self._words: list[pg.TextItem] = []
        self.scatter = pg.ScatterPlotItem(size=px(GLYPH_PX), pxMode=True, hoverable=True, tip=_tip)
        plot.addItem(self.scatter, ignoreBounds=True)
        self.scatter.setZValue(20)
        plot.getViewBox().sigRangeChanged.connect(self.place)

    @property
    def height_px(self) -> int:
        """Pixels the rail takes from the top of the view."""
        if not self._rows:
            return 0
        return px(HEADROOM_PX) + px(ROW_PX) * (1 if self._compact else len(self._rows))

    @property
    def _compact(self) -> bool:
        return bool(self._plot.getViewBox().height() < px(LOW_PX)) and len(self._rows) > 1

    def set_failures(self, by_kernel: Sequence[tuple[Failure, ...]]) -> None:
        """Show these, one row for each kernel that has any."""
        self._rows = [failures for failures in by_kernel if failures]
        while len(self._words) < len(self._rows):
            word = pg.TextItem(anchor=(1, 0.5), fill=self._theme.panel)
            word.setFont(tick_font())
            self._plot.addItem(word, ignoreBounds=True)
            word.setZValue(19 - len(self._words))  # a word's background must not cut the one above
            self._words.append(word)
        for word, failures in zip(self._words, self._rows, strict=False):
            word.setText(STATUS_MARKS[failures[0].status].word, color=self._theme.dim)
        self.place()

    def place(self, *_: object) -> None:
        """Put the rows back at the top after the view moved."""
        places = [
            [self._place(failure, row) for failure in failures] for row, failures in enumerate(self._rows)
        ]
        spots = [
            _spot(failure, place.x(), place.y(), self._theme)
            for failures, line in zip(self._rows, places, strict=True)
            for failure, place in zip(failures, line, strict=True)
        ]
        self.scatter.setData(spots)
        for index, word in enumerate(self._words):
            shown = index < len(self._rows) and not self._compact
            word.setVisible(shown and self._place_word(word, self._rows[index], index))

    def _place_word(self, word: pg.TextItem, failures: Sequence[Failure], row: int) -> bool:
        """Left of the first glyph, or right of the last one where the left has no room; whether one has."""
        view = self._plot.getViewBox()
        first, last = (
            view.mapFromView(QPointF(float(np.log2(failures[end].seqlen)), 0)).x() for end in (0, -1)
        )
        gap, width = px(GAP_PX), word.boundingRect().width()
        fits = first - gap >= width
        word.setAnchor((1, 0.5) if fits else (0, 0.5))
        word.setPos(self._place(failures[0] if fits else failures[-1], row, -gap if fits else gap))
        return fits or bool(last + gap + width <= view.width())

    def _place(self, failure: Failure, row: int, shift_px: float = 0.0) -> QPointF:
        view = self._plot.getViewBox()
        x = view.mapFromView(QPointF(float(np.log2(failure.seqlen)), 0)).x() + shift_px
        if self._compact:
            peers = [r for r, line in enumerate(self._rows) if any(f.seqlen == failure.seqlen for f in line)]
            width = px(ROW_PX)
            first = x - width * (len(peers) - 1) / 2
            last_first = view.width() - width * (len(peers) - 0.5)  # where they still end inside the view
            x = max(min(first, last_first), width / 2) + width * peers.index(row)
        y = px(HEADROOM_PX) + (0 if self._compact else px(ROW_PX) * row)
        return QPointF(view.mapToView(QPointF(x, y)))

    def apply_theme(self, theme: Theme) -> None:
        """Recolour glyphs and words; the words' background keeps curves from running through them."""
        self._theme = theme
        self.scatter.setSize(px(GLYPH_PX))
        for word in self._words:
            word.setFont(tick_font())
            word.fill = pg.mkBrush(theme.panel)
            word.setColor(theme.dim)
        self.place()


def _spot(failure: Failure, x: float, y: float, theme: Theme) -> dict[str, object]:
    line = pen(kernel_mark(failure.kernel).on(theme), 1.8 * ZOOM.factor)
    symbol = status_path(failure.status)
    return {"pos": (x, y), "symbol": symbol, "pen": line, "brush": brush(None), "data": failure}


def _tip(x: float, y: float, data: Failure) -> str:
    del x, y
    return plain_tip(failure_text(data))
