"""Tiles (i, j) as a grid: those done, the current one, those masked. Q on the left, K and V on top."""

from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QBrush, QColor, QMouseEvent, QPainter, QPen, QPolygonF

from flashscope.app.control.guard import guarded
from flashscope.app.look.kernel_marks import KERNEL_MARKS, OTHER_MARK
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.plots.stepper.cell_image import bounds_of, cell_image, runs
from flashscope.app.plots.stepper.ink import mix, on_fill
from flashscope.app.plots.stepper.panel import SMALL, PanelOf, ViewKind, put, put_first
from flashscope.app.stepper.walk import Ints
from flashscope.app.widgets.plain import set_tip

LARGEST_CELL = 72.0
VISIBLE_GAP = 6  # pixels: larger cells stand apart
SMALL_CELL = 10.0  # smaller cells have no outline and no glyph
GLYPH_CELL = 13.0  # smaller cells show no glyph, only fill and hatching
NUMBER_CELL = 22.0  # smaller cells do not fit `i,j`


@dataclass(frozen=True)
class TileGrid:
    """Where the cells lie."""

    x: float
    y: float
    cell: float

    @property
    def gap(self) -> float:
        """Pixels around a cell."""
        return min(1.5, self.cell * 0.08) if self.cell > VISIBLE_GAP else 0.0

    def rect(self, i: int, j: int) -> QRectF:
        """The rectangle of a tile, with a gap around it."""
        gap = self.gap
        left, top = self.x + j * self.cell + gap, self.y + i * self.cell + gap
        return QRectF(left, top, self.cell - 2 * gap, self.cell - 2 * gap)


@dataclass(frozen=True)
class TilesFrame:
    """What a map of tiles shows of a step.

    Attributes:
        order: When the tile (i, j) runs, -1 where every score is masked (int, (Tr, Tc)).
        now: The tile that runs, in that order; those before it are done.
        current: Its (i, j); None: none is loaded.
        captions: How far it is, and where it runs, with ever fewer words.
    """

    order: Ints
    now: int
    current: tuple[int, int] | None
    captions: tuple[str, ...]


