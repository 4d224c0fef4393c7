"""The symbols of marks as pyqtgraph draws them: those that it has, and ours."""

from functools import cache

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainterPath, QPolygonF

from flashscope.app.figures.shapes import OWN, ROUND

FILLED = frozenset({"ring", *OWN})
"""Symbols of ours: filled, and drawn without a rim."""


@cache
def symbol(name: str) -> str | QPainterPath:
    """What pyqtgraph draws for this name: a path of ours, or its own symbol of that name."""
    path = QPainterPath()
    if name == "ring":
        for radius in ROUND:
            path.addEllipse(QPointF(), radius, radius)
        return path
    if name not in OWN:
        return name
    for polygon in OWN[name]:
        path.addPolygon(QPolygonF([QPointF(*corner) for corner in polygon]))
        path.closeSubpath()
    return path
