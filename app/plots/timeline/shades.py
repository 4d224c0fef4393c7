"""The spans of the kernels behind a plot over time, and a line wherever N changes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg

from flashscope.app.figures.spans import Span, seqlen_changes
from flashscope.app.look.theme import Theme
from flashscope.app.plots.filling import filling

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
        self.bars = pg.BarGraphItem(x0=[], x1=[], y0=[], height=[], brushes=[], pen=pg.mkPen(None))
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
        bands = [
            (span, place, kernel) for span in spans for place, kernel in enumerate(reversed(span.kernels))
        ]
        brushes = {kernel: filling(kernel, theme, self._opacity) for _, _, kernel in bands}
        tall = [(height[1] - height[0]) / len(span.kernels) for span, _, _ in bands]
        self.bars.setOpts(
            x0=[span.start_s for span, _, _ in bands],
            x1=[view[1] if span.end_s is None else span.end_s for span, _, _ in bands],
            y0=[height[0] + place * share for (_, place, _), share in zip(bands, tall, strict=True)],
            height=tall,
            brushes=[brushes[kernel] for _, _, kernel in bands],
        )
        changes = seqlen_changes(list(spans))
        changes = changes if len(changes) <= MOST_CHANGES else []  # they would hide what they part
        self._changes.setData(np.repeat([time for time, _ in changes], 2), np.tile(height, len(changes)))
        self._changes.setPen(pg.mkPen(theme.dim, width=1, dash=[2, 3]))
