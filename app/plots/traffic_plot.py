"""What crosses the DRAM bus while one run of a kernel goes on: read and written, one on the other."""

from typing import Any, NamedTuple

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal

from app.control.guard import guarded
from app.look.theme import Theme
from app.look.zoom import keep, px
from app.plots.style import Plot, UnitAxis, restyle, tick_font
from app.words.units import digits
from profiles.wire.traffic import Traffic

HEIGHT_PX, AXIS_PX, TOP_PX = 96, 52, 8
NS_IN_US = 1e3


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
        return f"at {digits(us)} µs: {read} GB/s read, {written} GB/s written"


class TrafficPlot(Plot):
    """One kernel's curve, beside the rate of a copy, which reads and writes as well.

    Signals:
        hovered: What the pointer stands on, in words; empty: nothing (str).
    """

    hovered = Signal(str)

    def __init__(self, kernel: str, theme: Theme) -> None:
        axes = {"left": UnitAxis("left"), "bottom": UnitAxis("bottom")}
        super().__init__(axisItems=axes, enableMenu=False)
        self.setAccessibleName(f"DRAM traffic of {kernel} over one run, GB/s over µs")
        self._rates = Rates(np.zeros(1), np.zeros(0), np.zeros(0))
        self._all = self._area(0)
        self._read = self._area(1)
        self._copy = pg.InfiniteLine(
            angle=0, label="copy rate", labelOpts={"position": 0.985, "anchors": [(1, 1)] * 2}
        )
        self.addItem(self._copy, ignoreBounds=True)
        self.range_by_hand()
        self.plotItem.layout.setContentsMargins(0, px(TOP_PX), px(TOP_PX), 0)
        left = self.getAxis("left")
        keep(left, left.setWidth, AXIS_PX)
        keep(self, self.setMinimumHeight, HEIGHT_PX)
        self.scene().sigMouseMoved.connect(self._move)
        self.apply_theme(theme)

    def show_curve(self, rates: Rates, copy_gbs: float | None, *, us: float, gbs: float) -> None:
        """Draw a curve on axes that end there, the same for all kernels."""
        self._rates = rates
        self._all.setData(rates.us, rates.read + rates.written)
        self._read.setData(rates.us, rates.read)
        self._copy.setVisible(copy_gbs is not None)
        if copy_gbs is not None:
            self._copy.setValue(copy_gbs)
        self.setRange(xRange=(0, us), yRange=(0, gbs), padding=0)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        restyle(self, theme)
        for curve, colour in ((self._all, written_colour(theme)), (self._read, read_colour(theme))):
            curve.setBrush(pg.mkBrush(colour))
        self._copy.setPen(pg.mkPen(theme.text, width=px(1), style=Qt.PenStyle.DashLine))
        self._copy.label.setColor(theme.text)
        self._copy.label.setFont(tick_font())

    def _area(self, depth: int) -> Any:
        area = pg.PlotCurveItem(np.zeros(1), np.zeros(0), stepMode="center", fillLevel=0, pen=pg.mkPen(None))
        area.setZValue(depth)
        self.addItem(area, ignoreBounds=True)
        return area

    @guarded()
    def _move(self, place: Any) -> None:
        view = self.getViewBox()
        inside = view.sceneBoundingRect().contains(place)
        self.hovered.emit(self._rates.text_at(view.mapSceneToView(place).x()) if inside else "")


def read_colour(theme: Theme) -> str:
    """Of what is read from DRAM."""
    return theme.accent


def written_colour(theme: Theme) -> str:
    """Of what is written to it."""
    return theme.warn
