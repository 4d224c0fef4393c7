"""The memories of a device: a bar of its rate for each, what it holds written over it."""

from collections.abc import Sequence

import pyqtgraph as pg

from flashscope.app.look.fonts import ui_font
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.plots.hint import Hint
from flashscope.app.plots.style import Plot, restyle
from flashscope.app.words.memories import EMPTY, level_text, level_title, memories_sentence
from flashscope.profiles.results.theory.memories import MemoryLevel

BAR = 0.34  # of the height that a memory has
BESIDE = 1.35  # times the longest bar: what is written beside it has room
MOST_LEVELS = 4
LONGEST = 1e300  # of an absurd recording: the axis needs room beyond it


class MemoriesPlot(Plot):
    """Draws the memories of one device, the fastest on top."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(enableMenu=False)
        self._levels: Sequence[MemoryLevel] = ()
        self.range_by_hand()
        for side in ("left", "bottom"):
            self.hideAxis(side)
        self._bars = pg.BarGraphItem(x0=[], y=[], height=[], width=[])
        self.addItem(self._bars, ignoreBounds=True)
        self._texts = [(self._text((0, 1)), self._text((0, 0.5))) for _ in range(MOST_LEVELS)]
        self._hint = Hint(self)
        keep(self, self.setMinimumSize, 300, 220)
        self.setAccessibleName("Memories of the device")
        self.apply_theme(theme)
        self.show_levels(())

    def show_levels(self, levels: Sequence[MemoryLevel]) -> None:
        """Draw these, the fastest first; none: say what would fill the picture."""
        self._levels = levels
        rates = [level.rate.value or 0.0 for level in levels]
        slowest = min(filter(None, rates), default=None)
        longest = min(max(rates, default=0.0) or 1.0, LONGEST)
        heights = [-float(place) for place in range(len(levels))]
        self._bars.setOpts(x0=[0.0] * len(rates), y=heights, height=[BAR] * len(rates), width=rates)
        for (title, text), level, y in zip(self._texts, levels, heights, strict=False):
            title.setText(level_title(level))
            title.setPos(0, y + BAR / 2)
            text.setText(level_text(level, slowest))
            text.setPos(level.rate.value or 0.0, y)
        for place, both in enumerate(self._texts):
            for item in both:
                item.setVisible(place < len(levels))
        self.getViewBox().setRange(xRange=(0, BESIDE * longest), yRange=(0.4 - len(levels), 0.7), padding=0)
        self._hint.say("" if levels else EMPTY)
        self.setAccessibleDescription(memories_sentence(levels) if levels else EMPTY)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour everything that is drawn."""
        restyle(self, theme)
        self._bars.setOpts(brush=pg.mkBrush(theme.accent), pen=pg.mkPen(None))
        for title, text in self._texts:
            for item, colour in ((title, theme.text), (text, theme.dim)):
                item.setFont(ui_font())
                item.setColor(colour)
        self._hint.apply_theme(theme)

    def _text(self, anchor: tuple[float, float]) -> pg.TextItem:
        item = pg.TextItem(anchor=anchor)
        self.addItem(item, ignoreBounds=True)
        return item
