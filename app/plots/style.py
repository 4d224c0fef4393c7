"""Axes and colours that all plots share."""

from collections.abc import Sequence
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFont, QHideEvent, QMouseEvent, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.fonts import ui_font
from flashscope.app.look.theme import CAPTION_PX, Theme
from flashscope.app.widgets.scrolling import scrolls_on
from flashscope.app.widgets.yielding import Yielding
from flashscope.app.words.ticks import TickText, tick_texts
from flashscope.app.words.units import plain_tick

pg.setConfigOption("antialias", True)


class Plot(Yielding, pg.PlotWidget):  # type: ignore[misc] # pyqtgraph publishes no types
    """A plot; an error of something in it stays inside its paint.

    The Tab key passes it by: its keys are the page's, and nothing in it would show the focus.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._movable: list[bool] | None = None  # along each axis, once it is held still
        self.getViewBox().sigRangeChanged.connect(self._apply_range)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setAcceptDrops(False)  # files that are dropped on it are the window's
        for side in ("top", "right"):  # hidden, they would lay out their label anew with every range
            self.getAxis(side).enableAutoSIPrefix(enable=False)

    def range_by_hand(self, *, drag_x: bool = False, drag_y: bool = False) -> None:
        """Show the range that is set, to its ends, without a frame and buttons.

        Args:
            drag_x: Whether the pointer moves the view sideways.
            drag_y: The same up and down.
        """
        self.plotItem.hideButtons()
        self.setFrameShape(self.Shape.NoFrame)
        view = self.getViewBox()
        view.disableAutoRange()
        view.setDefaultPadding(0)
        view.setMouseEnabled(x=drag_x, y=drag_y)

    def _apply_range(self, *_: object) -> None:
        """Move what is in the view at once: left to the next paint, it would ask for another one then."""
        self.getViewBox().updateMatrix()

    @guarded()
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Point at what the pointer is on, unless it only rests where all stands still."""
        if event.buttons() or not stands_still(self):
            super().mouseMoveEvent(event)

    @guarded()
    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom, unless the wheel scrolls the page on."""
        if scrolls_on(self, event):
            event.ignore()
        else:
            super().wheelEvent(event)

    @guarded()
    def leaveEvent(self, event: QEvent) -> None:
        """Let go of what the pointer was on."""
        super().leaveEvent(event)
        self.let_go()

    @guarded()
    def hideEvent(self, event: QHideEvent) -> None:
        """The same: where another page comes, the pointer need not move."""
        super().hideEvent(event)
        self.let_go()

    def hold_still(self, still: bool) -> None:
        """Let wheel and drag move nothing, as on a stage, or again what they moved."""
        view = self.getViewBox()
        if still and self._movable is None:
            self._movable = view.mouseEnabled()
            view.setMouseEnabled(x=False, y=False)
        elif self._movable is not None and not still:
            view.setMouseEnabled(*self._movable)
            self._movable = None

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Have all of it painted once.

        What moves in a scene is painted again after the whole that a new size asks for, and so is a line that
        asks for it only when somebody asks where it is; but not of a scene that is to be painted anyway.
        """
        self.scene().update()
        super().resizeEvent(event)
        self.scene().itemsBoundingRect()

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what is in it."""
        super().paintEvent(event)


def stands_still(widget: QWidget) -> bool:
    """Whether a widget is in one that says `still`, as on a stage: a resting pointer changes nothing."""
    around: QWidget | None = widget
    while around is not None and not around.property("still"):
        around = around.parentWidget()
    return around is not None


class UnitAxis(pg.AxisItem):  # type: ignore[misc] # pyqtgraph publishes no types
    """An axis whose tick labels a function writes; the unit is in the title of the card."""

    def __init__(self, orientation: str, text: TickText = plain_tick) -> None:
        super().__init__(orientation)
        self._text = text
        self.enableAutoSIPrefix(enable=False)

    def write_with(self, text: TickText) -> None:
        """Write the ticks otherwise from now on."""
        self._text = text
        self.picture = None
        self.update()

    @guarded(list)
    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """Texts of the ticks at these values."""
        del scale
        return tick_texts(values, self._text, spacing)


class SecondsAxis(UnitAxis):
    """Elapsed time: seconds below a minute, minutes:seconds from there on."""

    def __init__(self, orientation: str = "bottom") -> None:
        super().__init__(orientation, seconds_tick)


def seconds_tick(seconds: float, more: int = 0) -> str:
    """One tick of elapsed time; of whole seconds from a minute on, or with some decimals more."""
    if abs(seconds) < 60:  # noqa: PLR2004 - seconds in a minute
        return f"{seconds:.{6 + more}g} s"
    sign, (minutes, left) = ("-" if seconds < 0 else ""), divmod(abs(round(seconds, more)), 60)
    return f"{sign}{minutes:.0f}:{left:0{3 + more if more else 2}.{more}f}"


def restyle(plot: pg.PlotWidget, theme: Theme) -> None:
    """Give a plot the theme's colours; whoever added curves and texts recolours those."""
    plot.setBackground(theme.panel)
    # Or what stood in its place before, such as another page, would show until a covered plot is painted.
    plot.viewport().setAutoFillBackground(False)
    for name in ("bottom", "left", "top", "right"):
        axis = plot.getPlotItem().getAxis(name)
        axis.setPen(pg.mkPen(theme.grid))
        axis.setTextPen(pg.mkPen(theme.dim))
        axis.setTickPen(pg.mkPen(theme.grid))
        axis.setTickFont(tick_font())


def grid_behind(*axes: pg.AxisItem, on: bool = True, apart: int = 6) -> None:
    """Have axes draw their grid behind the curves and no ticks, the labels some pixels apart; or no grid."""
    for axis in axes:
        axis.setZValue(-1000)
        axis.setStyle(tickLength=0, tickTextOffset=apart)
        axis.setGrid(255 if on else False)


def tick_font() -> QFont:
    """The font of ticks and of texts inside plots."""
    return ui_font(CAPTION_PX)
