"""The cells of a heat map: a colour for the change, a glyph for the verdict, hatched where nothing pairs."""

import math
from collections.abc import Callable
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter

from app.control.guard import guarded
from app.look.fonts import ui_font
from app.look.theme import CAPTION_PX, Theme
from app.look.zoom import px
from app.plots.compare.grid import Grid
from app.plots.compare.strands import NO_PLACE
from app.plots.stepper.ink import mix, on_fill
from app.words.verdicts import GLYPHS

WORSE, BETTER = "#D55E00", "#0072B2"  # Okabe-Ito: told apart by everybody
SHADES = 33  # of the colours, the middle one among them
UNCHANGED = GLYPHS["same"]  # most cells say so: what changed has to stand out
FAINT = 0.3  # of its colour has a cell whose verdict is no change: nobody may read one from afar
GLYPH_PX = 11  # a smaller cell has none
GAP_PX = 8  # of a cell's side from which cells stand apart


class HeatItem(pg.GraphicsObject):  # type: ignore[misc] # pyqtgraph publishes no types
    """Draws the cells in view: kernel k from y = k to k + 1 downwards, problem p from x = p to p + 1."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setFlag(self.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self._theme = theme
        self._grid: Grid | None = None
        self._sign = 1.0
        self._glyph: Callable[[int], str] = lambda _place: ""
        self._colours: list[QColor] = []
        self.apply_theme(theme)

    def show_grid(self, grid: Grid, *, more_is_worse: bool, glyph: Callable[[int], str]) -> None:
        """Show another grid; `glyph` writes the verdict of a pair at a place."""
        self.prepareGeometryChange()
        self._grid, self._sign, self._glyph = grid, 1.0 if more_is_worse else -1.0, glyph
        self.update()

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours: the middle is a surface of the theme."""
        self._theme = theme
        self._colours = shades(theme)
        self.update()

    @guarded(QRectF)
    def boundingRect(self) -> QRectF:
        """All cells."""
        rows, columns = (0, 0) if self._grid is None else self._grid.change.shape
        return QRectF(0, 0, columns, rows)

    @guarded()
    def paint(self, painter: QPainter, option: Any, widget: object = None) -> None:
        """Draw the cells that are in sight."""
        del widget
        if self._grid is None:
            return
        cell = painter.worldTransform().mapRect(QRectF(0, 0, 1, 1))
        gap = 1.0 if min(cell.width(), cell.height()) >= px(GAP_PX) else 0.0
        written = min(cell.width(), cell.height()) >= px(GLYPH_PX)
        to_device = painter.worldTransform()
        painter.save()
        painter.resetTransform()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setFont(ui_font(CAPTION_PX))
        for row, column in _cells_in(option.exposedRect, self._grid):
            rect = to_device.mapRect(QRectF(column, row, 1, 1)).adjusted(0, 0, -gap, -gap)
            self._paint_cell(painter, rect, (row, column), written=written)
        painter.restore()

    def _paint_cell(self, painter: QPainter, rect: QRectF, at: tuple[int, int], *, written: bool) -> None:
        grid = self._grid
        if grid is None or grid.place[at] == NO_PLACE:
            painter.fillRect(rect, QBrush(QColor(self._theme.line), Qt.BrushStyle.BDiagPattern))
            return
        change = grid.change[at]
        strength = 1.0 if grid.sure[at] else FAINT
        fill = QColor(self._theme.raised) if math.isnan(change) else self._colour(change, strength)
        painter.fillRect(rect, fill)
        if written:
            glyph = self._glyph(int(grid.place[at]))
            painter.setPen(QColor(self._theme.dim) if glyph == UNCHANGED else on_fill(fill))
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, glyph)

    def _colour(self, change: float, strength: float) -> QColor:
        span = self._grid.span if self._grid else 1.0
        share = strength * min(max(self._sign * change / span, -1.0), 1.0)
        return self._colours[round((share + 1) / 2 * (SHADES - 1))]


def shades(theme: Theme) -> list[QColor]:
    """From better over no change to worse, as far each way."""
    half = SHADES // 2
    better = [mix(BETTER, theme.raised, step / half) for step in range(half)]
    return [*better, *(mix(theme.raised, WORSE, step / half) for step in range(half + 1))]


def _cells_in(exposed: QRectF, grid: Grid) -> list[tuple[int, int]]:
    rows, columns = grid.change.shape
    top, bottom = max(0, math.floor(exposed.top())), min(rows, math.ceil(exposed.bottom()))
    left, right = max(0, math.floor(exposed.left())), min(columns, math.ceil(exposed.right()))
    return [(row, column) for row in range(top, bottom) for column in range(left, right)]
