"""The telemetry's common time axis: seconds under a bar of what ran, and N above it, clear of any trace."""

from collections.abc import Sequence

import pyqtgraph as pg

from flashscope.app.figures.spans import Span, seqlen_stretches
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.plots.filling import OPAQUE
from flashscope.app.plots.style import SecondsAxis, UnitAxis, restyle
from flashscope.app.plots.timeline.shades import ShadeRange, Shades
from flashscope.app.plots.timeline.time_plot import TimePlot
from flashscope.app.words.units import seqlen_text

HEIGHT_PX, AXIS_PX = 46, 17
LABEL_PX = 30  # that a label of N needs
WHOLE = (0.0, 1.0)


class Ruler(TimePlot):
    """What ran when, in the kernels' own colours, and the span of the chosen point in a frame."""

    def __init__(self, theme: Theme) -> None:
        axes = {"left": UnitAxis("left"), "bottom": SecondsAxis(), "top": UnitAxis("top")}
        super().__init__(axes, theme)
        for name in ("bottom", "top"):
            axis = self.getAxis(name)
            axis.show()
            keep(axis, axis.setHeight, AXIS_PX)
            axis.setStyle(tickLength=0, tickTextOffset=2, hideOverlappingLabels=name == "bottom")
        self.getAxis("left").setStyle(showValues=False)
        keep(self, self.setFixedHeight, HEIGHT_PX)
        self.setAccessibleName("What ran over time in seconds, and at which N")
        self._shades = Shades(self, OPAQUE)
        self._chosen = pg.LinearRegionItem(movable=False)
        self._chosen.hide()
        self.addItem(self._chosen, ignoreBounds=True)
        self.apply_theme(theme)

    def show_spans(self, spans: Sequence[Span], view: ShadeRange) -> None:
        """Draw these spans in a view in seconds."""
        self.box.setRange(xRange=view, yRange=WHOLE, padding=0)
        self._shades.draw(spans, view, WHOLE, self._theme)
        self.getAxis("top").setTicks([self._labels(spans, view)])

    def show_chosen(self, ends: ShadeRange | None) -> None:
        """Frame this stretch of time; None: nothing is chosen."""
        self._chosen.setVisible(ends is not None)
        if ends is not None:
            self._chosen.setRegion(ends)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour; the spans follow when they are drawn."""
        self._theme = theme
        restyle(self, theme)
        self._chosen.setBrush(pg.mkBrush(None))
        for line in self._chosen.lines:
            line.setPen(pg.mkPen(theme.text, width=px(3)))

    def _labels(self, spans: Sequence[Span], view: ShadeRange) -> list[tuple[float, str]]:
        """N in the middle of each stretch that has room for it."""
        room = px(LABEL_PX) * (view[1] - view[0]) / max(1.0, self.box.width())
        seen = [
            (max(start, view[0]), min(end, view[1]), seqlen)
            for start, end, seqlen in seqlen_stretches(spans, view[1])
        ]
        return [((start + end) / 2, seqlen_text(n)) for start, end, n in seen if end - start >= room]
