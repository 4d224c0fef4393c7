"""Symbols of marks that pyqtgraph does not have: the shape of another kernel, hollow, halved, slit or twice.

Each is filled polygons in a box from -0.5 to 0.5, y downwards; where two overlap there is a hole.
"""

from functools import cache

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainterPath, QPolygonF

Polygon = tuple[tuple[float, float], ...]
ROUND = (0.5, 0.27)  # radii of a ring


def _diamond(size: float = 1.0, y: float = 0.0) -> Polygon:
    return ((0, y - 0.55 * size), (0.48 * size, y), (0, y + 0.55 * size), (-0.48 * size, y))


POLYGONS: dict[str, tuple[Polygon, ...]] = {
    "diamond-ring": (_diamond(), _diamond(0.55)),
    "diamond-half": (_diamond(), ((0, -0.3), (0.26, 0), (-0.26, 0))),
    "diamond-slit": (((0, -0.58), (0.4, -0.11), (-0.4, -0.11)), ((0, 0.58), (0.4, 0.11), (-0.4, 0.11))),
    "diamonds": (_diamond(0.56, -0.31), _diamond(0.56, 0.31)),
}
OWN = frozenset({"ring", *POLYGONS})


@cache
def symbol(name: str) -> str | QPainterPath:
    """What pyqtgraph draws for this name: a path of ours, or its own symbol of that name."""
    path = QPainterPath()
    if name == "ring":
        for radius in ROUND:
            path.addEllipse(QPointF(), radius, radius)
        return path
    if name not in POLYGONS:
        return name
    for polygon in POLYGONS[name]:
        path.addPolygon(QPolygonF([QPointF(*corner) for corner in polygon]))
        path.closeSubpath()
    return path
