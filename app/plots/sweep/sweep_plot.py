"""One plot over sequence length: a curve a kernel, its model, a rail of failures, a crosshair."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QMouseEvent

from flashscope.app.control.guard import guarded
from flashscope.app.figures.in_view import Ends, Polyline, held, is_whole
from flashscope.app.figures.series import Series
from flashscope.app.figures.ticks import to_axis
from flashscope.app.look.kernel_marks import kernel_mark
from flashscope.app.look.theme import CAPTION_PX, Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.plots.axes import SeqlenAxis, ValueAxis, seqlen_px
from flashscope.app.plots.dots import brush, pen
from flashscope.app.plots.export.contents import SCREEN_ONLY
from flashscope.app.plots.hint import Hint
from flashscope.app.plots.show_all import CornerButton, show_all_button
from flashscope.app.plots.style import Plot, grid_behind, restyle
from flashscope.app.plots.sweep.curves import Curves
from flashscope.app.plots.sweep.doubt_marks import DoubtMarks
from flashscope.app.plots.sweep.end_labels import EndLabels
from flashscope.app.plots.sweep.rail import FailureRail
from flashscope.app.plots.symbols import symbol
from flashscope.app.words.kinds import Scale, words_of
from flashscope.app.words.plain import cut_short
from flashscope.profiles.results.quantities.quantity import Quantity

Flight = Mapping[tuple[int, str], float | None]
"""Where each point in flight stands so far, by N and kernel; None where nothing is known yet."""

BAND = 0.16  # half the width of the band around the point in flight, in doublings of N
SIDE = 0.35  # doublings of N left free on either side of the data, at least
MARGIN = 0.06  # share of the range left free around the data
LEAST_DOUBLINGS = 1e-3  # of N on show
LEAST_RANGE = 1e-12  # of the values: Qt paints at random where pixels over the range are no number
SEQLEN_LIMITS = (-1.0, 25.0)  # how far one can zoom out, in log2 N
VALUE_LIMITS: dict[Scale, tuple[float, float]] = {
    "linear": (-1e18, 1e18),
    "log2": (-60.0, 60.0),
    "log10": (-18.0, 18.0),
}


class SweepPlot(Plot):
    """Draws the series of one quantity.

    Signals:
        hovered: The pointer is nearest to this measured sequence length (int).
        pointed_at: The pointer is on the curve of this kernel (str); empty: on none.
        fill_requested: It is to fill the page, or to give it back.
        moved: The user shows this part of N (ends in log2 N), or all of it (None).
        all_requested: All of the data is to be shown again.

    Attributes:
        first_named: The kernel that is named before others where there is little room, beside the one that
            shines.
    """

    hovered = Signal(object)  # N, which may be beyond a C int
    pointed_at = Signal(str)
    fill_requested = Signal()
    moved = Signal(object)
    all_requested = Signal()

    def __init__(self, quantity: Quantity, theme: Theme) -> None:
        words = words_of(quantity)
        self._x_axis, self._y_axis = SeqlenAxis(), ValueAxis(words)
        super().__init__(axisItems={"bottom": self._x_axis, "left": self._y_axis}, enableMenu=False)
        self.quantity, self.scale_name = quantity, words.scale
        self._theme, self._grid = theme, True
        self._whole: tuple[Ends, Ends] = ((0.0, 1.0), (0.0, 1.0))
        self._part: tuple[Ends | None, Ends | None] = (None, None)  # along each axis, that the user chose
        self._series: list[Series] = []
        self.first_named = ""
        self._flight_values: list[float] = []
        self._measured: tuple[int, ...] = ()
        self._cursor: int | None = None
        self._still = False  # as on a stage, whose words are of the N at the crosshair
        self._curves = Curves(self, theme)
        self._make_marks()
        self._set_up()
        self.apply_theme(theme)

    def _make_marks(self) -> None:
        self._bands: list[pg.LinearRegionItem] = []
        self._flight = pg.ScatterPlotItem(pxMode=True)
        self._cross = pg.InfiniteLine(angle=90, movable=False)
        self._cross.setData(SCREEN_ONLY, True)
        self.rail = FailureRail(self, self._theme)
        self.labels = EndLabels(self, self._theme, self._cross)
        self.doubts = DoubtMarks(self, self._theme, self.labels.boxes)
        for item in (self._cross, self._flight):
            self.addItem(item, ignoreBounds=True)
            item.hide()
        self._add_band()
        self._hint = Hint(self, covers=True)

    def _set_up(self) -> None:
        self._corner = pg.LabelItem("N")
        self.plotItem.layout.addItem(self._corner, 3, 0)
        self.range_by_hand(drag_x=True, drag_y=True)
        keep(self._y_axis, self._y_axis.setWidth, 54)
        view = self.getViewBox()
        view.setLimits(xMin=SEQLEN_LIMITS[0], xMax=SEQLEN_LIMITS[1], minXRange=LEAST_DOUBLINGS)
        self._limit_values()
        view.sigRangeChangedManually.connect(self._follow_hand)
        self._all = show_all_button("this plot", self.all_requested.emit, "profile.autorange")
        self._corner_button = CornerButton(self, self._all)
        view.sigResized.connect(self._resized)
        self.scene().sigMouseMoved.connect(self._hover)
        keep(self, self.setMinimumSize, 160, 110)
        self._name()

    def _name(self) -> None:
        self.setAccessibleName(f"{self.quantity.title} over sequence length")
        self._all.setAccessibleName(f"Show all of {self.quantity.title}")

    def set_quantity(self, quantity: Quantity) -> None:
        """Make room for another quantity; its series are drawn by `draw_in_steps`."""
        self.quantity, self.scale_name = quantity, words_of(quantity).scale
        self._y_axis.set_words(words_of(quantity))
        self._series, self._part = [], (self._part[0], None)
        self._limit_values()
        self.show_flight({})  # a value of the quantity before says nothing of this one
        self._name()

    def draw_in_steps(
        self, series: Sequence[Series], measured: Sequence[int], seqlens: Sequence[int]
    ) -> Iterator[None]:
        """Draw these, a kernel a step; until the last of them the plot shows what it showed before.

        Args:
            series: A kernel each.
            measured: Where the crosshair may stand.
            seqlens: Where the ticks stand.
        """
        self._series, self._measured = list(series), tuple(measured)
        self.setViewportUpdateMode(self.ViewportUpdateMode.NoViewportUpdate)
        try:
            self._x_axis.set_seqlens(seqlens)
            shown = {one.kernel for one in series}
            for kernel, curves in self._curves.items():
                curves.set_visible(kernel in shown)
            for one in series:
                self._curves[one.kernel].set_series(one, self.scale_name)
                yield
            self.rail.set_failures([one.failures for one in series])
            self._range()
            self._tell_of_curves()
        except Exception:
            self._show_drawn()
            raise
        self._show_drawn()  # not in a `finally`: what is left half-way is begun anew, or the plot is gone

    def stress(self, hero: str, lit: str = "") -> None:
        """Let the curve of one kernel shine; all others stand behind one that is pointed at."""
        if (hero, lit) != (self._curves.hero, self._curves.lit):
            self._curves.stress(hero, lit)
            self._tell_of_curves()

    def _tell_of_curves(self) -> None:
        """Write the curves' names, and mark their points that are not trusted."""
        hero = self._curves.lit or self._curves.hero
        self.labels.show_endings(
            self._curves.endings(self._shown, (hero, self.first_named)), hero, alone=bool(self._curves.lit)
        )
        self.doubts.show_doubted(self._curves.doubted(self._shown))

    @property
    def _shown(self) -> list[str]:
        return [one.kernel for one in self._series]

    def _show_drawn(self) -> None:
        self.setViewportUpdateMode(self.ViewportUpdateMode.MinimalViewportUpdate)
        self.viewport().update()

    def show_flight(self, values: Flight) -> None:
        """Mark what is in flight: a band at each N, and a hollow symbol where each value is so far."""
        known = {point: value for point, value in values.items() if value is not None}
        self._flight.setVisible(bool(known))
        before, self._flight_values = self._flight_values, [*known.values()]
        if before != self._flight_values:
            self._range()
        self._show_bands(values)
        if known:
            marks = [kernel_mark(kernel) for _, kernel in known]
            self._flight.setData(
                x=[float(np.log2(seqlen)) for seqlen, _ in known],
                y=[float(to_axis(value, self.scale_name)) for value in known.values()],
                symbol=[symbol(mark.symbol) for mark in marks],
                pen=[pen(mark.on(self._theme), 2.0) for mark in marks],
                brush=brush(self._theme.panel),
            )

    def _show_bands(self, values: Flight) -> None:
        """Stand a band at each N, in the colour of its kernel where that is one alone."""
        kernels: dict[int, list[str]] = {}
        for seqlen, kernel in values:
            kernels.setdefault(seqlen, []).append(kernel)
        while len(self._bands) < len(kernels):
            self._add_band()
        for band in self._bands[len(kernels) :]:
            band.hide()
        for band, (seqlen, named) in zip(self._bands, kernels.items(), strict=False):
            place = float(np.log2(seqlen))
            band.setRegion((place - BAND, place + BAND))
            colour = pg.mkColor(kernel_mark(named[0]).on(self._theme) if len(named) == 1 else self._theme.dim)
            colour.setAlpha(46)
            band.setBrush(colour)
            band.show()

    def _add_band(self) -> None:
        band = pg.LinearRegionItem(movable=False)
        for line in band.lines:
            line.setPen(pg.mkPen(None))
        self.addItem(band, ignoreBounds=True)
        band.setZValue(-20)
        band.hide()
        self._bands.append(band)

    def set_cursor_at(self, seqlen: int | None) -> None:
        """Stand the crosshair at a sequence length."""
        self._cursor = seqlen
        self._cross.setVisible(seqlen is not None)
        if seqlen is not None:
            self._cross.setValue(float(np.log2(seqlen)))
        self._name_cursor()

    def _name_cursor(self) -> None:
        self._x_axis.name(self._cursor if self._still else None)

    def show_hint(self, text: str) -> None:
        """Say in the middle of the plot what would fill it; an empty text says nothing."""
        self._hint.say(cut_short(text))

    def set_scale(self, scale: Scale) -> None:
        """Change the y axis between its logarithmic and its linear form."""
        self.scale_name = scale
        self._y_axis.set_scale(scale)
        self._limit_values()
        for one in self._series:
            self._curves[one.kernel].set_series(one, scale)
        self._part = (self._part[0], None)
        self._range()
        self._tell_of_curves()

    def toggle_log(self) -> None:
        """Linear becomes logarithmic and back, of what spans decades; ratios and rates stay linear."""
        home = words_of(self.quantity).scale
        if home != "linear":
            self.set_scale(home if self.scale_name == "linear" else "linear")

    def toggle_grid(self) -> None:
        """Show or hide the grid."""
        self._grid = not self._grid
        self._style_axes()

    def autorange(self) -> None:
        """Follow the data again after panning or zooming."""
        if self._part != (None, None):
            self._part = (None, None)
            self._range()

    def show_seqlens(self, ends: Ends | None) -> None:
        """Show this part of N (in log2 N), as a neighbour does; None: all of it."""
        if ends != self._part[0]:
            self._part = (ends, self._part[1])
            self._range()

    def hold_still(self, still: bool) -> None:
        """Let wheel and drag move nothing, show all and name the N of the crosshair; or let them again."""
        super().hold_still(still)
        self._still = still
        self._name_cursor()
        self.autorange()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour everything that is drawn."""
        self._theme = theme
        restyle(self, theme)
        self._style_axes()
        self._cross.setPen(pg.mkPen(theme.dim, width=1))
        self._flight.setSize(px(12))
        self._corner.setText("N", color=theme.dim, size=f"{px(CAPTION_PX)}px")
        self._curves.apply_theme(theme)
        self.labels.apply_theme(theme)
        self.doubts.apply_theme(theme)
        self.rail.apply_theme(theme)
        self._hint.apply_theme(theme)
        self.plotItem.layout.activate()  # at another zoom its parts have other sizes: before they are painted

    def _style_axes(self) -> None:
        grid_behind(self._x_axis, self._y_axis, on=self._grid)

    def _limit_values(self) -> None:
        low, high = VALUE_LIMITS[self.scale_name]
        self.getViewBox().setLimits(yMin=low, yMax=high, minYRange=LEAST_RANGE)

    def _follow_hand(self) -> None:
        """Take the view that wheel or drag have made, as far as there is data in it."""
        x, y = self.viewRange()
        view = held(((x[0], x[1]), (y[0], y[1])), self._whole, self._lines())
        chosen = [
            None if is_whole(part, whole) else part for part, whole in zip(view, self._whole, strict=True)
        ]
        self._part = (chosen[0], chosen[1])
        self._range()
        self.moved.emit(self._part[0])

    def _lines(self) -> list[Polyline]:
        """What is drawn as lines, as positions along the axes."""
        return [
            (to_axis(one.seqlen, "log2"), to_axis(column, self.scale_name))
            for one in self._series
            for column in (one.value, one.model)
        ]

    def _resized(self) -> None:
        self._range()
        self.rail.place()

    def _range(self) -> None:
        """Fit the view to the data, with room for the rail, unless the user chose a part of it."""
        xs = np.concatenate([to_axis(one.seqlen, "log2") for one in self._series] or [np.array([8.0, 14.0])])
        low, high = self._extent()
        pixels = max(self.getViewBox().height(), 1.0)
        rail = min(0.5, self.rail.height_px / pixels)
        top = low + (high - low) / (1.0 - rail)
        self._y_axis.end_at(high if rail and self._part[1] is None else np.inf)
        first, last = float(xs.min()), float(xs.max())
        side = self._side(first, last)
        self._whole = ((first - side, last + self._right(last - first, side)), (low, top))
        x, y = (part or whole for part, whole in zip(self._part, self._whole, strict=True))
        self.getViewBox().setRange(xRange=x, yRange=y, padding=0, disableAutoRange=True)
        self._corner_button.offer(self._part != (None, None))

    def _side(self, first: float, last: float) -> float:
        """Doublings of N to leave free left of the first and right of the last: half of a label at least."""
        label = max(seqlen_px([round(2.0**place) for place in (first, last)]))
        between = self.getViewBox().width() - label  # pixels from the first to the last
        return max(SIDE, (last - first) * label / 2 / between) if between > 0 else SIDE

    def _right(self, between: float, side: float) -> float:
        """Doublings of N to leave free right of the last, where the names of the curves stand."""
        wide, room = self.getViewBox().width(), self.labels.room_px(self._shown)
        return max(side, room * (between + side) / (wide - room)) if room else side

    def _extent(self) -> tuple[float, float]:
        columns = [c for one in self._series for c in (one.value, one.low, one.high, one.model, one.beside)]
        columns.append(np.array(self._flight_values or [np.nan]))
        places = to_axis(np.concatenate(columns), self.scale_name)
        places = places[np.isfinite(places)]
        self._y_axis.setStyle(showValues=bool(places.size))
        if not places.size:
            return (0.0, 1.0)
        low, high = float(places.min()), float(places.max())
        if self.scale_name == "linear":
            return (0.0, high * (1 + 2 * MARGIN) or 1.0)
        room = max((high - low) * MARGIN, 0.15)
        return (low - room, high + room)

    def _hover(self, position: QPointF) -> None:
        view = self.getViewBox()
        inside = view.sceneBoundingRect().contains(position)
        self._point_at(self._curves.near(self._shown, position) if inside else "")
        if not self._measured or not inside:
            return
        place = view.mapSceneToView(position).x()
        self.hovered.emit(min(self._measured, key=lambda n: abs(np.log2(n) - place)))

    def _point_at(self, kernel: str) -> None:
        if kernel != self._curves.lit:
            self.pointed_at.emit(kernel)

    def let_go(self) -> None:
        """Point at no curve any more."""
        self._point_at("")

    @guarded()
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Ask for the whole page, or back."""
        super().mouseDoubleClickEvent(event)
        if event.button() == Qt.MouseButton.LeftButton:
            self.fill_requested.emit()
