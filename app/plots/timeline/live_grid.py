"""The tiles of a launch that runs: a board for each head, query by key blocks, lit as they are done."""

import math

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.fonts import ui_font
from flashscope.app.look.theme import CAPTION_PX, Theme
from flashscope.app.look.zoom import keep, px
from flashscope.kernels.workload.live import Tile, kept_tiles
from flashscope.profiles.wire.live_events import LiveStarted

WAITS, SKIPPED, DONE = range(3)
GAP_PX, MARGIN_PX = 2, 16
SPACED_PX = 5  # tiles that are smaller have no gap and no frame
PIXELS = 240, 160
NAME = 1.6  # of the height of letters: the line over a board


class LiveGrid(QWidget):
    """Shows which tiles of a launch are done; tiles that a mask skips are hatched, those done last framed.

    Attributes:
        state: uint8 (heads, Ti, Tj): WAITS, SKIPPED or DONE.
        last: The tiles of the last frame.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.state: npt.NDArray[np.uint8] = np.zeros((0, 0, 0), np.uint8)
        self.last: list[Tile] = []
        self._block = 1, 1  # rows and columns of a tile
        self._picture: QPixmap | None = None  # of all but the frames
        keep(self, self.setMinimumSize, *PIXELS)
        self.setAccessibleName("Tiles of the launch, query blocks by key blocks")

    def begin(self, started: LiveStarted) -> None:
        """Show a launch of which nothing is done."""
        problem = started.request.problem
        rows = -(-problem.seqlen_q // started.block_q)
        columns = -(-problem.seqlen_k // started.block_k)
        self.state = np.full((problem.batch * problem.heads, rows, columns), SKIPPED, np.uint8)
        for i, j in kept_tiles(problem, started.block_q, started.block_k):
            self.state[:, i, j] = WAITS
        self.last = []
        self._block = started.block_q, started.block_k
        self._picture = None
        self.update()

    def light(self, tiles: npt.NDArray[np.int32]) -> None:
        """Light these tiles (T, 3)."""
        self.state[tuple(tiles.T)] = DONE
        self.last = [(head, i, j) for head, i, j in tiles.tolist()]
        if self._picture is not None:
            with QPainter(self._picture) as painter:
                for tile in self.last:
                    painter.fillRect(self.tile_rect(*tile), QColor(self._theme.accent))
        self.update()

    def rest(self) -> None:
        """Point at none any more: nothing runs."""
        self.last = []
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
        """Paint every board once, and then what is lit; the frames of the last tiles stand over it."""
        del event
        if not self.state.size:
            return
        if self._picture is None:
            self._picture = self._painted()
        with QPainter(self) as painter:
            painter.drawPixmap(0, 0, self._picture)
            painter.setPen(QColor(self._theme.text))
            for tile in self.last:
                painter.drawRect(self.tile_rect(*tile).adjusted(0.5, 0.5, -0.5, -0.5))

    def _painted(self) -> QPixmap:
        ratio = self.devicePixelRatioF()
        picture = QPixmap(self.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        with QPainter(picture) as painter:
            for head in range(len(self.state)):
                self._paint_head(painter, head)
        return picture

    def tile_rect(self, head: int, i: int, j: int) -> QRectF:
        """Where a tile stands."""
        return _tile(self._board(head), i, j)

    def _board(self, head: int) -> tuple[QRectF, float, float]:
        """Where the board of a head stands, and how wide and high its tiles are, in pixels."""
        heads, rows, columns = self.state.shape
        name = px(CAPTION_PX) * NAME
        scale, across = max(self._fits(across, name) for across in range(1, heads + 1))
        high, wide = scale * self._block[0], scale * self._block[1]
        down, right = divmod(head, across)
        left = right * (columns * wide + px(MARGIN_PX))
        top = down * (rows * high + name + px(MARGIN_PX)) + name
        return QRectF(left, top, columns * wide, rows * high), wide, high

    def _fits(self, across: int, name: float) -> tuple[float, int]:
        """How many pixels a query or a key can have with so many boards in a line."""
        heads, rows, columns = self.state.shape
        lines = math.ceil(heads / across)
        wide = (self.width() / across - px(MARGIN_PX)) / (columns * self._block[1])
        high = (self.height() / lines - name - px(MARGIN_PX)) / (rows * self._block[0])
        return max(1e-3, min(wide, high)), across

    def _paint_head(self, painter: QPainter, head: int) -> None:
        theme = self._theme
        board, wide, high = self._board(head)
        painter.setFont(ui_font(CAPTION_PX))
        painter.setPen(QColor(theme.dim))
        above = QRectF(
            board.left(), board.top() - px(CAPTION_PX) * NAME, board.width(), px(CAPTION_PX) * NAME
        )
        painter.drawText(above, Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextDontClip, f"head {head}")
        fills = {
            WAITS: QBrush(QColor(theme.raised)),
            SKIPPED: QBrush(QColor(theme.dim), Qt.BrushStyle.BDiagPattern),
            DONE: QBrush(QColor(theme.accent)),
        }
        framed = min(wide, high) >= px(SPACED_PX)
        for state, fill in fills.items():
            places = np.argwhere(self.state[head] == state).tolist()
            rects = [_tile((board, wide, high), i, j) for i, j in places]
            painter.setBrush(fill)
            painter.setPen(QColor(theme.dim) if framed and state == WAITS else Qt.PenStyle.NoPen)
            if painter.pen().style() != Qt.PenStyle.NoPen:
                rects = [rect.adjusted(0.5, 0.5, -0.5, -0.5) for rect in rects]
            painter.drawRects(rects)


def _tile(board: tuple[QRectF, float, float], i: int, j: int) -> QRectF:
    """Where a tile stands on a board whose tiles are so wide and high."""
    place, wide, high = board
    gap = px(GAP_PX) if min(wide, high) >= px(SPACED_PX) else 0
    return QRectF(place.left() + j * wide, place.top() + i * high, wide - gap, high - gap)
