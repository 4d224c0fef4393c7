"""What each rank did when in one run: bars of products and of transfers, and exposed transfer as a number."""

from collections.abc import Sequence

import pyqtgraph as pg

from flashscope.app.look.theme import CAPTION_PX, Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.plots.style import Plot, UnitAxis, restyle, tick_font
from flashscope.app.words.units import ms_text, plain_tick
from flashscope.profiles.wire.ranks import RankMeasured, StepTime

LANE = 0.36  # of a row's height
MOST_SHARE = 0.6  # of the width is for numbers at most
LEAST_PX, LEFT_PX = 150, 60
MOST_NAMED = 16  # rows of more ranks are named every so often


class RankLanesPlot(Plot):
    """Draws a row for each rank, over the time of the run in ms."""

    def __init__(self, theme: Theme) -> None:
        self._rows, self._time = UnitAxis("left"), UnitAxis("bottom", plain_tick)
        super().__init__(axisItems={"left": self._rows, "bottom": self._time}, enableMenu=False)
        self._theme = theme
        self._ranks: Sequence[RankMeasured] = ()
        self._numbers: list[pg.TextItem] = []
        self._end = 1.0
        self._corner = pg.LabelItem("ms")
        self.plotItem.layout.addItem(self._corner, 3, 0)
        self.range_by_hand()
        self.invertY()
        keep(self._rows, self._rows.setWidth, LEFT_PX)
        keep(self, self.setMinimumSize, 160, LEAST_PX)
        self.getViewBox().sigResized.connect(lambda *_: self._range())
        self.setAccessibleName("Products and transfers of each rank over time")
        self.apply_theme(theme)

    def show_ranks(self, ranks: Sequence[RankMeasured]) -> None:
        """Draw these in place of those before."""
        self._ranks = ranks
        told = "; ".join(f"rank {rank.rank}: exposed {ms_text(rank.exposed_ms)}" for rank in ranks)
        self.setAccessibleDescription(told)
        self._draw()

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        restyle(self, theme)
        self._corner.setText("ms", color=theme.dim, size=f"{px(CAPTION_PX)}px")
        self._draw()

    def _draw(self) -> None:
        for item in list(self.plotItem.items):
            self.removeItem(item)
        self._numbers = []
        if not self._ranks:
            return
        self._end = max((step.end_ms for rank in self._ranks for step in rank.steps), default=1.0)
        for lane, colour, below in (
            ("product", self._theme.accent, 0.0),
            ("transfer", self._theme.warn, LANE),
        ):
            bars = [
                (rank.rank + below - LANE, step)
                for rank in self._ranks
                for step in rank.steps
                if step.lane == lane
            ]
            self._add(bars, colour)
        for rank in self._ranks:
            self._add_number(rank)
        every = 1 + (len(self._ranks) - 1) // MOST_NAMED
        self._rows.setTicks([[(rank.rank, f"rank {rank.rank}") for rank in self._ranks[::every]]])
        self._range()

    def _add_number(self, rank: RankMeasured) -> None:
        text = pg.TextItem(f" exposed {ms_text(rank.exposed_ms)}", color=self._theme.dim, anchor=(0, 0.5))
        text.setFont(tick_font())
        text.setPos(self._end, rank.rank)
        self.addItem(text, ignoreBounds=True)
        self._numbers.append(text)

    def _range(self) -> None:
        """Show all of the run, and the numbers behind it."""
        wide = max((text.boundingRect().width() for text in self._numbers), default=0.0)
        share = min(MOST_SHARE, wide / max(1.0, self.getViewBox().width()))
        self.setXRange(0, self._end / (1 - share))
        self.setYRange(-0.5, max(1, len(self._ranks)) - 0.5)

    def _add(self, bars: Sequence[tuple[float, StepTime]], colour: str) -> None:
        if bars:
            self.addItem(
                pg.BarGraphItem(
                    x0=[step.begin_ms for _, step in bars],
                    width=[step.end_ms - step.begin_ms for _, step in bars],
                    y0=[top for top, _ in bars],
                    height=LANE,
                    brush=pg.mkBrush(colour),
                    pen=pg.mkPen(colour),
                )
            )
