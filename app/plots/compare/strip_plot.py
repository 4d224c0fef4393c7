"""The raw samples of a pair as two strips, one over the other, on one axis."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QSize
from PySide6.QtGui import QFontMetricsF
from PySide6.QtWidgets import QSizePolicy

from flashscope.app.control.guard import guarded
from flashscope.app.figures.series import Values
from flashscope.app.figures.ticks import FEWEST, from_axis, multiples, nice_step, to_axis, value_ticks
from flashscope.app.look.kernel_marks import kernel_mark
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import ZOOM, keep, px
from flashscope.app.plots.compare.dashes import session_pen
from flashscope.app.plots.dots import brush, dress_dots, pen
from flashscope.app.plots.style import Plot, UnitAxis, grid_behind, restyle, tick_font
from flashscope.app.words.kinds import Scale
from flashscope.app.words.ticks import tick_texts
from flashscope.app.words.units import plain_tick
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.wire.measurement import Sample

ROWS = (1.0, 0.0)  # the baseline's above
JITTER = 0.24  # of a row's height: samples that are alike would hide each other
MARGIN = 0.06  # share of the axis left free
MEDIAN = 0.36  # half the length of a median's line
APART = 5  # heights of a text between two ticks
DOT_PX = 7
FAINT = 150  # opacity of a sample, of 255
FAR = 10  # times as long as the shortest sample the longest one is, from which the axis is logarithmic
PARTS = 12  # of the jitter, one after the other
APART_SHARE = 0.8  # of the height of a run among others that is drawn in


class SampleAxis(UnitAxis):
    """Round values, as many as fit, with as many digits as tell them apart.

    Attributes:
        scale_name: How values are placed.
    """

    def __init__(self) -> None:
        super().__init__("bottom")
        self.scale_name: Scale = "linear"

    @guarded(list)
    def tickValues(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, list[float]]]:  # noqa: N803
        """Positions of the ticks."""
        height = QFontMetricsF(tick_font()).height()
        room = max(size, 1.0) / (height * APART)
        if self.scale_name != "linear":
            half = height * (maxVal - minVal) / max(size, 1.0)
            places = value_ticks(
                minVal, maxVal, self.scale_name, binary=False, room=max(FEWEST, int(room)), half=half
            )
            return [(1.0, places)]
        step = nice_step(max(maxVal - minVal, 1e-12) / room)
        return [(step, multiples(minVal, maxVal, step))]

    @guarded(list)
    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """The values with as many digits as their step has."""
        del scale
        if self.scale_name != "linear":
            return tick_texts([from_axis(value, self.scale_name) for value in values], plain_tick)
        digits = len(f"{spacing:.9f}".rstrip("0").partition(".")[2])
        return [f"{value:.{digits}f}" for value in values]


class StripPlot(Plot):
    """The samples of the baseline's point above, those of the other's below, in ms.

    Where some are many times as long as others their axis is logarithmic: else the short ones were one dot.
    """

    def __init__(self, theme: Theme) -> None:
        self._axis = SampleAxis()
        super().__init__(axisItems={"bottom": self._axis}, enableMenu=False)
        self._theme, self._kernel = theme, ""
        self._samples: list[Sample] = []
        self._taken = [pg.ScatterPlotItem(pxMode=True, symbol="o") for _ in ROWS]
        self._rejected = pg.ScatterPlotItem(pxMode=True, symbol="x")
        self._medians = [pg.PlotCurveItem() for _ in ROWS]
        for item in (*self._taken, self._rejected, *self._medians):
            self.addItem(item, ignoreBounds=True)
        self.plotItem.hideButtons()
        self.plotItem.hideAxis("left")
        self.setFrameShape(self.Shape.NoFrame)
        view = self.getViewBox()
        view.setMouseEnabled(x=False, y=False)
        view.disableAutoRange()
        keep(self, self.setMinimumSize, 120, 76)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.setAccessibleName("Raw samples of both sessions in ms")
        self.apply_theme(theme)

    @guarded(QSize)
    def sizeHint(self) -> QSize:
        """As low as it may be: what is around it has words to show."""
        return QSize(self.minimumWidth(), self.minimumHeight())

    @property
    def logarithmic(self) -> bool:
        """Whether the axis is."""
        return self._axis.scale_name != "linear"

    def show_rows(self, base: Sequence[PointRow], other: Sequence[PointRow], session: int) -> None:
        """Draw the samples of two points of one kernel, each in all runs of its side: the first on top."""
        self._kernel = base[0].kernel
        self._samples = [one for row in (*base, *other) for one in _samples(row)]
        self._axis.scale_name = _scale([one.ms for one in self._samples])
        self._axis.picture = None
        lanes = [_lanes(rows, y) for rows, y in zip((base, other), ROWS, strict=True)]
        for side, strip, line in zip(lanes, self._taken, self._medians, strict=True):
            strip.setData(*self._joined(side, lambda sample: sample.rejected is None))
            medians = [(lane, lane.row.times.median) for lane in side if lane.row.times]
            middle = self._places([median for _, median in medians for _ in range(2)])
            ends = [end for lane, _ in medians for end in lane.ends]
            line.setData(middle, np.array(ends), connect="pairs")
        every = [lane for side in lanes for lane in side]
        self._rejected.setData(*self._joined(every, lambda sample: sample.rejected is not None))
        self._medians[1].setPen(session_pen(session, self._theme.text, 1.6))
        self._range()
        self._paint()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        restyle(self, theme)
        grid_behind(self.getAxis("bottom"), apart=4)
        for line in self._medians:
            line.setPen(pg.mkPen(theme.text, width=2 * ZOOM.factor))
        self._paint()

    def _joined(self, lanes: Sequence["_Lane"], wanted: Callable[[Sample], bool]) -> list[Values]:
        """Positions of the samples wanted, about the middle of each lane, in the order they were taken."""
        placed = [self._placed([one for one in _samples(lane.row) if wanted(one)], lane) for lane in lanes]
        return [np.concatenate(column) for column in zip(*placed, strict=True)]

    def _placed(self, samples: Sequence[Sample], lane: "_Lane") -> tuple[Values, Values]:
        step = np.arange(len(samples)) * 5 % PARTS
        off = JITTER * lane.share * (2 * step / (PARTS - 1) - 1)
        return self._places([one.ms for one in samples]), lane.y + off

    def _places(self, times: Sequence[float]) -> Values:
        return to_axis(times, self._axis.scale_name)

    def _paint(self) -> None:
        colour = kernel_mark(self._kernel).on(self._theme)
        for strip in self._taken:
            dress_dots(strip, pen(colour), brush(colour, FAINT), px(DOT_PX))
        dress_dots(
            self._rejected, pen(self._theme.warn, 1.4 * ZOOM.factor), brush(self._theme.warn), px(DOT_PX)
        )

    def _range(self) -> None:
        places = self._places([one.ms for one in self._samples])
        places = places[np.isfinite(places)]
        low, high = (float(places.min()), float(places.max())) if places.size else (0.0, 1.0)
        room = max((high - low) * MARGIN, abs(high) * 1e-3, 1e-9)
        self.getViewBox().setRange(
            xRange=(low - room, high + room), yRange=(-0.55, 1.55), padding=0, disableAutoRange=True
        )


class _Lane(NamedTuple):
    """Where a run's samples are drawn: about y, in this share of its side's height."""

    row: PointRow
    y: float
    share: float

    @property
    def ends(self) -> tuple[float, float]:
        """Those of the line at the median."""
        return self.y - MEDIAN * self.share, self.y + MEDIAN * self.share


def _lanes(rows: Sequence[PointRow], y: float) -> list[_Lane]:
    """The runs of one side, apart from each other: from the top down."""
    step = 2 * MEDIAN / len(rows)
    share = 1.0 if len(rows) == 1 else APART_SHARE / len(rows)
    return [_Lane(row, y + MEDIAN - step * (k + 0.5), share) for k, row in enumerate(rows)]


def _scale(times: Sequence[float]) -> Scale:
    known = [ms for ms in times if np.isfinite(ms)]
    far = len(known) > 0 and min(known) > 0 and max(known) >= FAR * min(known)
    return "log10" if far else "linear"


def _samples(row: PointRow) -> tuple[Sample, ...]:
    return row.measurement.samples if row.measurement else ()
