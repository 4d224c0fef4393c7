"""Why a softmax for each tile is wrong: its weights sum to the number of tiles; the online ones sum to 1."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from app.plots.stepper.ink import mix
from app.plots.stepper.panel import SMALL, Panel, put, width_of
from app.stepper.moment import Moment
from app.stepper.numbers import number, plain
from app.stepper.track import Track
from app.theme import KERNEL_MARKS, OTHER_MARK, Theme


@dataclass(frozen=True)
class Bar:
    """One bar.

    Attributes:
        name: Whose weights.
        shares: One segment a tile: the weight it has in the sum.
        text: The sum and what comes of it, as HTML.
        colour: Fill of the segments.
    """

    name: str
    shares: Sequence[float]
    text: str
    colour: str


def bars(track: Track, done: int, order: str) -> tuple[Bar, ...]:
    """Exact, online and naive weights of a row after `done` of its tiles."""
    if not len(track.tiles):
        return ()
    o = "O" if len(track.exact) == 1 else "O<sub>0</sub>"
    exact = f"Σ = 1 · {o} = {number(float(track.exact[0]))}"
    rows = [Bar("exact", track.shares[-1].tolist(), exact, OTHER_MARK.colour)]
    colours = KERNEL_MARKS[order].colour, KERNEL_MARKS["standard"].colour
    if not done:
        return (*rows, Bar("online", (), "nothing seen yet", colours[0]), Bar("per tile", (), "", colours[1]))
    k = done - 1
    shares = track.shares[k, :done].tolist()
    online = f"Σ = {number(float(np.sum(shares)))} · {o} = {number(float(track.o[k, 0]))}"
    total = int(track.naive_sum[k])
    naive = float(track.naive[k, 0])
    text = f"Σ = {total} · {o} = {number(naive)}"
    if total > 1:
        text += f" · ÷{total}: {number(naive / total)}"
    each = np.diff(track.naive_sum[:done], prepend=0).tolist()
    return (*rows, Bar("online", shares, online, colours[0]), Bar("per tile", each, text, colours[1]))


class NaivePanel(Panel):
    """Three bars on one scale, from 0 to the number of tiles."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Naive per-tile softmax against the online one")
        self.setMinimumSize(220, 60)

    def words(self, moment: Moment) -> str:
        """All bars in words, and what the last one proves."""
        found = self._bars(moment)
        parts = [f"{bar.name}: {plain(bar.text)}" for bar in found]
        return "; ".join([*parts, self.verdict(moment)])

    def verdict(self, moment: Moment) -> str:
        """What the comparison shows at this moment, in one sentence."""
        track, done = moment.track, moment.finished
        if track.overflows:
            return f"e^{number(track.top, 0)} alone overflows float32"
        if done == len(track.tiles) > 1:
            return "online is exact, a softmax for each tile is not"
        return "the same row, the same scores"

    def draw(self, painter: QPainter, moment: Moment) -> None:
        """Paint the bars."""
        painter.setFont(self.sized(SMALL))
        found = self._bars(moment)
        unit = self.unit()
        left = unit * 3.6
        widest = max((width_of(bar.text, painter.font()) for bar in found), default=0.0)
        room = max(40.0, self.width() - left - max(widest, unit * 13) - 10)
        top = max(1, int(moment.track.naive_sum[-1])) if len(moment.track.tiles) else 1
        height = min(self.height() / 3, unit * 1.9)
        for k, bar in enumerate(found):
            row = QRectF(0, k * height, self.width(), height)
            put(painter, row, bar.name, self.theme.text)
            self._draw_bar(painter, QRectF(left, row.top(), room, height), bar, room / top)
            text = QRectF(left + room + 10, row.top(), self.width() - left - room - 10, height)
            put(painter, text, bar.text, self.theme.dim)

    def _bars(self, moment: Moment) -> tuple[Bar, ...]:
        return bars(moment.track, moment.finished, moment.recording.order)

    def _draw_bar(self, painter: QPainter, room: QRectF, bar: Bar, scale: float) -> None:
        thick = min(12.0, room.height() * 0.6)
        x, y = room.left(), room.center().y() - thick / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.fillRect(QRectF(x, y, room.width(), thick), QColor(self.theme.raised))
        for k, share in enumerate(bar.shares):
            shade = 0.0 if k == len(bar.shares) - 1 else 0.45 * (k % 2) + 0.2
            width = share * scale
            gap = 1.0 if width > 3 else 0.0  # noqa: PLR2004 - a gap must leave something to see
            painter.fillRect(
                QRectF(x, y, max(0.0, width - gap), thick), mix(bar.colour, self.theme.panel, shade)
            )
            x += width
