"""Names beside points: as many as have room, the first ones first."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QFontMetricsF

from flashscope.app.look.zoom import px
from flashscope.app.plots.style import Plot, tick_font

BESIDE_PX = 9  # from the middle of a point to its name
POINT_PX, RING_PX = 8, 19
CLEAR_PX = 7  # from the middle of a point to a text above or below it: others may lie beside it

Place = tuple[float, float]


Side = Literal["right", "above", "below"]


class SpotLabel(NamedTuple):
    """A text beside a place, at the first of these sides that has room; `ringed`: with a ring around it."""

    text: str
    colour: str
    place: Place
    sides: Sequence[Side]
    ringed: bool = False


def label_px(texts: Sequence[str]) -> float:
    """What the longest of these takes beside its point."""
    metrics = QFontMetricsF(tick_font())
    return max(map(metrics.horizontalAdvance, texts), default=0.0) + px(BESIDE_PX + 8)


class Labels:
    """Texts in a plot that never stand on one another, nor on a point."""

    def __init__(self, plot: Plot) -> None:
        self._plot = plot
        self._items: list[pg.TextItem] = []  # made once, and used again

    def show(
        self, wanted: Iterable[SpotLabel], points: Iterable[Place], taken: Iterable[QRectF] = ()
    ) -> None:
        """Write these beside these points, not where something is taken; one without room is left out."""
        taken = [*taken, *(self._box(*map(float, place)) for place in points)]
        placed = [(label, box) for label in wanted if (box := self._room(label, taken)) is not None]
        self._items += [self._made() for _ in range(len(placed) - len(self._items))]
        for item in self._items[len(placed) :]:
            item.hide()
        for item, (label, box) in zip(self._items, placed, strict=False):
            item.setText(label.text, color=label.colour)
            item.setFont(tick_font())
            item.setPos(self._plot.getViewBox().mapSceneToView(box.center()))
            item.show()

    def _made(self) -> pg.TextItem:
        item = pg.TextItem(anchor=(0.5, 0.5))
        item.setZValue(15)
        self._plot.addItem(item, ignoreBounds=True)
        return item

    def _box(self, x: float, y: float) -> QRectF:
        """What a point takes of the scene."""
        at, half = self._plot.getViewBox().mapViewToScene(QPointF(x, y)), px(POINT_PX) / 2
        return QRectF(at.x() - half, at.y() - half, 2 * half, 2 * half)

    def _room(self, label: SpotLabel, taken: list[QRectF]) -> QRectF | None:
        """Where a text stands from now on, None where it has no room."""
        view, metrics = self._plot.getViewBox(), QFontMetricsF(tick_font())
        at, inside = view.mapViewToScene(QPointF(*label.place)), view.sceneBoundingRect()
        size = QSizeF(metrics.horizontalAdvance(label.text) + px(6), metrics.height())
        for side in label.sides:
            box = _beside(at, size, side, px(RING_PX / 2 if label.ringed else CLEAR_PX))
            if inside.contains(box) and not any(box.intersects(other) for other in taken):
                taken.append(box)
                return box
        return None


def _beside(at: QPointF, size: QSizeF, side: Side, half: float) -> QRectF:
    """What a text of that size takes at one side of a mark that goes so far from its middle."""
    if side == "right":
        return QRectF(at + QPointF(px(BESIDE_PX), -size.height() / 2), size)
    down = -half - size.height() if side == "above" else half
    return QRectF(at + QPointF(-size.width() / 2, down), size)
