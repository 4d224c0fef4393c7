"""A heat map of a comparison: kernels x problems, a cell the ratio of a pair."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QFontMetricsF

from flashscope.app.control.guard import guarded
from flashscope.app.figures.grid import PairGrid
from flashscope.app.figures.in_view import is_whole
from flashscope.app.figures.strands import NO_PLACE
from flashscope.app.figures.ticks import Label, fitting
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.plots.compare.heat_item import HeatItem
from flashscope.app.plots.style import Plot, UnitAxis, restyle, tick_font
from flashscope.app.widgets.plain import set_tip
from flashscope.app.words.plain import cut_short
from flashscope.app.words.units import seqlen_text

NARROWEST_PX = 12  # of a column: more of them are reached by dragging
NAME_PX = 104  # of a kernel's name
ROW_PX, AXES_PX = 14, 44  # of a row, and of both axes
LEAST_PX, TALLEST_PX = 92, 300  # that it asks for
LABEL_GAP_PX = 5  # between two lengths, or two curves' names
LONGEST = 22  # characters of a kernel's name
SHORTEST = 4  # characters of a curve's name that is cut: fewer say nothing
Ticks = list[tuple[float, list[float]]]


class CellAxis(UnitAxis):
    """An axis with a text at given places; those that do not fit beside each other are left out."""

    def __init__(self, orientation: str) -> None:
        super().__init__(orientation)
        self._texts: dict[float, str] = {}

    def set_texts(self, texts: dict[float, str]) -> None:
        """Write these texts, each at its place."""
        self._texts = texts
        self.picture = None
        self.update()

    @guarded(list)
    def tickValues(self, minVal: float, maxVal: float, size: float) -> Ticks:  # noqa: N803 - pyqtgraph's names
        """The places in view whose texts fit."""
        low, high = sorted((minVal, maxVal))
        pixel = (high - low) / max(size, 1.0)
        return [(1.0, fitting(self._labels(low, high, pixel), 3 * pixel))]

    @guarded(list)
    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """The texts."""
        del scale, spacing
        return [self._texts[value] for value in values]

    def _labels(self, low: float, high: float, pixel: float) -> list[Label]:
        metrics = QFontMetricsF(tick_font())
        upright = self.orientation in {"left", "right"}
        labels = []
        for place, text in ((place, text) for place, text in self._texts.items() if low <= place <= high):
            length = metrics.height() * 0.8 if upright else metrics.horizontalAdvance(text) + 2
            half = length / 2 * pixel
            if low <= place - half and place + half <= high:
                labels.append((place - half, place, place + half))
        return labels


class HeatPlot(Plot):
    """Shows a grid; a click or the pointer over a cell tells its pair.

    Signals:
        picked: A cell was clicked: its pair's place in the comparison (int).
        parted: Some of the columns are out of sight (True), or all are there (False).
    """

    picked = Signal(int)
    parted = Signal(bool)

    def __init__(self, theme: Theme) -> None:
        self._axes = {side: CellAxis(side) for side in ("left", "bottom", "top")}
        super().__init__(axisItems=self._axes, enableMenu=False)
        self._grid: PairGrid | None = None
        self._tip: Callable[[int], str] = lambda _place: ""
        self._place = NO_PLACE
        self._all = False  # columns, however narrow they are
        self._item = HeatItem(theme)
        self._groups = pg.PlotCurveItem(connect="pairs")
        self._frame = pg.PlotCurveItem()
        for depth, item in ((0, self._item), (5, self._groups), (10, self._frame)):
            item.setZValue(depth)
            self.addItem(item, ignoreBounds=True)
        self._set_up()
        self.apply_theme(theme)

    def _set_up(self) -> None:
        self.range_by_hand(drag_x=True)
        self.plotItem.showAxis("top")
        keep(self._axes["left"], self._axes["left"].setWidth, NAME_PX)
        view = self.getViewBox()
        view.invertY(True)
        view.sigResized.connect(lambda *_: self._range())
        view.sigXRangeChanged.connect(lambda *_: self._label())
        view.sigRangeChangedManually.connect(lambda *_: setattr(self, "_all", False))
        self.scene().sigMouseClicked.connect(self._click)
        self.scene().sigMouseMoved.connect(self._hover)
        keep(self, self.setMinimumWidth, 160)
        keep(self, lambda: self.ask_for_room(self.isVisible()))
        self.setAccessibleName("Ratio to the baseline: kernels by problems")

    def show_grid(self, grid: PairGrid, *, more_is_worse: bool, tip: Callable[[int], str]) -> None:
        """Show another grid.

        Args:
            grid: The cells.
            more_is_worse: Whether a ratio above 1 has the colour of what got worse.
            tip: Tells a pair in words.
        """
        self._grid, self._tip, self._all = grid, tip, self._movable is not None
        self._item.show_grid(grid, more_is_worse=more_is_worse)
        self._axes["left"].set_texts(
            {k + 0.5: cut_short(name, LONGEST) for k, name in enumerate(grid.kernels)}
        )
        self.ask_for_room(True)
        between = [first for first, _, _ in grid.groups[1:]]
        self._groups.setData(np.repeat(between, 2), np.tile((0, len(grid.kernels)), len(between)))
        self._range()
        self.show_place(self._place)

    def ask_for_room(self, wanted: bool) -> None:
        """Be high enough for a line of each kernel, or let others have the room."""
        rows = len(self._grid.kernels) if self._grid is not None and wanted else 0
        self.setMinimumHeight(px(min(TALLEST_PX, max(LEAST_PX, AXES_PX + ROW_PX * rows))))

    def show_place(self, place: int) -> None:
        """Frame the cell of this pair."""
        self._place = place
        grid = self._grid
        cells = [] if grid is None or place == NO_PLACE else np.argwhere(grid.place == place).tolist()
        self._frame.setVisible(bool(len(cells)))
        if len(cells):
            row, column = cells[0]
            self._frame.setData(
                [column, column + 1, column + 1, column, column], [row, row, row + 1, row + 1, row]
            )
            self._bring_into_view(column)

    def show_all(self) -> None:
        """Show every column, however narrow it gets."""
        self._all = True
        self._range()

    def hold_still(self, still: bool) -> None:
        """Let wheel and drag move nothing, and show all; or let them again."""
        super().hold_still(still)
        self._all = still
        self._range()

    @property
    def shows_part(self) -> bool:
        """Whether some of the columns are out of sight."""
        left, right = self.viewRange()[0]
        return self._grid is not None and not is_whole((left, right), (0.0, float(self._columns)))

    def apply_theme(self, theme: Theme) -> None:
        """Recolour everything that is drawn."""
        restyle(self, theme)
        for axis in self._axes.values():
            axis.setStyle(tickLength=0, tickTextOffset=4)
            axis.setPen(pg.mkPen(None))
        self._item.apply_theme(theme)
        self._groups.setPen(pg.mkPen(theme.dim, width=px(1)))
        self._frame.setPen(pg.mkPen(theme.text, width=px(2)))

    def _range(self) -> None:
        rows, columns = 1 if self._grid is None else self._grid.change.shape[0], self._columns
        view = self.getViewBox()
        fit = max(1, int(view.width() / px(NARROWEST_PX)))
        view.setLimits(xMin=0, xMax=columns, yMin=0, yMax=rows, minXRange=1, maxXRange=columns)
        shown = columns if self._all else min(columns, fit)
        view.setRange(xRange=(0, shown), yRange=(0, rows), padding=0, disableAutoRange=True)
        self._label()

    @property
    def _columns(self) -> int:
        return 1 if self._grid is None else self._grid.change.shape[1]

    def _label(self) -> None:
        """Write what there is room for over and under the columns on show."""
        view = self.getViewBox()
        left, right = view.viewRange()[0]
        self._label_lengths(view.width() / (right - left))
        self._label_curves(view.width() / (right - left))
        self.parted.emit(self.shows_part)

    def _label_lengths(self, cell_px: float) -> None:
        """Write as many lengths as fit, the same ones of every curve."""
        if self._grid is None:
            return
        texts = [seqlen_text(problem.seqlen) for problem in self._grid.problems]
        metrics = QFontMetricsF(tick_font())
        widest = max((metrics.horizontalAdvance(text) for text in set(texts)), default=0.0) + LABEL_GAP_PX
        step = max(1, math.ceil(widest / max(cell_px, 1.0)))
        written = {
            first + k + 0.5: texts[first + k]
            for first, count, _ in self._grid.groups
            for k in range(0, max(1, count - step + 1), step)
        }
        self._axes["bottom"].set_texts(written)

    def _label_curves(self, cell_px: float) -> None:
        """Write as much of each curve's name as there is room over its columns: its ends tell most."""
        groups, metrics = [] if self._grid is None else self._grid.groups, QFontMetricsF(tick_font())
        middle = Qt.TextElideMode.ElideMiddle
        texts = {
            first + count / 2: metrics.elidedText(cut_short(label), middle, count * cell_px - LABEL_GAP_PX)
            for first, count, label in groups
        }
        self._axes["top"].set_texts({place: text for place, text in texts.items() if len(text) >= SHORTEST})

    def _bring_into_view(self, column: int) -> None:
        view = self.getViewBox()
        left, right = view.viewRange()[0]
        if not left <= column < right:
            view.setRange(xRange=(column, column + right - left), padding=0)

    def _place_at(self, position: QPointF) -> int:
        view = self.getViewBox()
        if self._grid is None or not view.sceneBoundingRect().contains(position):
            return NO_PLACE
        here = view.mapSceneToView(position)
        row, column = int(here.y()), int(here.x())
        rows, columns = self._grid.place.shape
        inside = 0 <= row < rows and 0 <= column < columns
        return int(self._grid.place[row, column]) if inside else NO_PLACE

    def _click(self, event: Any) -> None:
        place = self._place_at(event.scenePos())
        if event.button() == Qt.MouseButton.LeftButton and place != NO_PLACE:
            self.picked.emit(place)

    def _hover(self, position: QPointF) -> None:
        place = self._place_at(position)
        set_tip(self.viewport(), self._tip(place) if place != NO_PLACE else "")
