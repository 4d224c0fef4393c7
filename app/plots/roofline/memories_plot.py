"""The memories of a device: a block for each, as long as its rate and as high as what it holds."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF

from flashscope.app.look.fonts import ui_font
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.plots.hint import Hint
from flashscope.app.plots.style import Plot, restyle, tick_font
from flashscope.app.words.devices.memories import (
    EMPTY,
    level_rate,
    level_times,
    level_title,
    memories_sentence,
)
from flashscope.profiles.results.theory.memories import MemoryLevel

MOST_LEVELS = 4
LONGEST = 1e300  # of an absurd recording: the axis needs room beyond it
HIGHEST = 3.0  # times the lowest block: what holds most
LOWEST, GAP = 0.4, 0.35  # heights of a line of text: a block where there is no room, and what is between two
NEAR = 0.1  # and between a block and its texts
PIXELS = 320, 260
COLUMN = 1.2  # heights of a line between two columns of text


class _Row(NamedTuple):
    """What stands in the place of one memory."""

    title: pg.TextItem
    rate: pg.TextItem
    times: pg.TextItem
    source: pg.TextItem

    @property
    def texts(self) -> tuple[pg.TextItem, ...]:
        return self.title, self.rate, self.times, self.source


class MemoriesPlot(Plot):
    """Draws the memories of one device, the one nearest to its arithmetic on top.

    A block is as long as its rate, from zero; one without a rate is a dashed frame. Its height is the
    logarithm of what it holds, from the least of these memories to the largest.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(enableMenu=False)
        self._levels: Sequence[MemoryLevel] = ()
        self.range_by_hand()
        self.getViewBox().invertY()
        for side in ("left", "bottom"):
            self.hideAxis(side)
        self._blocks = pg.BarGraphItem(x0=[], y0=[], height=[], width=[])
        self._frames = pg.BarGraphItem(x0=[], y0=[], height=[], width=[])
        for item in (self._blocks, self._frames):
            self.addItem(item, ignoreBounds=True)
        at_the_end = (0, 0, 1, 0)
        self._rows = [_Row(*map(self._text, at_the_end)) for _ in range(MOST_LEVELS)]
        self._hint = Hint(self)
        keep(self, self.setMinimumSize, *PIXELS)
        self.getViewBox().sigResized.connect(self._lay_out)
        self.setAccessibleName("Memories of the device")
        self.apply_theme(theme)
        self.show_levels(())

    def show_levels(self, levels: Sequence[MemoryLevel]) -> None:
        """Draw these, the fastest first; none: say what would fill the picture."""
        self._levels = levels[:MOST_LEVELS]
        self._hint.say("" if levels else EMPTY)
        self.setAccessibleDescription(memories_sentence(levels) if levels else EMPTY)
        self._lay_out()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour everything that is drawn."""
        restyle(self, theme)
        self._blocks.setOpts(brush=pg.mkBrush(theme.accent), pen=pg.mkPen(None))
        self._frames.setOpts(
            brush=pg.mkBrush(None), pen=pg.mkPen(theme.dim, width=1, style=Qt.PenStyle.DashLine)
        )
        for row in self._rows:
            for item, colour in zip(row.texts, (theme.text, theme.text, theme.text, theme.dim), strict=True):
                bold = item in {row.title, row.times}
                item.setFont(tick_font() if item is row.source else ui_font(bold=bold))
                item.setColor(colour)
        self._hint.apply_theme(theme)
        self._lay_out()

    def _lay_out(self) -> None:
        """Give every memory its place, in pixels of the view."""
        view, levels = self.getViewBox(), self._levels
        width, height = max(1.0, view.width()), max(1.0, view.height())
        view.setRange(xRange=(0, width), yRange=(0, height), padding=0)
        line = QFontMetricsF(ui_font()).height()
        small = QFontMetricsF(tick_font()).height()
        texts = sum(line * (1 + GAP + 2 * NEAR) + (small if level.rate.source else 0.0) for level in levels)
        highs = _heights([level.nbytes for level in levels], height - texts + GAP * line, LOWEST * line)
        column = self._column(line)
        top = 0.0
        places: list[tuple[MemoryLevel, float, float]] = []
        for number, row in enumerate(self._rows):
            for item in row.texts:
                item.setVisible(number < len(levels))
            if number < len(levels):
                self._write(row, levels[number], (column, top), width)
                begin = top + line * (1 + NEAR)
                places.append((levels[number], begin, highs[number]))
                end = begin + highs[number] + NEAR * line
                self._put(row.source, levels[number].rate.source, 0, end, width)
                top = end + GAP * line + (small if levels[number].rate.source else 0.0)
        self._draw(places, width)

    def _column(self, line: float) -> float:
        """Where rates begin: behind the longest title."""
        metrics = QFontMetricsF(ui_font(bold=True))
        titles = [metrics.horizontalAdvance(level_title(level)) for level in self._levels]
        return max(titles, default=0.0) + COLUMN * line

    def _write(self, row: _Row, level: MemoryLevel, at: tuple[float, float], width: float) -> None:
        """The line over a block: name and size, rate, and how many times as fast as the last one."""
        column, top = at
        times = level_times(level, self._levels)
        self._put(row.title, level_title(level), 0, top, width)
        taken = QFontMetricsF(ui_font(bold=True)).horizontalAdvance(f"{times}  ")
        self._put(row.rate, level_rate(level), column, top, width - taken)
        self._put(row.times, times, width, top, 2 * width)

    def _put(self, item: pg.TextItem, text: str, x: float, y: float, end: float) -> None:
        """A text, cut short where it would pass an end."""
        metrics = QFontMetricsF(item.textItem.font())
        item.setText(metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0.0, end - x)))
        item.setPos(x, y)

    def _draw(self, places: Sequence[tuple[MemoryLevel, float, float]], width: float) -> None:
        longest = min(max((level.rate.value or 0.0 for level in self._levels), default=0.0) or 1.0, LONGEST)
        for item, measured in ((self._blocks, True), (self._frames, False)):
            mine = [one for one in places if bool(one[0].rate.value) is measured]
            item.setOpts(
                x0=[0.0 if measured else 1.0 for _ in mine],
                y0=[begin for _, begin, _ in mine],
                height=[high for *_, high in mine],
                width=[
                    width * min(1.0, (level.rate.value or 0.0) / longest) if measured else width - 2
                    for level, *_ in mine
                ],
            )

    def _text(self, side: int) -> pg.TextItem:
        item = pg.TextItem(anchor=(side, 0))
        item.textItem.document().setDocumentMargin(0)
        self.addItem(item, ignoreBounds=True)
        return item


def _heights(sizes: Sequence[int | None], room: float, least: float) -> list[float]:
    """How high blocks are that share a height, by the logarithms of what they hold; none below the least."""
    logs = [math.log2(size) if size and size > 0 else None for size in sizes]
    known = [one for one in logs if one is not None]
    low, span = min(known, default=0.0), max(known, default=0.0) - min(known, default=0.0)
    shares = [1 + (HIGHEST - 1) * (one - low) / span if one is not None and span else 1.0 for one in logs]
    return [max(least, room * share / sum(shares)) for share in shares]
