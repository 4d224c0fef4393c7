"""Axes that know what they show: sequence lengths, bytes, milliseconds, seconds."""

import math
from collections.abc import Sequence
from functools import lru_cache

from PySide6.QtGui import QFontMetricsF

from flashscope.app.control.guard import guarded
from flashscope.app.figures.ticks import fitting_around, from_axis, value_ticks
from flashscope.app.look.zoom import px
from flashscope.app.plots.style import UnitAxis, tick_font
from flashscope.app.words.kinds import KindWords, Scale
from flashscope.app.words.ticks import tick_texts
from flashscope.app.words.units import seqlen_text

Ticks = list[tuple[float, list[float]]]
SEQLEN_GAP_PX = 3  # between two labels
SEQLEN_SLACK_PX = 2  # pyqtgraph rounds widths up, and drops a label that leaves the axis by less than that
VALUE_GAP_PX = 18
MOST_TICKS = 64  # lengths that may have one: which of them fit takes time by their square


def seqlen_px(seqlens: Sequence[int]) -> Sequence[float]:
    """Widths of the labels of sequence lengths."""
    return _seqlen_px(tuple(seqlens), tick_font().key())


@lru_cache(maxsize=256)
def _seqlen_px(seqlens: Sequence[int], _font: str) -> Sequence[float]:
    """The same in the font of ticks; measured once, for a view that moves asks for it in every picture."""
    metrics = QFontMetricsF(tick_font())
    return [metrics.horizontalAdvance(seqlen_text(n)) + SEQLEN_SLACK_PX for n in seqlens]


class SeqlenAxis(UnitAxis):
    """Sequence lengths at log2 N, with ticks at those lengths of the sweep whose labels fit."""

    def __init__(self) -> None:
        super().__init__("bottom")
        self._seqlens: tuple[int, ...] = ()
        self._named: int | None = None

    def name(self, seqlen: int | None) -> None:
        """Give this length a label, whichever others it leaves no room; None: as many as fit."""
        if self._named == seqlen:
            return
        self._named = seqlen
        self.picture = None
        self.update()

    def set_seqlens(self, seqlens: Sequence[int]) -> None:
        """Put the ticks at these lengths, or at powers of two when there are none."""
        if self._seqlens == tuple(seqlens):
            return
        self._seqlens = tuple(seqlens)
        self.picture = None
        self.update()

    @guarded(list)
    def tickValues(self, minVal: float, maxVal: float, size: float) -> Ticks:  # noqa: N803 - pyqtgraph's names
        """Positions of the lengths in view whose labels fit."""
        seqlens = self._seqlens or tuple(2**k for k in range(25))
        pixel = (maxVal - minVal) / max(size, 1.0)
        halves = [width / 2 * pixel for width in seqlen_px(seqlens)]
        labels = [
            (place - half, place, place + half)
            for place, half in zip(map(math.log2, seqlens), halves, strict=True)
            if minVal <= place - half and place + half <= maxVal  # what leaves the axis is not drawn
        ]
        named = math.nan if self._named is None else math.log2(self._named)
        every = 1 + len(labels) // MOST_TICKS
        some = [label for place, label in enumerate(labels) if not place % every or label[1] == named]
        return [(1.0, fitting_around(some, px(SEQLEN_GAP_PX) * pixel, named))]

    @guarded(list)
    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """Lengths as people write them: 16k."""
        del scale, spacing
        return [seqlen_text(round(2.0**place)) for place in values]


class ValueAxis(UnitAxis):
    """A quantity on a linear, a log2 or a log10 scale."""

    def __init__(self, words: KindWords) -> None:
        super().__init__("left", words.tick)
        self.scale_name, self._binary = words.scale, words.scale == "log2"
        self._last = math.inf

    def set_words(self, words: KindWords) -> None:
        """Show a quantity of another kind, on the axis that it is drawn on at first."""
        self._text, self._binary = words.tick, words.scale == "log2"
        self.set_scale(words.scale)

    def set_scale(self, scale: Scale) -> None:
        """Change the scale."""
        self.scale_name = scale
        self.picture = None
        self.update()

    def end_at(self, place: float) -> None:
        """Draw no tick above this position: the rail of points without a value is there."""
        if self._last == place:
            return
        self._last = place
        self.picture = None
        self.update()

    @guarded(list)
    def tickValues(self, minVal: float, maxVal: float, size: float) -> Ticks:  # noqa: N803 - pyqtgraph's names
        """Positions of the ticks: round values, as many as fit into the height."""
        pixel = max(maxVal - minVal, 1e-12) / max(size, 1.0)
        high = max(min(maxVal, self._last), minVal + pixel)
        return [(1.0, self._ticks(minVal, high, pixel))]

    def _ticks(self, low: float, high: float, pixel: float) -> list[float]:
        room = max(2, int((high - low) / pixel / px(VALUE_GAP_PX)))
        half = QFontMetricsF(tick_font()).height() / 2 * pixel
        return value_ticks(low, high, self.scale_name, binary=self._binary, room=room, half=half)

    @guarded(list)
    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """The values at these places, as their kind is written."""
        del scale, spacing
        return tick_texts([from_axis(place, self.scale_name) for place in values], self._text)
