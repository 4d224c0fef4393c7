"""One kernel's timeline: rows of lanes over time, in µs since the run began."""

from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtWidgets import QSizePolicy

from flashscope.app.control.guard import guarded
from flashscope.app.figures.timeline_rows import TimelineRows
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.plots.style import UnitAxis, restyle
from flashscope.app.plots.timeline.bars_item import GAP_UNITS, BarsItem, rows_high
from flashscope.app.plots.timeline.time_plot import NOTCH, TimeBox, TimePlot
from flashscope.app.words.units import plain_tick

LOWEST_PX, HIGHEST_PX = 3, 30  # of a lane
ROW_PX = 18  # a row of few lanes, if more than one, has higher ones: they are told apart
NAME_PX = 13  # of a row's name: lower rows have names every so often
LEFT_PX = 74
HEIGHT_PX, AXIS_PX = 70, 22
US_IN_MS = 1e3
LANES_A_NOTCH = 3.0


class LanesBox(TimeBox):
    """Tells of what moves the rows, too: the wheel with Shift, and dragging up and down.

    Signals:
        scrolled: So many lanes further down are to be on show (float).
    """

    scrolled = Signal(float)

    @guarded()
    def wheelEvent(self, event: Any, axis: int | None = None) -> None:
        """Move the rows where Shift is held, else zoom around the pointer."""
        if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.scrolled.emit(-LANES_A_NOTCH * event.delta() / NOTCH)
            event.accept()
        else:
            super().wheelEvent(event, axis)

    @guarded()
    def mouseDragEvent(self, event: Any, axis: int | None = None) -> None:
        """Move both under the pointer."""
        super().mouseDragEvent(event, axis)
        if event.isAccepted():
            self.scrolled.emit(self._lane(event.lastScenePos()) - self._lane(event.scenePos()))

    def _lane(self, place: QPointF) -> float:
        return float(self.mapSceneToView(place).y())


