"""The axes of a drawn plot: log2 N to the right, a quantity upwards; sizes in the pixels of its viewBox."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from flashscope.app.figures.ticks import fitting, from_axis, to_axis, value_ticks
from flashscope.app.report.markup import tag
from flashscope.app.words.kinds import KindWords, Scale
from flashscope.app.words.ticks import tick_texts
from flashscope.app.words.units import seqlen_text

WIDTH, HEIGHT = 520, 270  # of the plot without its rail
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 10, 24
LABEL_PX, CHARACTER_PX = 22, 7  # height that a tick's label wants; width of one of its digits
SIDE, ROOM = 0.35, 0.06  # free beside the data: doublings of N, and a share of the height
MOST = 1e18  # beyond that a value stands outside
Values = NDArray[np.float64]


@dataclass(frozen=True)
class Frame:
    """Where things stand.

    Attributes:
        first: log2 of the N at the left edge.
        last: The same at the right edge.
        low: The value's place at the lower edge.
        high: The same at the upper edge.
        scale: How values are placed.
        rail: Height left free above for points without a value.
    """

    first: float
    last: float
    low: float
    high: float
    scale: Scale
    rail: float = 0.0

    @classmethod
    def around(
        cls, seqlens: Values, values: Values, scale: Scale, rail: float = 0.0, *, zero: bool = True
    ) -> "Frame":
        """A frame that shows all of these, NaN aside; a linear one from 0 unless `zero` says otherwise."""
        xs, places = to_axis(seqlens, "log2"), to_axis(values, scale)
        places = places[np.abs(places) <= MOST]
        low, high = (float(places.min()), float(places.max())) if places.size else (0.0, 1.0)
        room = (high - low) * ROOM or abs(high) * ROOM or 1.0
        if scale == "linear":
            low = min(0.0, low) if zero else low - room
        else:
            low -= max(room, 0.15)
        return cls(float(xs.min()) - SIDE, float(xs.max()) + SIDE, low, high + room, scale, rail)

    @property
    def height(self) -> float:
        """Height of the whole drawing."""
        return HEIGHT + self.rail

    def x(self, seqlen: float) -> float:
        """Pixels from the left of a sequence length."""
        share = (float(np.log2(seqlen)) - self.first) / (self.last - self.first)
        return LEFT + share * (WIDTH - LEFT - RIGHT)

    def y(self, place: float) -> float:
        """Pixels from above of a value's place."""
        share = (place - self.low) / (self.high - self.low)
        return self.height - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    def axes(self, seqlens: Sequence[int], words: KindWords) -> list[Element]:
        """Grid and labels."""
        room = int((HEIGHT - TOP - BOTTOM) / LABEL_PX)
        half = (self.high - self.low) * LABEL_PX / 2 / HEIGHT
        binary = words.scale == "log2"
        ticks = value_ticks(self.low, self.high, self.scale, binary=binary, room=room, half=half)
        drawn = []
        texts = tick_texts([from_axis(tick, self.scale) for tick in ticks], words.tick)
        for tick, text in zip(ticks, texts, strict=True):
            drawn += self._line(LEFT, self.y(tick), WIDTH - RIGHT, self.y(tick))
            drawn.append(_label(LEFT - 8, self.y(tick) + 4, text, "end"))
        for seqlen in self._labelled(seqlens):
            x, under = self.x(seqlen), self.height - BOTTOM
            drawn += self._line(x, under, x, under - (HEIGHT - TOP - BOTTOM))
            drawn.append(_label(x, under + 16, seqlen_text(seqlen), "middle"))
        return [*drawn, _label(LEFT - 8, self.height - BOTTOM + 16, "N", "end")]

    def _labelled(self, seqlens: Sequence[int]) -> list[int]:
        """The lengths whose labels fit."""
        halves = {seqlen: len(seqlen_text(seqlen)) * CHARACTER_PX / 2 for seqlen in seqlens}
        places = {self.x(seqlen): seqlen for seqlen in seqlens}
        labels = [(x - halves[seqlen], x, x + halves[seqlen]) for x, seqlen in places.items()]
        return [places[x] for x in fitting(labels, CHARACTER_PX)]

    @staticmethod
    def _line(x1: float, y1: float, x2: float, y2: float) -> list[Element]:
        return [tag("path", d=f"M{x1:.1f},{y1:.1f}L{x2:.1f},{y2:.1f}", class_="gridline")]


def _label(x: float, y: float, text: str, anchor: str) -> Element:
    return tag("text", text, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, class_="tick")


def drawing(frame: Frame, title: str, *parts: Element) -> Element:
    """The SVG of a frame and what is in it."""
    return tag("svg", tag("title", title), *parts, viewBox=f"0 0 {WIDTH} {frame.height:.0f}", role="img")
