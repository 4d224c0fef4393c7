"""The cells of a heat map: a colour for the change, a glyph for the verdict, hatched where nothing pairs."""

import math
from typing import Any, NamedTuple

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QTransform

from flashscope.app.control.guard import guarded
from flashscope.app.figures.grid import PairGrid
from flashscope.app.figures.strands import NO_PLACE
from flashscope.app.look.fonts import ui_font
from flashscope.app.look.theme import CAPTION_PX, Theme
from flashscope.app.look.zoom import px
from flashscope.app.plots.stepper.ink import mix, on_fill
from flashscope.app.words.results.verdicts import GLYPHS

WORSE, BETTER = "#D55E00", "#0072B2"  # Okabe-Ito: told apart by everybody
SHADES = 33  # of the colours, the middle one among them
UNKNOWN, ALONE = SHADES, SHADES + 1  # after the shades: a pair without a ratio, a cell without a pair
UNCHANGED = GLYPHS["same"]  # most cells say so: what changed has to stand out
FAINT = 0.3  # of its colour has a cell whose verdict is no change: nobody may read one from afar
GLYPH_PX = 10  # a smaller cell has none, without its gap
RATIO_PX = 72  # a narrower one has no ratio beside its glyph
GAP_PX = 8  # of a cell's side from which cells stand apart


class HeatItem(pg.GraphicsObject):  # type: ignore[misc] # pyqtgraph publishes no types
    """Draws the cells in view: kernel k from y = k to k + 1 downwards, problem p from x = p to p + 1.

    All cells of a colour are drawn at once: one after the other a thousand of them take too long.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setFlag(self.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self._theme = theme
        self._grid: PairGrid | None = None
        self._shades: NDArray[np.intp] = np.empty((0, 0), dtype=np.intp)
        self._rects = pg.Qt.internals.PrimitiveArray(QRectF, 4)
        self.apply_theme(theme)

    def show_grid(self, grid: PairGrid, *, more_is_worse: bool) -> None:
        """Show another grid."""
        self.prepareGeometryChange()
        self._grid = grid
        self._shades = _numbers(grid, 1.0 if more_is_worse else -1.0)
        self.update()

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours: the middle is a surface of the theme."""
        self._theme = theme
        hatched = QBrush(QColor(theme.line), Qt.BrushStyle.BDiagPattern)
        self._brushes = [*map(QBrush, (*shades(theme), QColor(theme.raised))), hatched]
        self._inks = [on_fill(brush.color()) for brush in self._brushes]
        self.update()

    @guarded(QRectF)
    def boundingRect(self) -> QRectF:
        """All cells."""
        rows, columns = self._shades.shape
        return QRectF(0, 0, columns, rows)

    @guarded()
    def paint(self, painter: QPainter, option: Any, widget: object = None) -> None:
        """Draw the cells that are in sight."""
        del widget
        cells = _cells_in(option.exposedRect, self._shades)
        rects = cells.on(painter.worldTransform())
        painter.save()
        painter.resetTransform()
        painter.setPen(Qt.PenStyle.NoPen)
        for shade in np.unique(cells.shades).tolist():
            painter.setBrush(self._brushes[shade])
            self._paint(painter, rects[cells.shades == shade])
        if rects.size and rects[0, 2:].min() >= px(GLYPH_PX):
            self._write(painter, cells, rects)
        painter.restore()

    def _paint(self, painter: QPainter, rects: NDArray[np.float64]) -> None:
        self._rects.resize(len(rects))
        self._rects.ndarray()[:] = rects
        painter.drawRects(*self._rects.drawargs())

    def _write(self, painter: QPainter, cells: "Cells", rects: NDArray[np.float64]) -> None:
        """Write the verdicts into their cells, with the ratios where they are wide enough."""
        painter.setFont(ui_font(CAPTION_PX))
        dim = QColor(self._theme.dim)
        wide = rects[0, 2] >= px(RATIO_PX)
        told = [] if self._grid is None else self._grid.texts(cells.rows, cells.columns, ratios=wide)
        for text, shade, rect in zip(told, cells.shades.tolist(), rects.tolist(), strict=True):
            if text:
                painter.setPen(dim if text[0] == UNCHANGED else self._inks[shade])
                painter.drawText(QRectF(*rect), Qt.AlignmentFlag.AlignCenter, text)


class Cells(NamedTuple):
    """Some cells of a grid; arrays are (cells,)."""

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    shades: NDArray[np.intp]

    def on(self, transform: QTransform) -> NDArray[np.float64]:
        """Left, top, width and height of each in pixels, (cells, 4); large ones stand apart."""
        cell = transform.mapRect(QRectF(0, 0, 1, 1))
        gap = 1.0 if min(cell.width(), cell.height()) >= px(GAP_PX) else 0.0
        left, top = cell.x() + self.columns * cell.width(), cell.y() + self.rows * cell.height()
        sides = np.full((left.size, 2), (cell.width() - gap, cell.height() - gap))
        return np.column_stack((left, top, sides))


def _numbers(grid: PairGrid, sign: float) -> NDArray[np.intp]:
    """Which shade each cell has, (kernels, problems); with a sign of 1 what rises got worse."""
    strength = np.where(grid.sure, 1.0, FAINT)
    share = strength * np.clip(sign * grid.change / grid.span, -1.0, 1.0)
    found = np.where(np.isnan(share), UNKNOWN, np.rint((share + 1) / 2 * (SHADES - 1)))
    return np.where(grid.place == NO_PLACE, ALONE, found).astype(np.intp)


def shades(theme: Theme) -> list[QColor]:
    """Colours from better over no change to worse, as far each way."""
    half = SHADES // 2
    better = [mix(BETTER, theme.raised, step / half) for step in range(half)]
    return [*better, *(mix(theme.raised, WORSE, step / half) for step in range(half + 1))]


def _cells_in(exposed: QRectF, numbers: NDArray[np.intp]) -> Cells:
    rows, columns = numbers.shape
    top, bottom = max(0, math.floor(exposed.top())), min(rows, math.ceil(exposed.bottom()))
    left, right = max(0, math.floor(exposed.left())), min(columns, math.ceil(exposed.right()))
    down, across = np.meshgrid(np.arange(top, bottom), np.arange(left, right), indexing="ij")
    return Cells(down.ravel(), across.ravel(), numbers[top:bottom, left:right].ravel())
