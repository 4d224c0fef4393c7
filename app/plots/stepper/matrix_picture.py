"""The matrix of scores as a lane has it: in standard all that lies in memory, in a tiled lane one tile."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QImage, QPainter, QPainterPath, QPen

from flashscope.app.look.theme import Theme
from flashscope.app.plots.stepper.ink import mix
from flashscope.app.stepper.lane_state import WholeMatrices
from flashscope.app.stepper.lanes import PASSES, LaneSpot
from flashscope.app.stepper.recording import RecordedFloats
from flashscope.app.stepper.walk import Tiled

SHADES = 256
LEAST_LINED = 7.0  # pixels of a tile from which on each is outlined


class Pictures(NamedTuple):
    """S and P of a whole problem as images, a pixel a cell; what the masks drop is transparent."""

    s: QImage
    p: QImage

    @classmethod
    def of(cls, whole: WholeMatrices) -> "Pictures":
        """S about 0 on both sides as far as its largest, P from 0 to its largest."""
        limit = whole.recording.score_limit
        return cls(
            coloured(whole.s, (-limit, limit), "CET-CBD1"),
            coloured(np.where(np.isneginf(whole.s), -np.inf, whole.p), (0.0, _largest(whole.p)), "cividis"),
        )


def coloured(values: RecordedFloats, levels: tuple[float, float], scale: str) -> QImage:
    """Values as an image in a colour scale; -inf and NaN are transparent."""
    low, high = levels
    table = _table(scale)
    with np.errstate(all="ignore"):
        shade = np.nan_to_num((values - low) / ((high - low) or 1.0) * (SHADES - 1), posinf=SHADES, neginf=0)
    pixels = np.ascontiguousarray(table[np.clip(shade, 0, SHADES - 1).astype(np.intp)])
    pixels[np.isneginf(values) | np.isnan(values)] = 0
    rows, columns = values.shape
    image = QImage(pixels.data, columns, rows, columns * 4, QImage.Format.Format_RGBA8888)
    return image.copy()  # which owns its pixels


@lru_cache(maxsize=4)
def _table(scale: str) -> NDArray[np.uint8]:
    """The colours of a scale, RGBA (SHADES, 4)."""
    found: NDArray[np.uint8] = pg.colormap.get(scale).getLookupTable(0.0, 1.0, SHADES, alpha=True)
    return found.astype(np.uint8)


def _largest(values: RecordedFloats) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.max(initial=0.0)) or 1.0


class MatrixArea:
    """Where the matrix of a walk lies, to its own proportions, in the room there is."""

    def __init__(self, walk: Tiled, room: QRectF) -> None:
        self.walk, rows, keys = walk, walk.seqlen_q, walk.seqlen_k
        self.scale = max(min(room.width() / keys, room.height() / rows), 1e-6)
        wide, high = max(keys * self.scale, 2.0), max(rows * self.scale, 2.0)
        self.across, self.down = wide / keys, high / rows
        self.rect = QRectF(room.left(), room.top(), wide, high)

    def tile(self, i: int, j: int) -> QRectF:
        """The rectangle of a tile."""
        return self.span((i, i + 1), (j, j + 1))

    def span(self, rows: tuple[int, int], columns: tuple[int, int]) -> QRectF:
        """The rectangle of some query blocks and some key blocks, from the first to before the last."""
        walk = self.walk
        top, bottom = (min(i * walk.block_q, walk.seqlen_q) for i in rows)
        left, right = (min(j * walk.block_k, walk.seqlen_k) for j in columns)
        x, y = self.rect.left() + left * self.across, self.rect.top() + top * self.down
        return QRectF(x, y, (right - left) * self.across, (bottom - top) * self.down)

    def passed(self, place: LaneSpot, order: str, *, with_it: bool) -> QPainterPath:
        """The tiles that a walk has behind it; `with_it`: and the one that it is at."""
        path = QPainterPath()
        if place.tile < 0:
            return path
        walk, reverse = self.walk, self.walk.request.reverse
        last_row, last_key = walk.blocks_q, walk.blocks_k
        if order == "flash1":  # key block by key block
            path.addRect(self.span((0, last_row), (place.j + 1, last_key) if reverse else (0, place.j)))
            path.addRect(self.span((0, place.i + with_it), (place.j, place.j + 1)))
            return path
        path.addRect(self.span((0, place.i), (0, last_key)))
        keys = (place.j + 1 - with_it, last_key) if reverse else (0, place.j + with_it)
        path.addRect(self.span((place.i, place.i + 1), keys))
        return path

    def ran(self) -> QPainterPath:
        """All tiles that run, those of a query block side by side in one piece."""
        path = QPainterPath()
        for i, there in enumerate(self.walk.order_of_tile >= 0):
            edges = np.flatnonzero(np.diff(there.astype(np.int8), prepend=0, append=0))
            for left, right in edges.reshape(-1, 2).tolist():
                path.addRect(self.span((i, i + 1), (left, right)))
        return path


class MatrixPainter:
    """Paints it in a theme's colours; what stays the same from step to step is kept."""

    def __init__(self) -> None:
        self._key: object = None
        self._ran = QPainterPath()

    def draw_ground(self, painter: QPainter, area: MatrixArea, theme: Theme) -> None:
        """Paint what the masks drop as hatched, and a cell for each tile that runs."""
        self._prepare(area)
        painter.fillRect(area.rect, QBrush(QColor(theme.dim), Qt.BrushStyle.BDiagPattern))
        painter.fillPath(self._ran, QColor(theme.raised))

    def draw_matrices(self, painter: QPainter, area: MatrixArea, pictures: Pictures, place: LaneSpot) -> None:
        """Paint S as far as it was written, and P over it, as standard has them in memory."""
        if place.tile < 0:
            return
        over = PASSES.index(place.phase)
        for at, image in enumerate(pictures):
            whole = over > at
            path = area.passed(place, "flash2", with_it=place.writes) if over == at else QPainterPath()
            if whole:
                path.addRect(area.rect)
            painter.save()
            painter.setClipPath(path)
            painter.drawImage(area.rect, image)
            painter.restore()

    def draw_walk(
        self, painter: QPainter, area: MatrixArea, theme: Theme, place: LaneSpot, order: str
    ) -> None:
        """Paint the tiles that a tiled lane is done with: nothing of their scores is left."""
        painter.save()
        painter.setClipPath(area.passed(place, order, with_it=False))
        painter.fillPath(self._ran, mix(theme.accent, theme.panel, 0.72))
        painter.restore()

    def draw_lines(self, painter: QPainter, area: MatrixArea, theme: Theme) -> None:
        """Paint the edges of tiles where these are large enough."""
        walk = area.walk
        painter.setPen(QPen(QColor(theme.line), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(area.rect)
        if min(walk.block_q * area.down, walk.block_k * area.across) < LEAST_LINED:
            return
        for i in range(1, walk.blocks_q):
            y = area.rect.top() + i * walk.block_q * area.down
            painter.drawLine(QPointF(area.rect.left(), y), QPointF(area.rect.right(), y))
        for j in range(1, walk.blocks_k):
            x = area.rect.left() + j * walk.block_k * area.across
            painter.drawLine(QPointF(x, area.rect.top()), QPointF(x, area.rect.bottom()))

    def _prepare(self, area: MatrixArea) -> None:
        key = (id(area.walk), area.rect.getRect())
        if key != self._key:
            self._key, self._ran = key, area.ran()
