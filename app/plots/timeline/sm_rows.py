"""The SMs of a GPU in a launch that runs: a row for each, a bar for each tile that it has done."""

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.fonts import ui_font
from flashscope.app.look.theme import CAPTION_PX, Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.widgets.plain import set_tip
from flashscope.app.words.inside.live import SM_ROWS, at_work_text
from flashscope.profiles.wire.live_events import LiveStarted, LiveTiles

PIXELS = 200, 160
LINE = 1.6  # of the height of letters: the words over and under the rows
SIDE = 4.2  # of the same: the names of rows
ALPHA = 150  # of a bar: where two blocks share an SM it is nearly in full colour
SPACED_PX = 3  # rows that are as high have a line between them
GAP_PX, GAPPED_PX = 1, 5  # between bars that are as wide as that
NS = 1e9


class SmRows(QWidget):
    """Shows which SM did a tile when: each bar begins where a tile ended and lasts as long as its wait.

    Attributes:
        rows: How many SMs there are; 0: the launch tells of none.
        bars: int64 (B, 2): the SM of each tile, and when it was done, in ns since the launch began.
        shared: Whether blocks ran on an SM side by side.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.rows = 0
        self.bars: npt.NDArray[np.int64] = np.zeros((0, 2), np.int64)
        self.shared = False
        self._span_ns = self._tile_ns = self._now_ns = 0
        self._picture: QPixmap | None = None
        keep(self, self.setMinimumSize, *PIXELS)
        self.setAccessibleName("SMs of the launch, and when each did its tiles")
        set_tip(self, SM_ROWS)
        self.hide()

    def begin(self, started: LiveStarted) -> None:
        """Show a launch of which nothing is done."""
        self.rows, self._tile_ns = started.multiprocessors, started.tile_ns
        self._span_ns, self._now_ns = round(started.request.seconds * NS), 0
        self.bars, self.shared = self.bars[:0], False
        self._picture = None
        self.setVisible(self.rows > 0)
        self.update()

    def light(self, tiles: LiveTiles) -> None:
        """Add the bars of these tiles."""
        if tiles.sm is None:
            return
        fresh = np.stack((tiles.sm.numpy(), tiles.finished_ns.numpy()), axis=1).astype(np.int64)
        self.bars = np.concatenate((self.bars, fresh))
        self.shared = self.shared or self._overlap()
        last = int(fresh[:, 0].max(initial=0))
        if last >= self.rows:  # a GPU may number more SMs than it has
            self.rows, self._picture = last + 1, None
        self.tick(int(fresh[:, 1].max(initial=0)))
        if self._picture is not None:
            with QPainter(self._picture) as painter:
                self._paint_bars(painter, fresh)

    def _overlap(self) -> bool:
        """Whether an SM ended a tile while another one of its own still waited."""
        sm, ns = self.bars[np.lexsort((self.bars[:, 1], self.bars[:, 0]))].T
        return bool(((np.diff(sm) == 0) & (np.diff(ns) < self._tile_ns // 2)).any())

    def tick(self, now_ns: int) -> None:
        """Show what has happened until now; the axis grows where the launch takes longer than it should."""
        self._now_ns = max(self._now_ns, now_ns)
        if self._now_ns > self._span_ns:
            self._span_ns, self._picture = self._now_ns, None
        self.update()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme, self._picture = theme, None
        self.update()

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take the room there is."""
        super().resizeEvent(event)
        self._picture = None

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows, and of the bars what lies before now."""
        del event
        if not self.rows:
            return
        if self._picture is None:
            self._picture = self._painted()
        field = self.field
        now = field.left() + field.width() * self._now_ns / max(1, self._span_ns)
        with QPainter(self) as painter:
            painter.fillRect(field, QColor(self._theme.raised))
            painter.setClipRect(QRectF(field.left(), field.top(), now - field.left(), field.height()))
            painter.drawPixmap(0, 0, self._picture)
            painter.setClipping(False)
            painter.fillRect(QRectF(now, field.top(), 1, field.height()), QColor(self._theme.text))
            self._paint_words(painter)

    @property
    def field(self) -> QRectF:
        """Where the rows stand."""
        side, line = px(CAPTION_PX) * SIDE, px(CAPTION_PX) * LINE
        return QRectF(side, line, max(1.0, self.width() - side), max(1.0, self.height() - 2 * line))

    def bar_rect(self, sm: int, finished_ns: int) -> QRectF:
        """Where a bar stands."""
        field = self.field
        a_ns, high = field.width() / max(1, self._span_ns), field.height() / max(1, self.rows)
        wide = max(1.0, self._tile_ns * a_ns)
        gap = px(GAP_PX) if wide >= px(GAPPED_PX) else 0
        left = field.left() + finished_ns * a_ns
        line = 1 if high >= SPACED_PX else 0
        return QRectF(left, field.top() + sm * high, min(wide - gap, field.right() - left), high - line)

    def _painted(self) -> QPixmap:
        ratio = self.devicePixelRatioF()
        picture = QPixmap(self.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        with QPainter(picture) as painter:
            self._paint_bars(painter, self.bars)
        return picture

    def _paint_bars(self, painter: QPainter, bars: npt.NDArray[np.int64]) -> None:
        colour = QColor(self._theme.accent)
        colour.setAlpha(ALPHA)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawRects([self.bar_rect(sm, finished_ns) for sm, finished_ns in bars.tolist()])

    def _paint_words(self, painter: QPainter) -> None:
        """The first row and the last one by name, and the ends of the time."""
        field, letters = self.field, px(CAPTION_PX) * LINE
        painter.setFont(ui_font(CAPTION_PX))
        painter.setPen(QColor(self._theme.dim))
        right, left = Qt.AlignmentFlag.AlignRight, Qt.AlignmentFlag.AlignLeft
        names = QRectF(0, field.top(), field.left() - px(6), field.height())
        painter.drawText(names, right | Qt.AlignmentFlag.AlignTop, "SM 0")
        painter.drawText(names, right | Qt.AlignmentFlag.AlignBottom, f"SM {self.rows - 1}")
        above = QRectF(field.left(), 0, field.width(), letters)
        told = at_work_text(len(np.unique(self.bars[:, 0])), self.rows, shared=self.shared)
        painter.drawText(
            above,
            left,
            painter.fontMetrics().elidedText(told, Qt.TextElideMode.ElideRight, int(field.width())),
        )
        below = QRectF(field.left(), field.bottom(), field.width(), letters)
        bottom = Qt.AlignmentFlag.AlignBottom
        painter.drawText(below, left | bottom, "0 s")
        painter.drawText(below, right | bottom, f"{self._span_ns / NS:.3g} s in slow motion")