class LanesPlot(TimePlot):
    """Draws rows; how many are on show goes by its height, and `show_from` says which.

    On a stage, where nothing scrolls, it draws no more of them than have room: those that end last.

    Attributes:
        rows: All there are, None: nothing.
        drawn: Those of them that are drawn.

    Signals:
        hovered: The pointer is on this bar, by its place (int), or on none (None).
        clicked: This bar was clicked (int), or none (None).
        room_changed: Other many lanes have room now.
    """

    hovered = Signal(object)
    clicked = Signal(object)
    room_changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__({"left": UnitAxis("left"), "bottom": UnitAxis("bottom")}, theme, LanesBox)
        self.rows: TimelineRows | None = None
        self.drawn: TimelineRows | None = None
        self._named: list[tuple[float, str]] = []
        self._item, self._top, self._part = BarsItem(theme), 0.0, (0.0, 1.0)
        self.addItem(self._item, ignoreBounds=True)
        self._moment = pg.InfiniteLine(angle=90, movable=False)
        self._moment.setZValue(10)
        self._moment.hide()
        self.addItem(self._moment, ignoreBounds=True)
        self.box.invertY(True)
        left = self.getAxis("left")
        keep(left, left.setWidth, LEFT_PX)
        left.setStyle(tickLength=0, tickTextOffset=6)
        bottom = self.getAxis("bottom")
        keep(bottom, bottom.setHeight, AXIS_PX)
        bottom.setStyle(tickLength=0, tickTextOffset=4)
        keep(self, self.setMinimumHeight, HEIGHT_PX)
        # Or two of them would ask for as much room as they would like to have.
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.scene().sigMouseClicked.connect(self._click)
        self.pointed.connect(self._point_at)
        self.box.sigResized.connect(lambda *_: self._refit())
        self.apply_theme(theme)

    def show_rows(self, rows: TimelineRows | None) -> None:
        """Draw these rows from the first on."""
        self.rows, self.drawn, self._top = rows, rows, 0.0
        self._item.show_rows(rows)
        self._refit()

    @guarded()
    def take_any_room(self, yields: bool) -> None:
        """Draw those rows alone that have room, as on a stage, or all."""
        super().take_any_room(yields)
        self._refit()

    def show_part(self, part: tuple[float, float]) -> None:
        """Show this part of the time, in µs."""
        self._part = part
        self.getAxis("bottom").write_with(_in_ms if part[1] >= US_IN_MS else _in_us)
        self._place()

    def show_from(self, top: float) -> None:
        """Show the lanes from this one on."""
        self._top = top
        self._place()

    def choose(self, place: int | None) -> None:
        """Frame a bar; None: none."""
        self._item.choose(place)

    def box_of(self, place: int) -> tuple[float, float]:
        """When a bar begins and ends, in µs."""
        box = self._item.box_of(place)
        return box.left(), box.right()

    def show_moment(self, us: float | None) -> None:
        """Draw a line there, in all plots of the page; None: none."""
        self._moment.setVisible(us is not None)
        if us is not None:
            self._moment.setValue(us)

    @property
    def units(self) -> float:
        """How high all lanes are, in lanes."""
        return self._item.units

    @property
    def room(self) -> float:
        """How many lanes have room."""
        high = max(1.0, float(self.box.height()))
        lane = min(max(high / max(self.units, 1.0), self._lowest), px(HIGHEST_PX))
        return high / lane

    @property
    def _lowest(self) -> float:
        """How many pixels high a lane is at least."""
        lanes = 1 if self.rows is None else len(self.rows.lanes)
        least = 1 if self.yields else LOWEST_PX  # on a stage rows of one lane take no scrolling
        return px(max(LOWEST_PX, ROW_PX / lanes) if lanes > 1 else least)

    @property
    def wanted_px(self) -> int:
        """How high it would like to be for all lanes to have their full height, with its axis."""
        axis = float(self.getAxis("bottom").height())
        whole = 0.0 if self.rows is None else rows_high(len(self.rows.names), len(self.rows.lanes))
        return max(px(HEIGHT_PX), round(whole * px(HIGHEST_PX) + axis + px(8)))

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        restyle(self, theme)
        self._item.apply_theme(theme)
        self._moment.setPen(pg.mkPen(theme.text, width=px(1), style=Qt.PenStyle.DashLine))

    def _refit(self) -> None:
        self._draw_fitting()
        self._place()
        self.room_changed.emit()

    def _draw_fitting(self) -> None:
        """On a stage draw the rows that have room, and elsewhere all."""
        if self.rows is None or self.drawn is None:
            return
        row = len(self.rows.lanes) + GAP_UNITS
        fitting = int((self.box.height() / self._lowest + GAP_UNITS) / row)
        most = max(1, fitting) if self.yields else len(self.rows.names)
        if min(most, len(self.rows.names)) != len(self.drawn.names):
            self.drawn, self._top = self.rows.last_to_end(most), 0.0
            self._item.show_rows(self.drawn)

    def _place(self) -> None:
        room = self.room
        top = min(self._top, max(0.0, self.units - room))
        self.box.setRange(xRange=self._part, yRange=(top, top + room), padding=0)
        if (names := self._names()) != self._named:  # or the axis would be drawn anew with every move
            self._named = names
            self.getAxis("left").setTicks([names])

    def _names(self) -> list[tuple[float, str]]:
        """The rows' names where they have room."""
        if self.drawn is None:
            return []
        high = len(self.drawn.lanes) + GAP_UNITS
        row_px = high * max(1.0, self.box.height()) / self.room
        every = max(1, -(-px(NAME_PX) // max(1, round(row_px))))
        middle = len(self.drawn.lanes) / 2
        return [
            (row * high + middle, name)
            for row, name in enumerate(self.drawn.names)
            if row % every == every // 2
        ]

    def bar_at(self, place: QPointF) -> int | None:
        """The bar at a place of the scene; None also where some rows alone are drawn."""
        if (
            self.rows is None
            or self.drawn is not self.rows
            or not self.box.sceneBoundingRect().contains(place)
        ):
            return None
        at = self.box.mapSceneToView(place)
        lane = self._item.lane_at(at.y())
        return None if lane is None else self.rows.bars.at(lane, at.x() * 1e3)

    def let_go(self) -> None:
        """The pointer is nowhere any more."""
        super().let_go()
        self.hovered.emit(None)

    @guarded()
    def _point(self, place: QPointF) -> None:
        super()._point(place)
        self.hovered.emit(self.bar_at(place))

    def _point_at(self, us: float | None) -> None:
        self.show_moment(us)

    @guarded()
    def _click(self, event: Any) -> None:
        inside = self.box.sceneBoundingRect().contains(event.scenePos())
        if inside and event.button() == Qt.MouseButton.LeftButton:
            event.accept()
            self.clicked.emit(self.bar_at(event.scenePos()))


def _in_ms(us: float, more: int = 0) -> str:
    return f"{plain_tick(us / US_IN_MS, more)} ms"


def _in_us(us: float, more: int = 0) -> str:
    return f"{plain_tick(us, more)} µs"
