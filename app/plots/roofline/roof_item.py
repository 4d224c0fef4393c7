"""One ceiling in a roofline: its line, and what it is at its end."""

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QFontMetricsF

from flashscope.app.figures.ticks import to_axis
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import ZOOM, px
from flashscope.app.plots.style import tick_font
from flashscope.app.words.devices.roofline import roof_label
from flashscope.profiles.results.theory.roofline import Roof
from flashscope.profiles.wire.ceilings import EXPONENTIALS, LEVELS

RoofEnds = tuple[float, float]
Anchor = tuple[float, float]
BESIDE = (0.85, 0.75, 0.6, 0.45, 0.35, 0.25, 0.15)  # of a slope, where its name may end
INSET_PX = 2  # from a line to a name
LINE_PX = 1  # that a line keeps free of names


class RoofItem:
    """A slope or a level; made once for each rate there may be.

    Attributes:
        roof: What it draws, None for nothing.
    """

    def __init__(self, plot: pg.PlotWidget, key: str, theme: Theme) -> None:
        self.roof: Roof | None = None
        self._key = key
        self._sides: list[tuple[Anchor, Anchor]] = []  # where its name may stand, and by which of its corners
        self._line, self._text = pg.PlotCurveItem(antialias=True), pg.TextItem()
        for depth, item in ((-10, self._line), (-9, self._text)):  # a name over the lines of others
            item.setZValue(depth)
            plot.addItem(item, ignoreBounds=True)
        self.apply_theme(theme)

    def show(self, roof: Roof | None) -> None:
        """Stand for another ceiling; `draw` puts it in its place."""
        self.roof = roof
        for item in (self._line, self._text):
            item.setVisible(roof is not None)
        if roof is not None:
            self._text.setText(roof_label(roof))

    @property
    def level(self) -> float:
        """Where it stands on the axis of rates; of a slope at 1 FLOP a byte."""
        return float("nan") if self.roof is None else float(to_axis(self.roof.tflops, "log10"))

    @property
    def rises(self) -> bool:
        """Whether it is a slope: the rate of a memory."""
        return self._key in LEVELS

    def draw(self, x: RoofEnds, y: RoofEnds, top: float) -> None:
        """Draw it as far as it bounds anything in this view.

        Args:
            x: The view's ends.
            y: The same upwards.
            top: The level of the highest ceiling, where slopes end.
        """
        if self.rises:
            first, last = max(x[0], y[0] - self.level), min(x[1], top - self.level)
            self._line.setData([first, last], [first + self.level, last + self.level])
            along = [first + share * (last - first) for share in BESIDE]
            above, below = ([(anchor, (x, x + self.level)) for x in along] for anchor in ((1, 1), (0, 0)))
            self._sides = [*above, *below]
        else:
            self._line.setData([x[0], x[1]], [self.level, self.level])
            right = (x[1], self.level)  # above it no point can stand, and no slope ends
            self._sides = [((1, 1), right), ((1, 0), right)]

    def line_in(self, view: pg.ViewBox) -> QRectF:
        """What the line of a level takes of the scene: no name stands on it."""
        inside = view.sceneBoundingRect()
        y = view.mapViewToScene(QPointF(0, self.level)).y()
        return QRectF(inside.left(), y - LINE_PX / 2, inside.width(), LINE_PX)

    def write(self, view: pg.ViewBox, taken: list[QRectF], marks: Sequence[QPointF]) -> None:
        """Write its name where it stands on no other name, on as few marks as may be; or nowhere.

        Args:
            view: What it is drawn in.
            taken: What names and levels take of the scene already.
            marks: Where points stand in the scene.
        """
        self._text.hide()
        inside = view.sceneBoundingRect()
        boxes = ((self._box(view, anchor, place), anchor, place) for anchor, place in self._sides)
        free = [
            one
            for one in boxes
            if inside.contains(one[0]) and not any(one[0].intersects(other) for other in taken)
        ]
        if free:
            box, anchor, place = min(free, key=lambda one: sum(map(one[0].contains, marks)))
            taken.append(box)
            self._text.setAnchor(anchor)
            self._text.setPos(*place)
            self._text.show()

    def _box(self, view: pg.ViewBox, anchor: Anchor, place: Anchor) -> QRectF:
        """What its name takes of the scene by this corner of it at this place of the view."""
        metrics = QFontMetricsF(tick_font())
        size = QSizeF(metrics.horizontalAdvance(self._text.toPlainText()), metrics.height())
        inset = QPointF(*(px(INSET_PX) * (1 - 2 * end) for end in anchor))
        at = view.mapViewToScene(QPointF(*place))
        return QRectF(at - QPointF(anchor[0] * size.width(), anchor[1] * size.height()) + inset, size)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        style = Qt.PenStyle.DashLine if self._key == EXPONENTIALS else Qt.PenStyle.SolidLine
        self._line.setPen(pg.mkPen(theme.dim, width=1.6 * ZOOM.factor, style=style))
        self._text.setFont(tick_font())
        self._text.setColor(theme.dim)
        self._text.fill = pg.mkBrush(theme.panel)


def name_height() -> float:
    """Pixels that a name takes over its line."""
    return QFontMetricsF(tick_font()).height() + 2 * px(INSET_PX)


def finite_range(values: list[float]) -> RoofEnds:
    """The least and the greatest of those that are numbers; a decade about 1 where there are none."""
    known = np.array([value for value in values if np.isfinite(value)])
    return (float(known.min()), float(known.max())) if known.size else (-0.5, 0.5)
