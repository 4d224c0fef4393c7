"""What one kernel draws in one plot: curve, whiskers, model, another instrument's rings; created once."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import pyqtgraph as pg

from flashscope.app.figures.series import Series, Values
from flashscope.app.figures.ticks import to_axis
from flashscope.app.look.kernel_marks import kernel_mark
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import ZOOM, px
from flashscope.app.plots.dots import brush, line_pen, pen
from flashscope.app.plots.marks import LINE_ONLY
from flashscope.app.plots.sweep.doubt_marks import FAINT, DoubtedPoints
from flashscope.app.plots.sweep.light_items import LightCurve, LightDots, LightLine
from flashscope.app.plots.symbols import FILLED, symbol
from flashscope.app.words.kinds import Scale

SYMBOL_PX, RING_PX = 8, 13
HERO_PX = 3.2
HERO_DEPTH = 5
Stress = Literal["plain", "hero", "back"]


class Ending(NamedTuple):
    """Where the curve of a kernel ends: the last of its points, on the axes of its plot.

    Attributes:
        kernel: Its name.
        points: Where it was measured, (points, 2).
        model: Where its model runs, (points, 2).
    """

    kernel: str
    points: Values
    model: Values = np.empty((0, 2))

    @property
    def x(self) -> float:
        """The last point's place along x."""
        return float(self.points[-1, 0])

    @property
    def y(self) -> float:
        """The last point's place along y."""
        return float(self.points[-1, 1])


