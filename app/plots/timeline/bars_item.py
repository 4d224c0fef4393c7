"""The bars of a timeline as one image of the pixels on show, with names where they have room."""

from typing import Any, NamedTuple

import numpy as np
import pyqtgraph as pg
from numpy.typing import NDArray
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from flashscope.app.control.guard import guarded
from flashscope.app.figures.timeline_rows import TimelineRows
from flashscope.app.look.fonts import ui_font
from flashscope.app.look.stage_colours import stage_colours
from flashscope.app.look.theme import CAPTION_PX, Theme
from flashscope.app.look.zoom import px
from flashscope.app.plots.stepper.ink import on_fill
from flashscope.kernels.workload.timeline import STAGES

NAMED_PX, NAMED_HIGH_PX = 46, 15  # a smaller bar has no name in it
MOST_NAMES = 400
GAP_UNITS = 0.35  # of a lane's height, between two rows
GAP_PX = 1  # between two lanes of a row, where they are high enough
SPACED_PX = 4


class LanePlace(NamedTuple):
    """Where a lane stands, in units of a lane's height from the top of the first."""

    top: float
    bottom: float


class BarsItem(pg.GraphicsObject):  # type: ignore[misc] # pyqtgraph publishes no types
    """Draws lanes downwards, each one unit high, rows with a gap between them, over time in µs."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._rows: TimelineRows | None = None
        self._chosen: int | None = None
        self._theme = theme
        self.apply_theme(theme)

    def show_rows(self, rows: TimelineRows | None) -> None:
        """Draw these rows; None: nothing."""
        self.prepareGeometryChange()
        self._rows, self._chosen = rows, None
        self.update()

    def choose(self, place: int | None) -> None:
        """Frame a bar; None: none."""
        self._chosen = place
        self.update()

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        colours = [QColor(colour) for colour in stage_colours(theme).values()]
        self._inks = [on_fill(colour) for colour in colours]
        self._table = [QColor(theme.panel).rgb(), *(colour.rgb() for colour in colours)]
        self.update()

    @property
    def units(self) -> float:
        """How high all of it is, in lanes."""
        return 0.0 if self._rows is None else rows_high(len(self._rows.names), len(self._rows.lanes))

    def place_of(self, lane: int) -> LanePlace:
        """Where a lane stands."""
        lanes = 1 if self._rows is None else len(self._rows.lanes)
        top = lane + lane // lanes * GAP_UNITS
        return LanePlace(top, top + 1)

    def lane_at(self, y: float) -> int | None:
        """The lane that stands there; None: a gap does."""
        if self._rows is None or y < 0:
            return None
        row, within = divmod(y, len(self._rows.lanes) + GAP_UNITS)
        if within >= len(self._rows.lanes) or row >= len(self._rows.names):
            return None
        return int(row) * len(self._rows.lanes) + int(within)

    @guarded(QRectF)
    def boundingRect(self) -> QRectF:
        """All lanes, over all of the time."""
        span = 1.0 if self._rows is None else self._rows.bars.span / 1e3
        return QRectF(0, 0, span, max(self.units, 1.0))

    @guarded()
    def paint(self, painter: QPainter, option: Any, widget: object = None) -> None:
        """Draw what is in sight."""
        del option, widget
        view = self.getViewBox()
        if self._rows is None or view is None:
            return
        on_screen = painter.worldTransform()
        shown = view.viewRect()
        area = on_screen.mapRect(shown).toAlignedRect()
        columns, lines = area.width(), area.height()
        if columns < 1 or lines < 1:
            return
        painter.save()
        painter.resetTransform()
        part = shown.left() * 1e3, shown.right() * 1e3
        high = lines / shown.height()
        lanes = self._lanes_of_lines(shown.top() + (np.arange(lines) + 0.5) / high, high)
        first, last = _ends(lanes)
        if last > first:
            painter.drawImage(area.topLeft(), self._image(part, columns, lanes, (first, last)))
            self._name(painter, on_screen, part, (first, last))
            self._frame(painter, on_screen)
        painter.restore()

    def _lanes_of_lines(self, y: NDArray[np.float64], high: float) -> NDArray[np.intp]:
        """Which lane each line of pixels shows, -1 where it shows none."""
        rows = self._rows
        count = 1 if rows is None else len(rows.lanes)
        row, within = np.divmod(y, count + GAP_UNITS)
        last = 0 if rows is None else len(rows.names)
        seam = GAP_PX / high if high >= SPACED_PX and count > 1 else 0.0
        there = (within < count) & (row >= 0) & (row < last) & (within % 1 < 1 - seam)
        return np.where(there, row * count + np.minimum(np.floor(within), count - 1), -1).astype(np.intp)

    def _image(
        self, part: tuple[float, float], columns: int, lanes: NDArray[np.intp], ends: tuple[int, int]
    ) -> QImage:
        assert self._rows is not None  # noqa: S101 - paint has asked
        pixels = self._rows.bars.pixels(part, columns, *ends)
        lines = np.zeros((len(pixels) + 1, -(-columns // 4) * 4), np.uint8)  # Qt's lines are words of 32 bits
        lines[:-1, :columns] = pixels
        whole = np.ascontiguousarray(lines[np.where(lanes < 0, len(pixels), lanes - ends[0])])
        image = QImage(whole.data, columns, len(whole), whole.shape[1], QImage.Format.Format_Indexed8)
        image.setColorTable(self._table)
        return image.convertToFormat(QImage.Format.Format_RGB32)  # a copy: the array goes with this call

    def _name(
        self, painter: QPainter, on_screen: Any, part: tuple[float, float], ends: tuple[int, int]
    ) -> None:
        """Write the stages into bars that have room for it."""
        bars = self._rows.bars if self._rows is not None else None
        unit = on_screen.mapRect(QRectF(0, 0, 1, 1))
        if bars is None or unit.height() < px(NAMED_HIGH_PX):
            return
        painter.setFont(ui_font(CAPTION_PX))
        left = 0
        for lane, (start, stop) in enumerate(zip(*bars.within(part, *ends), strict=True), ends[0]):
            begin, end = (np.clip(one[start:stop], *part) for one in (bars.begin, bars.end))
            wide = np.flatnonzero((end - begin) / 1e3 * unit.width() >= px(NAMED_PX))
            for place in wide[: MOST_NAMES - left].tolist():
                stage = int(bars.stage[start + place])
                top = self.place_of(lane).top
                box = QRectF(begin[place] / 1e3, top, (end[place] - begin[place]) / 1e3, 1)
                painter.setPen(self._inks[stage])
                painter.drawText(on_screen.mapRect(box), Qt.AlignmentFlag.AlignCenter, STAGES[stage])
            left += len(wide)
            if left >= MOST_NAMES:
                return

    def _frame(self, painter: QPainter, on_screen: Any) -> None:
        """Frame the chosen bar."""
        if self._chosen is None or self._rows is None:
            return
        box = on_screen.mapRect(self.box_of(self._chosen))
        wide = max(box.width(), px(4))
        painter.setPen(QPen(QColor(self._theme.text), px(2)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(QRectF(box.center().x() - wide / 2, box.y(), wide, box.height()))

    def box_of(self, place: int) -> QRectF:
        """Where a bar stands, in µs and lanes."""
        assert self._rows is not None  # noqa: S101 - it has the bar
        bars = self._rows.bars
        top, bottom = self.place_of(int(bars.lane[place]))
        left, right = bars.begin[place] / 1e3, bars.end[place] / 1e3
        return QRectF(QPointF(left, top), QPointF(right, bottom))


def rows_high(rows: int, lanes: int) -> float:
    """How high so many rows of so many lanes are, in lanes."""
    return rows * lanes + max(0, rows - 1) * GAP_UNITS


def _ends(lanes: NDArray[np.intp]) -> tuple[int, int]:
    """The first lane on show, and the one behind the last."""
    seen = lanes[lanes >= 0]
    return (int(seen[0]), int(seen[-1]) + 1) if seen.size else (0, 0)
