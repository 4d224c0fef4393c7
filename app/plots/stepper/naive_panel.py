"""Why a softmax for each tile is wrong: its weights sum to the number of tiles; the online ones sum to 1."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter

from flashscope.app.look.kernel_marks import KERNEL_MARKS, OTHER_MARK, KernelMark
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.plots.stepper.ink import mix
from flashscope.app.plots.stepper.panel import SMALL, Panel, put, width_of
from flashscope.app.stepper.numbers import number, plain
from flashscope.app.stepper.row_history import RowHistory
from flashscope.app.stepper.step_view import StepView


@dataclass(frozen=True)
class Bar:
    """One bar.

    Attributes:
        name: Whose weights.
        shares: One segment a tile: the weight it has in the sum.
        text: The sum and what comes of it, as HTML.
        mark: Whose colour fills the segments.
    """

    name: str
    shares: Sequence[float]
    text: str
    mark: KernelMark


def bars(history: RowHistory, done: int, order: str, *, broken: bool = False) -> tuple[Bar, ...]:
    """Exact, online and naive weights of a row after `done` of its tiles; of a broken trace O alone."""
    if not len(history.tiles):
        return ()
    o = "O" if len(history.exact) == 1 else "O<sub>0</sub>"
    exact = f"Σ = 1 · {o} = {number(float(history.exact[0]))}"
    rows = [Bar("exact", history.shares[-1].tolist(), exact, OTHER_MARK)]
    marks = KERNEL_MARKS[order], KERNEL_MARKS["standard"]
    name = "broken" if broken else "online"
    if not done:
        return (*rows, Bar(name, (), "nothing seen yet", marks[0]), Bar("per tile", (), "", marks[1]))
    k = done - 1
    shares = history.shares[k, :done].tolist()
    result = f"{o} = {number(float(history.o[k, 0]))}"
    online = result if broken else f"Σ = {number(float(np.sum(shares)))} · {result}"
    total = int(history.naive_sum[k])
    naive = float(history.naive[k, 0])
    text = f"Σ = {total} · {o} = {number(naive)}"
    if total > 1:
        text += f" · ÷{total}: {number(naive / total)}"
    each = np.diff(history.naive_sum[:done], prepend=0).tolist()
    return (
        *rows,
        Bar(name, () if broken else shares, online, marks[0]),
        Bar("per tile", each, text, marks[1]),
    )


class NaivePanel(Panel):
    """Three bars on one scale, from 0 to the number of tiles."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Naive per-tile softmax against the online one")
        keep(self, self.setMinimumSize, 220, 60)

    def words(self, view: StepView) -> str:
        """All bars in words, and what the comparison shows."""
        drawn = self._bars(view)
        parts = [f"{bar.name}: {plain(bar.text)}" for bar in drawn if bar.text]
        return "; ".join([*parts, self.verdict(view)])

    def verdict(self, view: StepView) -> str:
        """What the comparison shows at this step, in one sentence."""
        history, done = view.history, view.finished
        if view.recording.fault:
            return "this trace is broken on purpose"
        if history.overflows:
            return f"e^{number(history.top, 0)} alone overflows float32"
        if done == len(history.tiles) and (history.naive_sum[-1:] > 1).any():
            return "online is exact, a softmax for each tile is not"
        return "the same row, the same scores"

    def draw(self, painter: QPainter, view: StepView) -> None:
        """Paint the bars."""
        painter.setFont(self.sized(SMALL))
        drawn = self._bars(view)
        unit = self.unit()
        left = unit * 3.6
        widest = max((width_of(bar.text, painter.font()) for bar in drawn), default=0.0)
        room = max(40.0, self.width() - left - max(widest, unit * 13) - 10)
        top = max(1, int(view.history.naive_sum[-1])) if len(view.history.tiles) else 1
        height = min(self.height() / 3, unit * 1.9)
        for k, bar in enumerate(drawn):
            row = QRectF(0, k * height, self.width(), height)
            put(painter, row, bar.name, self.theme.text)
            self._draw_bar(painter, QRectF(left, row.top(), room, height), bar, room / top)
            text = QRectF(left + room + 10, row.top(), self.width() - left - room - 10, height)
            put(painter, text, bar.text, self.theme.dim)

    def _bars(self, view: StepView) -> tuple[Bar, ...]:
        recording = view.recording
        return bars(view.history, view.finished, recording.order, broken=bool(recording.fault))

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
                QRectF(x, y, max(0.0, width - gap), thick),
                mix(bar.mark.on(self.theme), self.theme.panel, shade),
            )
            x += width
