"""Names beside points: as many as have room, the first ones first."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QFontMetricsF

from app.look.zoom import px
from app.plots.style import Plot, tick_font

BESIDE_PX = 9  # from the middle of a point to its name
POINT_PX = 8

Place = tuple[float, float]


class Label(NamedTuple):
    """A text at a place: at its right, or above it."""

    text: str
    colour: str
    place: Place
    above: bool


def label_px(texts: Sequence[str]) -> float:
    """What the longest of these takes beside its point."""
    metrics = QFontMetricsF(tick_font())
    return max(map(metrics.horizontalAdvance, texts), default=0.0) + px(BESIDE_PX + 8)


class Labels:
    """Texts in a plot that never stand on one another, nor on a point."""

    def __init__(self, plot: Plot) -> None:
        self._plot = plot
        self._items: list[pg.TextItem] = []  # made once, and used again

    def show(self, wanted: Iterable[Label], points: Iterable[Place]) -> None:
        """Write these beside these points; one that has no room is left out."""
        taken = [self._box(*map(float, place)) for place in points]
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

    def _room(self, label: Label, taken: list[QRectF]) -> QRectF | None:
        """Where a text stands from now on, None where it has no room."""
        view, metrics = self._plot.getViewBox(), QFontMetricsF(tick_font())
        at = view.mapViewToScene(QPointF(*label.place))
        width, height = metrics.horizontalAdvance(label.text) + px(6), metrics.height()
        left = at.x() - width / 2 if label.above else at.x() + px(BESIDE_PX)
        top = at.y() - height - px(POINT_PX) / 2 if label.above else at.y() - height / 2
        box = QRectF(left, top, width, height)
        if not view.sceneBoundingRect().contains(box) or any(box.intersects(other) for other in taken):
            return None
        taken.append(box)
        return box
