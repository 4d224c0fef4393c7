"""A curve for each scheme over N, its name at its end; beside it, dashed, a formula and, hollow, a model."""

from collections.abc import Sequence
from typing import Any

import pyqtgraph as pg
from PySide6.QtGui import QBrush, QPen

from flashscope.app.figures.scheme_curves import CurvePoints, SchemeCurve
from flashscope.app.figures.ticks import to_axis
from flashscope.app.look.scheme_marks import SYMBOLS, scheme_colour, scheme_ink
from flashscope.app.look.theme import CAPTION_PX, Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.plots.axes import SeqlenAxis, ValueAxis
from flashscope.app.plots.hint import Hint
from flashscope.app.plots.ranks.end_names import DrawnLine, EndName, place_names
from flashscope.app.plots.style import Plot, grid_behind, restyle, tick_font
from flashscope.app.words.kinds import KindWords

SIDE, MARGIN = 0.3, 0.1  # doublings of N, and share of the range, left free on either side
MOST_SHARE = 0.5  # of the width is for names at most
LEAST_PX, MARK_PX = 150, 9
DASH, DOTS = (4, 3), (1, 3)
STROKE = 0.4  # doublings of N that what is dashed takes up where there is one N alone


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
        self._names: list[EndName] = []
        self._drawn: list[DrawnLine] = []
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
        self._names, self._drawn = [], []
        seqlens = sorted({n for one in self._curves for n, _value in one.bound})
        self._x_axis.set_seqlens(seqlens)
        for curve in self._curves:
            self._add(curve, STROKE if len(seqlens) == 1 else 0.0)
        self._fit()

    def _add(self, curve: SchemeCurve, stroke: float) -> None:
        colour = scheme_colour(curve.scheme, self._theme)
        self._add_line(curve.bound, pg.mkPen(colour, width=px(1), dash=list(DASH)), stroke)
        dotted = pg.mkPen(colour, width=px(1), dash=list(DOTS))
        self._add_line(curve.model, dotted, **self._marks(curve, None, pg.mkPen(colour, width=px(1))))
        if not curve.points:
            return
        solid, brush = pg.mkPen(colour, width=px(2)), pg.mkBrush(colour)
        x, y = self._add_line(curve.points, solid, **self._marks(curve, brush, pg.mkPen(None)))
        name = pg.TextItem(curve.scheme, color=scheme_ink(curve.scheme, self._theme), anchor=(0, 0.5))
        name.setFont(tick_font())
        self.addItem(name, ignoreBounds=True)
        self._names.append(EndName(name, x[-1], y[-1]))

    def _marks(self, curve: SchemeCurve, brush: QBrush | None, rim: QPen) -> dict[str, Any]:
        """What draws the symbol of a scheme at each point, filled or hollow."""
        size = {"symbol": SYMBOLS[curve.scheme], "symbolSize": px(MARK_PX)}
        return {**size, "symbolBrush": pg.mkBrush(brush), "symbolPen": rim}

    def _add_line(self, places: CurvePoints, pen: QPen, stroke: float = 0.0, **marks: Any) -> DrawnLine:
        """Draw what goes through these places, or a stroke through the one; returns where that is."""
        values = to_axis([value for _, value in places], self._y_axis.scale_name).tolist()
        line = to_axis([n for n, _ in places], "log2").tolist(), values
        if stroke and places:
            (x,), (y,) = line
            line = [x - stroke / 2, x + stroke / 2], [y, y]
        if places:
            self.addItem(pg.PlotDataItem(*line, pen=pen, **marks))
            self._drawn.append(line)
        return line

    def _fit(self) -> None:
        self._range()
        place_names(self.getViewBox(), self._names, self._drawn, MARK_PX)

    def _range(self) -> None:
        if not self._drawn:
            return
        xs = [x for places, _ in self._drawn for x in places]
        ys = [y for _, places in self._drawn for y in places]
        if self._whole is not None:
            ys += [0.0, self._whole]
        wide = max((name.item.boundingRect().width() for name in self._names), default=0.0)
        share = min(MOST_SHARE, wide / max(1.0, self.getViewBox().width()))
        right = (max(xs) - min(xs) + 2 * SIDE) * share / (1 - share) + SIDE
        margin = (max(ys) - min(ys) or 1.0) * MARGIN
        self.setXRange(min(xs) - SIDE, max(xs) + right)
        self.setYRange(min(ys) - (0 if self._whole is not None else margin), max(ys) + margin)
