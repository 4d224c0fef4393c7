"""The rail at the top of a plot: every point that has no value, at its N, with its reason."""

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF

from app.plots.series import Failure
from app.plots.status_marks import STATUS_MARKS, status_path
from app.plots.style import tick_font
from app.theme import Theme, kernel_mark

HEADROOM_PX = 8
ROW_PX = 15


def failure_text(failure: Failure) -> str:
    """What the tooltip of a glyph says."""
    word = STATUS_MARKS[failure.status].word
    reason = f": {failure.reason}" if failure.reason else ""
    return f"{failure.kernel}, N = {failure.seqlen}, {word}{reason}"


class FailureRail:
    """Glyphs in rows, one row a kernel that failed somewhere, kept at the top of the view.

    Attributes:
        row_count: How many rows there are.
        scatter: The glyphs; each spot's data is its Failure.
    """

    def __init__(self, plot: pg.PlotWidget) -> None:
        self._plot = plot
        self._rows: list[tuple[Failure, ...]] = []
        self._words: list[pg.TextItem] = []
        self.scatter = pg.ScatterPlotItem(size=11, pxMode=True, hoverable=True, tip=_tip, hoverSize=15)
        plot.addItem(self.scatter, ignoreBounds=True)
        self.scatter.setZValue(20)
        plot.getViewBox().sigRangeChanged.connect(self.place)

    @property
    def row_count(self) -> int:
        """Rows in use."""
        return len(self._rows)

    def set_failures(self, by_kernel: Sequence[tuple[Failure, ...]]) -> None:
        """Show these, one row for each kernel that has any."""
        self._rows = [failures for failures in by_kernel if failures]
        while len(self._words) < len(self._rows):
            word = pg.TextItem(anchor=(1, 0.5))
            word.setFont(tick_font())
            self._plot.addItem(word, ignoreBounds=True)
            self._words.append(word)
        for word, failures in zip(self._words, self._rows, strict=False):
            word.setText(STATUS_MARKS[failures[0].status].word, color=kernel_mark(failures[0].kernel).colour)
        for index, word in enumerate(self._words):
            word.setVisible(index < len(self._rows))
        self.place()

    def place(self, *_: object) -> None:
        """Put the rows back at the top after the view moved."""
        view = self._plot.getViewBox()
        spots = [
            _spot(failure, view.mapToView(QPointF(0, HEADROOM_PX + ROW_PX * row)).y())
            for row, failures in enumerate(self._rows)
            for failure in failures
        ]
        self.scatter.setData(spots)
        for row, (word, failures) in enumerate(zip(self._words, self._rows, strict=False)):
            word.setPos(*_word_place(view, failures[0], row))

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the words' background so that curves do not run through them."""
        for word in self._words:
            word.fill = pg.mkBrush(theme.panel)
            word.update()


def _spot(failure: Failure, y: float) -> dict[str, object]:
    pen = pg.mkPen(kernel_mark(failure.kernel).colour, width=1.8)
    symbol = status_path(failure.status)
    return {
        "pos": (float(np.log2(failure.seqlen)), y),
        "symbol": symbol,
        "pen": pen,
        "brush": None,
        "data": failure,
    }


def _tip(x: float, y: float, data: Failure) -> str:
    del x, y
    return failure_text(data)


def _word_place(view: pg.ViewBox, failure: Failure, row: int) -> tuple[float, float]:
    """Left of the row's first glyph."""
    glyph = view.mapFromView(QPointF(float(np.log2(failure.seqlen)), 0)).x()
    place = view.mapToView(QPointF(glyph - 7, HEADROOM_PX + ROW_PX * row))
    return place.x(), place.y()