class TilePanel(PanelOf[ViewKind]):
    """The grid of tiles.

    Signals:
        tile_chosen: A tile that runs was clicked (when it runs, as the frame has it).
    """

    tile_chosen = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, "Tile map")
        keep(self, self.setMinimumSize, 150, 120)
        set_tip(self, "Click a tile to go to its end")

    def frame(self, view: ViewKind) -> TilesFrame:
        """What to show of a step."""
        raise NotImplementedError

    def draw(self, painter: QPainter, view: ViewKind) -> None:
        """Paint the two strips, the cells and the caption."""
        frame = self.frame(view)
        grid = self._grid(frame)
        self._draw_strips(painter, frame, grid)
        if grid.cell < SMALL_CELL:
            self._draw_small_cells(painter, frame, grid)
        else:
            for i in range(frame.order.shape[0]):
                for j in range(frame.order.shape[1]):
                    self._draw_cell(painter, frame, grid, i, j)
        painter.setFont(self.sized(SMALL))
        unit = self.unit()
        bottom = QRectF(0, self.height() - unit, self.width(), unit)
        put_first(painter, bottom, frame.captions, self.theme.dim, Qt.AlignmentFlag.AlignHCenter)

    @guarded()
    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the tile under the pointer; the right button opens a menu."""
        if self.view is None or event.button() != Qt.MouseButton.LeftButton:
            return
        frame = self.frame(self.view)
        grid, ran = self._grid(frame), frame.order
        j, i = (
            int((a - b) // grid.cell)
            for a, b in zip(event.position().toTuple(), (grid.x, grid.y), strict=True)
        )
        if 0 <= i < ran.shape[0] and 0 <= j < ran.shape[1] and ran[i, j] >= 0:
            self.tile_chosen.emit(int(ran[i, j]))

    def _grid(self, frame: TilesFrame) -> TileGrid:
        (blocks_q, blocks_k), unit = frame.order.shape, self.unit()
        left, top, bottom = 2.0 * unit, 2.0 * unit, 1.3 * unit
        width, height = self.width() - left - 2, self.height() - top - bottom
        cell = min(width / blocks_k, height / blocks_q, px(LARGEST_CELL))
        x = max(left, (self.width() - cell * blocks_k) / 2)
        return TileGrid(x, top + max(0.0, (height - cell * blocks_q) / 2), max(cell, 1.0))

    def _draw_strips(self, painter: QPainter, frame: TilesFrame, grid: TileGrid) -> None:
        (blocks_q, blocks_k), unit = frame.order.shape, self.unit()
        here = frame.current or (-1, -1)
        thick = unit * 0.45
        gap = thick + 4
        for j in range(blocks_k):
            cell = grid.rect(0, j)
            rect = QRectF(cell.left(), grid.y - gap, cell.width(), thick)
            self._strip(painter, rect, OTHER_MARK.on(self.theme), j == here[1])
        for i in range(blocks_q):
            cell = grid.rect(i, 0)
            rect = QRectF(grid.x - gap, cell.top(), thick, cell.height())
            self._strip(painter, rect, KERNEL_MARKS["flash2"].on(self.theme), i == here[0])
        painter.setFont(self.sized(SMALL))
        above = QRectF(0, grid.y - gap - 1.15 * unit, self.width(), unit)
        put(painter, above, "K, V blocks j →", self.theme.dim, Qt.AlignmentFlag.AlignHCenter)
        painter.save()
        painter.translate(grid.x - gap - unit * 0.65, grid.y + grid.cell * blocks_q / 2)
        painter.rotate(-90)
        beside = QRectF(-60, -unit / 2, 120, unit)
        put(painter, beside, "← Q blocks i", self.theme.dim, Qt.AlignmentFlag.AlignHCenter)
        painter.restore()

    def _strip(self, painter: QPainter, rect: QRectF, colour: str, current: bool) -> None:
        fill = QColor(colour) if current else mix(colour, self.theme.panel, 0.65)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawRoundedRect(rect, 1.5, 1.5)

    def _draw_cell(self, painter: QPainter, frame: TilesFrame, grid: TileGrid, i: int, j: int) -> None:
        t, now = int(frame.order[i, j]), frame.now
        rect = grid.rect(i, j)
        radius = min(4.0, grid.cell / 6)
        if t < 0:
            self._masked(painter, rect, radius, grid.cell)
        elif t == now:
            self._current(painter, rect, radius, f"{i},{j}")
        elif t < now:
            self._done(painter, rect, radius)
        else:
            painter.setPen(QPen(QColor(self.theme.line), 1))
            painter.setBrush(QColor(self.theme.raised))
            painter.drawRoundedRect(rect, radius, radius)

    def _draw_small_cells(self, painter: QPainter, frame: TilesFrame, grid: TileGrid) -> None:
        """Cells without outline or glyph, as one picture: there may be thousands."""
        ran, now = frame.order, frame.now
        theme, dense = self.theme, painter.device().devicePixelRatioF()
        done = mix(theme.accent, theme.panel, 0.6)
        colours = (QColor(theme.accent), QColor(theme.raised), done)
        there = ((ran == now) & (ran >= 0), ran > now, ran >= 0)
        cells = np.select(there, [np.uint32(one.rgba()) for one in colours], np.uint32(0))
        rows, columns = (
            bounds_of((first + grid.gap) * dense, grid.cell * dense, count, 2 * grid.gap * dense)
            for first, count in zip((grid.y, grid.x), ran.shape, strict=True)
        )
        image = cell_image(cells, rows, columns)
        image.setDevicePixelRatio(dense)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        painter.drawImage(QPointF(columns[0, 0] / dense, rows[0, 0] / dense), image)
        hatched = QBrush(QColor(theme.dim), Qt.BrushStyle.BDiagPattern)
        for row, first, end in runs(ran < 0, apart=False):
            painter.fillRect(grid.rect(row, first).united(grid.rect(row, end - 1)), hatched)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if frame.current is not None and now < ran.size:
            painter.setPen(QPen(QColor(self.theme.text), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(grid.rect(*frame.current).adjusted(-1, -1, 1, 1))

    def _masked(self, painter: QPainter, rect: QRectF, radius: float, cell: float) -> None:
        painter.setPen(QPen(QColor(self.theme.line), 1))
        painter.setBrush(QBrush(QColor(self.theme.dim), Qt.BrushStyle.BDiagPattern))
        painter.drawRoundedRect(rect, radius, radius)
        if cell >= GLYPH_CELL:
            painter.setPen(QPen(QColor(self.theme.text), 1.5))
            arm, centre = rect.width() * 0.16, rect.center()
            painter.drawLine(centre + QPointF(-arm, -arm), centre + QPointF(arm, arm))
            painter.drawLine(centre + QPointF(-arm, arm), centre + QPointF(arm, -arm))

    def _current(self, painter: QPainter, rect: QRectF, radius: float, label: str) -> None:
        painter.setPen(QPen(QColor(self.theme.text), 1.2))
        painter.setBrush(QColor(self.theme.accent))
        painter.drawRoundedRect(rect, radius, radius)
        if rect.width() >= NUMBER_CELL - 4:
            painter.setFont(self.sized(SMALL))
            put(painter, rect, label, on_fill(QColor(self.theme.accent)), Qt.AlignmentFlag.AlignHCenter)
        elif rect.width() >= GLYPH_CELL:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(on_fill(QColor(self.theme.accent)))
            painter.drawEllipse(rect.center(), rect.width() * 0.16, rect.width() * 0.16)

    def _done(self, painter: QPainter, rect: QRectF, radius: float) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(mix(self.theme.accent, self.theme.panel, 0.72))
        painter.drawRoundedRect(rect, radius, radius)
        if rect.width() >= GLYPH_CELL - 3:
            painter.setPen(QPen(QColor(self.theme.accent), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            a, c = rect.width() * 0.14, rect.center()
            painter.drawPolyline(
                QPolygonF([c + QPointF(-a, 0), c + QPointF(-a / 4, a), c + QPointF(a * 1.2, -a)])
            )
