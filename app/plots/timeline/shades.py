"""The spans of the kernels behind a plot over time, and a line wherever N changes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF

from flashscope.app.figures.spans import Span, seqlen_changes
from flashscope.app.look.theme import Theme
from flashscope.app.plots.filling import filling
from flashscope.app.plots.timeline.span_bars import SpanBars

ShadeRange = tuple[float, float]
MOST_CHANGES = 100  # of N that have a line


class Shades:
    """Drawn anew only where something has changed, which is far less often than readings come.

    Args:
        plot: What they stand in.
        opacity: Of a span, of 255.

    Attributes:
        bars: The spans.
    """

    def __init__(self, plot: Any, opacity: int) -> None:
        self.bars = SpanBars()
        self._changes = pg.PlotDataItem(connect="pairs")
        self._opacity = opacity
        self._drawn: object = None
        for item in (self.bars, self._changes):
            plot.addItem(item, ignoreBounds=True)

    def draw(self, spans: Sequence[Span], view: ShadeRange, height: ShadeRange, theme: Theme) -> None:
        """Draw these, to the end of the view where one has no end; kernels that took turns lie in bands."""
        drawn = (tuple(spans), view, height, theme)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        self.bars.show_bars(
            [
                (filling(kernel, theme, self._opacity), bars)
                for kernel, bars in _bars(spans, view[1], height).items()
            ]
        )
        changes = seqlen_changes(list(spans))
        changes = changes if len(changes) <= MOST_CHANGES else []  # they would hide what they part
        self._changes.setData(np.repeat([time for time, _ in changes], 2), np.tile(height, len(changes)))
        self._changes.setPen(pg.mkPen(theme.dim, width=1, dash=[2, 3]))


def _bars(spans: Sequence[Span], end_s: float, height: ShadeRange) -> dict[str, list[QRectF]]:
    """Where each kernel's bars stand, in units of the plot; in a span the last kernel's is the lowest."""
    bars: dict[str, list[QRectF]] = {}
    for span in spans:
        wide = (end_s if span.end_s is None else span.end_s) - span.start_s
        tall = (height[1] - height[0]) / len(span.kernels)
        for place, kernel in enumerate(reversed(span.kernels)):
            bar = QRectF(span.start_s, height[0] + place * tall, wide, tall)
            bars.setdefault(kernel, []).append(bar)
    return bars
