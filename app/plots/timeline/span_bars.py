"""Bars of time behind a plot, all of a filling drawn at once and to whole pixels."""

from collections.abc import Sequence
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QPaintEngine, QPainter, QPixmap, QTransform

from flashscope.app.control.guard import guarded

HATCH_PX = 8  # after so many pixels each of Qt's hatches repeats itself
Fillings = Sequence[tuple[QBrush, Sequence[QRectF]]]


class SpanBars(pg.GraphicsObject):  # type: ignore[misc] # pyqtgraph publishes no types
    """Draws bars without edges; one that is narrower than a pixel has a pixel.

    They are not smoothed: bars that meet then share no pixel, which smoothed ones both leave half open to
    what is behind them. Every lane of the telemetry paints some hundreds of them whenever time moves: of
    those that stand at the same height a strip is painted that is as high as a hatch, and tiled, in a tenth
    of the time that they take one by one. A drawing of shapes, such as an SVG, gets the bars themselves.

    Attributes:
        fillings: The bars of each filling, in the plot's units.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setFlag(self.GraphicsItemFlag.ItemUsesExtendedStyleOption)
        self.fillings: Fillings = ()
        self._levels: dict[tuple[float, float], Fillings] = {}  # those between these two heights
        self._bounds = QRectF()

    def show_bars(self, fillings: Fillings) -> None:
        """Draw these."""
        self.prepareGeometryChange()
        self.fillings, self._levels = fillings, _levels(fillings)
        self._bounds = QRectF()
        for _, bars in fillings:
            for bar in bars:
                self._bounds |= bar
        self.update()

    @guarded(QRectF)
    def boundingRect(self) -> QRectF:
        """All bars."""
        return self._bounds

    @guarded()
    def paint(self, painter: QPainter, option: Any, widget: object = None) -> None:
        """Draw those in sight."""
        del widget
        pixels = painter.device().devicePixelRatio()  # to one of the painter's units
        painter.save()
        if painter.paintEngine().type() == QPaintEngine.Type.Raster and float(pixels).is_integer():
            self._tile(painter, option.exposedRect, int(pixels))
        else:
            _draw(painter, self.fillings)
        painter.restore()

    def _tile(self, painter: QPainter, exposed: QRectF, pixels: int) -> None:
        on_screen = painter.worldTransform()
        seen = on_screen.mapRect(exposed).toAlignedRect()
        seen.setLeft(seen.left() // HATCH_PX * HATCH_PX)  # part of it meets what is there already
        painter.resetTransform()
        for ends, fillings in self._levels.items():
            top, bottom = sorted(round(on_screen.map(QPointF(0.0, y)).y()) for y in ends)
            place = QRect(seen.left(), top, seen.width(), bottom - top)
            if not place.isEmpty():
                strip = _strip(fillings, on_screen, place, pixels)
                painter.drawTiledPixmap(place, strip, QPoint(0, top % HATCH_PX))


def _levels(fillings: Fillings) -> dict[tuple[float, float], Fillings]:
    levels: dict[tuple[float, float], list[tuple[QBrush, list[QRectF]]]] = {}
    for brush, bars in fillings:
        for bar in bars:
            level = levels.setdefault((bar.top(), bar.bottom()), [])
            if not level or level[-1][0] is not brush:
                level.append((brush, []))
            level[-1][1].append(bar)
    return dict(levels)


def _strip(fillings: Fillings, on_screen: QTransform, place: QRect, pixels: int) -> QPixmap:
    """Bars of one height in a place on the screen, as high as a hatch."""
    strip = QPixmap(place.width() * pixels, HATCH_PX * pixels)
    strip.setDevicePixelRatio(pixels)
    strip.fill(Qt.GlobalColor.transparent)
    unit, origin, least = on_screen.m11(), on_screen.dx() - place.left(), 1 / pixels
    placed = [
        (brush, [QRectF(origin + unit * b.x(), 0, max(least, unit * b.width()), HATCH_PX) for b in bars])
        for brush, bars in fillings
    ]
    with QPainter(strip) as painter:
        _draw(painter, placed)
    return strip


def _draw(painter: QPainter, fillings: Fillings) -> None:
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setPen(Qt.PenStyle.NoPen)
    for brush, bars in fillings:
        painter.setBrush(brush)
        painter.drawRects(bars)
