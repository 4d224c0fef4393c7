"""A curve for each scheme over N, its name at its end; dashed beside it what a formula says."""

from collections.abc import Sequence

import pyqtgraph as pg

from flashscope.app.figures.scheme_curves import CurvePoints, SchemeCurve
from flashscope.app.figures.text_places import spread_texts
from flashscope.app.figures.ticks import to_axis
from flashscope.app.look.scheme_marks import SYMBOLS, scheme_colour, scheme_ink
from flashscope.app.look.theme import CAPTION_PX, Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.plots.axes import SeqlenAxis, ValueAxis
from flashscope.app.plots.hint import Hint
from flashscope.app.plots.style import Plot, grid_behind, restyle, tick_font
from flashscope.app.words.kinds import KindWords

SIDE, MARGIN = 0.3, 0.1  # doublings of N, and share of the range, left free on either side
MOST_SHARE = 0.5  # of the width is for names at most
NAME_PX, LEAST_PX, MARK_PX, BESIDE_PX = 15, 150, 9, 6
DASH = (4, 3)


class SchemeCurvesPlot(Plot):
    """Draws curves of one quantity.

    Args:
        name: What a screen reader says.
        words: How values are written.
        theme: The colours in use.
        whole: A value that is always in view; None: none.
    """

    def __init__(self, name: str, words: KindWords, theme: Theme, whole: float | None = None) -> None:
        self._x_axis, self._y_axis = SeqlenAxis(), ValueAxis(words)
        super().__init__(axisItems={"bottom": self._x_axis, "left": self._y_axis}, enableMenu=False)
        self._theme, self._whole = theme, whole
        self._curves: Sequence[SchemeCurve] = ()
        self._names: list[tuple[pg.TextItem, float, float]] = []
        self._hint = Hint(self)
        self._corner = pg.LabelItem("N")
        self.plotItem.layout.addItem(self._corner, 3, 0)
        self.range_by_hand()
        keep(self._y_axis, self._y_axis.setWidth, 60)
        keep(self, self.setMinimumSize, 160, LEAST_PX)
        self.getViewBox().sigResized.connect(lambda *_: self._fit())
        self.setAccessibleName(name)
        self.apply_theme(theme)

    def show_curves(self, curves: Sequence[SchemeCurve], why_none: str = "") -> None:
        """Draw these in place of those before; where none has a point, say why."""
        self._curves = curves
        self._hint.say("" if any(one.points for one in curves) else why_none)
        self._draw()

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        restyle(self, theme)
        grid_behind(self._x_axis, self._y_axis)
        self._hint.apply_theme(theme)
        self._corner.setText("N", color=theme.dim, size=f"{px(CAPTION_PX)}px")
        self._draw()

    def _draw(self) -> None:
        for item in list(self.plotItem.items):
            if isinstance(item, pg.PlotDataItem | pg.TextItem):
                self.removeItem(item)
        self._names = []
        self._x_axis.set_seqlens(sorted({n for one in self._curves for n, _value in one.model}))
        for curve in self._curves:
            self._add(curve)
        self._fit()

    def _add(self, curve: SchemeCurve) -> None:
        colour = scheme_colour(curve.scheme, self._theme)
        dashed = pg.mkPen(colour, width=px(1), dash=list(DASH))
        self.addItem(pg.PlotDataItem(*self._placed(curve.model), pen=dashed))
        if not curve.points:
            return
        x, y = self._placed(curve.points)
        self.addItem(
            pg.PlotDataItem(
                x,
                y,
                pen=pg.mkPen(colour, width=px(2)),
                symbol=SYMBOLS[curve.scheme],
                symbolSize=px(MARK_PX),
                symbolBrush=pg.mkBrush(colour),
                symbolPen=pg.mkPen(None),
            )
        )
        name = pg.TextItem(curve.scheme, color=scheme_ink(curve.scheme, self._theme), anchor=(0, 0.5))
        name.setFont(tick_font())
        self.addItem(name, ignoreBounds=True)
        self._names.append((name, x[-1], y[-1]))

    def _placed(self, places: CurvePoints) -> tuple[list[float], list[float]]:
        values = to_axis([value for _, value in places], self._y_axis.scale_name)
        return to_axis([n for n, _ in places], "log2").tolist(), values.tolist()

    def _fit(self) -> None:
        self._range()
        self._place_names()

    def _range(self) -> None:
        drawn = [self._placed(places) for one in self._curves for places in (one.points, one.model) if places]
        if not drawn:
            return
        xs = [x for places, _ in drawn for x in places]
        ys = [y for _, places in drawn for y in places]
        if self._whole is not None:
            ys += [0.0, self._whole]
        wide = max((name.boundingRect().width() for name, _, _ in self._names), default=0.0)
        share = min(MOST_SHARE, wide / max(1.0, self.getViewBox().width()))
        right = (max(xs) - min(xs) + 2 * SIDE) * share / (1 - share) + SIDE
        margin = (max(ys) - min(ys) or 1.0) * MARGIN
        self.setXRange(min(xs) - SIDE, max(xs) + right)
        self.setYRange(min(ys) - (0 if self._whole is not None else margin), max(ys) + margin)

    def _place_names(self) -> None:
        """Put names right of their curves' ends, so far apart that each can be read."""
        (left, right), (low, high) = self.viewRange()
        height, width = max(1.0, self.getViewBox().height()), max(1.0, self.getViewBox().width())
        beside = px(BESIDE_PX) * (right - left) / width
        gap = px(NAME_PX) * (high - low) / height
        own = [y for _, _, y in self._names]
        places = spread_texts(own, gap, low + gap / 2, high - gap / 2) or own
        for (name, x, _y), place in zip(self._names, places, strict=True):
            name.setPos(x + beside, place)
