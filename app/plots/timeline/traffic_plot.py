"""What crosses the DRAM bus while one run of a kernel goes on: read and written, one on the other."""

from typing import Any, NamedTuple

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGraphicsPathItem, QSizePolicy

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.plots.style import Plot, UnitAxis, restyle, tick_font
from flashscope.app.words.units import digits, gbs_text, ms_text, plain_tick
from flashscope.profiles.wire.traffic import Traffic

HEIGHT_PX, AXIS_PX, TICKS_PX, TOP_PX = 72, 52, 20, 8
LABEL_ANCHOR = 0, 1.06  # of the copy's label, whose ground would cover half of the line
LABEL_PX, ROOM_PX = 24, 68  # of the copy's label, and of a plot that has room for it
TIGHT = 1.06  # of the axis over all of it, where there is no room
NS_IN_US, US_IN_MS = 1e3, 1e3


class Rates(NamedTuple):
    """A traffic curve in the units of the plot: ends of the bins in µs, rates in GB/s (10^9 bytes)."""

    us: Any
    read: Any
    written: Any

    @classmethod
    def of(cls, traffic: Traffic) -> "Rates":
        """The curve as NumPy arrays; one end more than bins."""
        moved = np.array(traffic.bins, dtype=np.float64).reshape(-1, 2) / traffic.bin_ns
        return cls(np.arange(len(moved) + 1) * traffic.bin_ns / NS_IN_US, moved[:, 0], moved[:, 1])

    def text_at(self, us: float) -> str:
        """What was read and written at a moment; empty outside of the curve."""
        place = int(np.searchsorted(self.us, us, side="right")) - 1
        if not 0 <= place < len(self.read):
            return ""
        read, written = digits(self.read[place]), digits(self.written[place])
        return f"at {ms_text(us / US_IN_MS)}: {read} GB/s read, {written} GB/s written"

    def area(self, rates: Any) -> Any:
        """The outline of what lies under one rate, as a path; empty without bins.

        pyqtgraph's own filled curve is painted in pieces, between which the ground shows.
        """
        ends = np.repeat(self.us, 2) if len(rates) else np.zeros(0)
        heights = np.concatenate(([0.0], np.repeat(rates, 2), [0.0])) if len(rates) else np.zeros(0)
        return pg.arrayToQPath(ends, heights)


def time_unit(us: float) -> str:
    """The unit of an axis that ends there."""
    return "ms" if us >= US_IN_MS else "µs"


class TrafficAxes(NamedTuple):
    """The axes of all plots.

    Attributes:
        us: Where time ends, in µs.
        gbs: Where rates end, in GB/s.
        labelled: Whether there is room for the label of the copy.
    """

    us: float
    gbs: float
    labelled: bool

    @classmethod
    def around(cls, us: float, gbs: float, height: float) -> "TrafficAxes":
        """The axes of plots of so many pixels in which all of this lies."""
        labelled = height >= px(ROOM_PX)
        beyond = height / (height - px(LABEL_PX)) if labelled else TIGHT
        return cls(us, gbs * beyond, labelled)


class TrafficPlot(Plot):
    """One kernel's curve, beside the rate of a copy, which reads and writes as well.

    Signals:
        hovered: What the pointer stands on, in words; empty: nothing (str).
    """

    hovered = Signal(str)

    def __init__(self, kernel: str, theme: Theme) -> None:
        axes = {"left": UnitAxis("left"), "bottom": UnitAxis("bottom")}
        super().__init__(axisItems=axes, enableMenu=False)
        self._kernel = kernel
        self._rates = Rates(np.zeros(1), np.zeros(0), np.zeros(0))
        self._all = self._area(0)
        self._read = self._area(1)
        self._copy = pg.InfiniteLine(
            angle=0, label="copy rate", labelOpts={"position": 0.01, "anchors": [LABEL_ANCHOR] * 2}
        )
        self._copy.setZValue(10)
        self.addItem(self._copy, ignoreBounds=True)
        self.range_by_hand()
        self.plotItem.layout.setContentsMargins(0, px(TOP_PX), px(TOP_PX), 0)
        left = self.getAxis("left")
        keep(left, left.setWidth, AXIS_PX)
        bottom = self.getAxis("bottom")
        keep(bottom, bottom.setHeight, TICKS_PX)  # by itself it goes by what was written there before
        for axis in axes.values():
            axis.setStyle(tickLength=0, tickTextOffset=5)
            axis.setZValue(-1000)
        left.setGrid(255)
        keep(self, self.setMinimumHeight, HEIGHT_PX)
        # Or a page of several would ask for as much room as they all would like to have.
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.scene().sigMouseMoved.connect(self._move)
        self.apply_theme(theme)

    def show_curve(self, rates: Rates, copy_gbs: float | None, axes: TrafficAxes) -> None:
        """Draw a curve on these axes, the same for all kernels."""
        self._rates = rates
        self._all.setPath(rates.area(rates.read + rates.written))
        self._read.setPath(rates.area(rates.read))
        unit = time_unit(axes.us)
        self.getAxis("bottom").write_with(
            (lambda value, more=0: plain_tick(value / US_IN_MS, more)) if unit == "ms" else plain_tick
        )
        self.setAccessibleName(f"DRAM traffic of {self._kernel} over one run, GB/s over {unit}")
        self._copy.setVisible(copy_gbs is not None)
        self._copy.label.setVisible(axes.labelled)
        if copy_gbs is not None:
            self._copy.setValue(copy_gbs)
            self._copy.label.setFormat(f"copy {gbs_text(copy_gbs)}")
        self.setRange(xRange=(0, axes.us), yRange=(0, axes.gbs), padding=0)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        restyle(self, theme)
        for curve, colour in ((self._all, written_colour(theme)), (self._read, read_colour(theme))):
            curve.setBrush(pg.mkBrush(colour))
        self._copy.setPen(pg.mkPen(theme.text, width=px(1.2), style=Qt.PenStyle.DashLine))
        self._copy.label.setColor(theme.text)
        self._copy.label.fill = pg.mkBrush(theme.panel)  # bars may be higher than the line
        self._copy.label.setFont(tick_font())

    def _area(self, depth: int) -> QGraphicsPathItem:
        area = QGraphicsPathItem()
        area.setPen(pg.mkPen(None))
        area.setZValue(depth)
        self.addItem(area, ignoreBounds=True)
        return area

    def let_go(self) -> None:
        """The pointer stands on nothing any more."""
        self.hovered.emit("")

    @guarded()
    def _move(self, place: Any) -> None:
        view = self.getViewBox()
        inside = view.sceneBoundingRect().contains(place)
        self.hovered.emit(self._rates.text_at(view.mapSceneToView(place).x()) if inside else "")


def read_colour(theme: Theme) -> str:
    """The colour of what is read from DRAM."""
    return theme.accent


def written_colour(theme: Theme) -> str:
    """The colour of what is written to DRAM."""
    return theme.warn