class KernelCurves:
    """The items of one kernel in one plot; making one takes time, so whiskers and model wait until needed."""

    def __init__(self, plot: pg.PlotWidget, kernel: str, theme: Theme) -> None:
        self._plot, self._theme = plot, theme
        self._kernel, self._mark = kernel, kernel_mark(kernel)
        self._drawn: tuple[Series, Scale] | None = None
        self._visible = True
        self._stress: Stress = "plain"
        self._model: LightLine | None = None
        self._whiskers: LightLine | None = None
        self._rings: LightDots | None = None
        # The places are computed here, so the items never transform themselves: log mode stays off.
        self.curve = LightCurve(
            connect="finite",
            antialias=True,
            symbol=symbol(self._mark.symbol),
            **self._look(),
        )
        plot.addItem(self.curve, ignoreBounds=True)

    def set_series(self, series: Series, scale: Scale) -> None:
        """Draw the series, placed on axes of log2 N and of that scale."""
        if self._drawn is not None and _same(self._drawn[0], series) and self._drawn[1] == scale:
            return  # most updates concern another kernel
        self._drawn = (series, scale)
        x = to_axis(series.seqlen, "log2")
        _draw(self.curve, x, to_axis(series.value, scale))
        model = to_axis(series.model, scale)
        if self._model is None and np.isfinite(model).any():
            self._model = self._line("finite", self._model_pen(), depth=-10)
        if self._model is not None:
            _draw(self._model, x, model)
        ends = np.column_stack((to_axis(series.low, scale), to_axis(series.high, scale)))
        known = np.isfinite(ends).all(axis=1)
        if self._whiskers is None and known.any():
            self._whiskers = self._line("pairs", self._whisker_pen(), depth=-5)
        if self._whiskers is not None:
            self._whiskers.setData(np.repeat(x[known], 2), ends[known].ravel())
        self._draw_rings(x, to_axis(series.beside, scale))

    def _draw_rings(self, x: Values, beside: Values) -> None:
        known = np.isfinite(beside)
        if self._rings is None and known.any():
            self._rings = LightDots(size=px(RING_PX), pen=self._ring_pen(), brush=None)
            self._rings.setZValue(5)
            self._rings.setVisible(self._visible)
            self._rings.setOpacity(self._opacity())
            self._plot.addItem(self._rings, ignoreBounds=True)
        if self._rings is not None:
            self._rings.setData(x[known], beside[known])

    def places(self) -> Values:
        """Where its points stand on the axes, (points, 2); NaN where there is none."""
        x, y = self.curve.getOriginalDataset()
        return np.empty((0, 2)) if x is None else np.column_stack((x, y))

    def doubted(self) -> DoubtedPoints:
        """Those of its points that are not trusted."""
        back = self._stress == "back"
        if self._drawn is None or not self._drawn[0].doubted.any():
            return DoubtedPoints(np.empty((0, 2)), back)
        series, scale = self._drawn
        places = np.column_stack((to_axis(series.seqlen, "log2"), to_axis(series.value, scale)))
        return DoubtedPoints(_known(places[series.doubted]), back)

    def ending(self) -> Ending | None:
        """The kernel's last point that has a value; None without any."""
        known, model = _known(self.places()), np.empty((0, 2))
        if self._model is not None and self._model.xData is not None:
            model = _known(np.column_stack((self._model.xData, self._model.yData)))
        return Ending(self._kernel, known, model) if len(known) else None

    @property
    def _items(self) -> Sequence[Any]:
        return self.curve, self._model, self._whiskers, self._rings

    def set_visible(self, visible: bool) -> None:
        """Show or hide all of them."""
        self._visible = visible
        for item in self._items:
            if item is not None:
                item.setVisible(visible)

    def set_stress(self, stress: Stress) -> None:
        """Let it shine above all others, stand among them, or stand back."""
        if stress == self._stress:
            return
        self._stress = stress
        self.curve.setZValue(HERO_DEPTH if stress == "hero" else 0)
        for item in self._items:
            if item is not None:
                item.setOpacity(self._opacity())
        self.apply_theme(self._theme)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        x, y = self.curve.getOriginalDataset()
        self.curve.setData(x=x, y=y, **self._look())
        if self._whiskers is not None:
            self._whiskers.setPen(self._whisker_pen())
        if self._rings is not None:
            self._rings.setPen(self._ring_pen())
            self._rings.setSize(px(RING_PX))
        if self._model is not None:
            self._model.setPen(self._model_pen())

    def _line(self, connect: str, pen: Any, depth: int) -> LightLine:
        item = LightLine(connect=connect, antialias=True, pen=pen)
        item.setZValue(depth)
        item.setVisible(self._visible)
        item.setOpacity(self._opacity())
        self._plot.addItem(item, ignoreBounds=True)
        return item

    def _look(self) -> dict[str, Any]:
        colour = self._colour()
        return {
            "pen": line_pen(self._mark, colour, HERO_PX if self._stress == "hero" else 0.0),
            "symbolPen": self._rim(),
            "symbolBrush": brush(colour),
            "symbolSize": px(SYMBOL_PX),
        }

    def _colour(self) -> str:
        return self._mark.on(self._theme)

    def _opacity(self) -> float:
        return FAINT if self._stress == "back" else 1.0

    def _whisker_pen(self) -> Any:
        return pg.mkPen(self._colour(), width=1.5 * ZOOM.factor)

    def _ring_pen(self) -> Any:
        return pg.mkPen(self._colour(), width=ZOOM.factor)

    def _model_pen(self) -> Any:
        faint = pg.mkColor(self._mark.on(self._theme))
        faint.setAlpha(200)
        return pg.mkPen(faint, width=1.3 * ZOOM.factor, dash=[1, 3])

    def _rim(self) -> Any:
        """What a symbol is drawn with around its area; it would eat up our own, which have holes.

        A rim in the card's colour keeps overlapping symbols legible.
        """
        if self._mark.symbol in FILLED:
            return pen(None)
        return pen(self._colour() if self._mark.symbol in LINE_ONLY else self._theme.panel)


def _draw(item: LightCurve | LightLine, x: Values, y: Values) -> None:
    """Set the data; symbols need at least one finite place, so without one there is no data at all."""
    known = slice(None) if np.isfinite(y).any() else slice(0)
    item.setData(x[known], y[known])


def _known(places: Values) -> Values:
    """Those of (points, 2) that are places."""
    return places[np.isfinite(places).all(axis=1)]


def _same(one: Series, other: Series) -> bool:
    """Whether two series look the same."""
    columns = ("seqlen", "value", "low", "high", "model", "beside", "doubted")
    return all(np.array_equal(getattr(one, c), getattr(other, c), equal_nan=c != "doubted") for c in columns)
