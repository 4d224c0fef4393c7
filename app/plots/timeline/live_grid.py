"""The tiles of a launch that runs: a board for each head, query by key blocks, lit as they are done."""

import math

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.fonts import ui_font
from flashscope.app.look.theme import CAPTION_PX, Theme
from flashscope.app.look.zoom import keep, px
from flashscope.kernels.workload.live import Tile, kept_tiles
from flashscope.profiles.wire.events import LiveStarted

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
        self.update()

    def light(self, tiles: npt.NDArray[np.int32]) -> None:
        """Light these tiles (T, 3)."""
        self.state[tuple(tiles.T)] = DONE
        self.last = [(head, i, j) for head, i, j in tiles.tolist()]
        self.update()

    def rest(self) -> None:
        """Point at none any more: nothing runs."""
        self.last = []
        self.update()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        self.update()

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint every board."""
        del event
        if not self.state.size:
            return
        with QPainter(self) as painter:
            for head in range(len(self.state)):
                self._paint_head(painter, head)

    def tile_rect(self, head: int, i: int, j: int) -> QRectF:
        """Where a tile stands."""
        board, wide, high = self._board(head)
        gap = px(GAP_PX) if min(wide, high) >= px(SPACED_PX) else 0
        return QRectF(board.left() + j * wide, board.top() + i * high, wide - gap, high - gap)

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
        painter.drawText(above, Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextDontClip, f"head {head + 1}")
        fills = {
            WAITS: QBrush(QColor(theme.raised)),
            SKIPPED: QBrush(QColor(theme.dim), Qt.BrushStyle.BDiagPattern),
            DONE: QBrush(QColor(theme.accent)),
        }
        framed = min(wide, high) >= px(SPACED_PX)
        painter.setPen(QColor(theme.dim))
        for (i, j), state in np.ndenumerate(self.state[head]):
            rect = self.tile_rect(head, i, j)
            painter.fillRect(rect, fills[state])
            if framed and state == WAITS:
                painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5))
        painter.setPen(QColor(theme.text))
        for of_head, i, j in self.last:
            if of_head == head:
                painter.drawRect(self.tile_rect(head, i, j).adjusted(0.5, 0.5, -0.5, -0.5))
