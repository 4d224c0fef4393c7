"""The glyphs of statuses as Qt draws them."""

from functools import cache

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap

from app.plots.statuses import STATUS_MARKS, TRUST_MARKS

_MARKS = STATUS_MARKS | TRUST_MARKS


@cache
def status_path(status: str) -> QPainterPath:
    """The glyph of a status, or of a word for trust, as a path in a unit box, fit for a pyqtgraph symbol."""
    path = QPainterPath()
    for stroke in _MARKS[status].strokes:
        path.moveTo(QPointF(*stroke[0]))
        for point in stroke[1:]:
            path.lineTo(QPointF(*point))
    return path


@cache
def status_icon(status: str, colour: str, size: int = 12) -> QIcon:
    """The glyph as an icon for a table cell; drawn at three times its size, for dense screens."""
    pixmap = QPixmap(size * 3, size * 3)
    pixmap.setDevicePixelRatio(3.0)
    pixmap.fill(Qt.GlobalColor.transparent)
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(size / 2, size / 2)
        painter.scale(size - 3, size - 3)
        painter.setPen(QPen(QColor(colour), 1.6 / (size - 3)))
        painter.drawPath(status_path(status))
    icon = QIcon(pixmap)
    icon.addPixmap(pixmap, QIcon.Mode.Selected)  # a selected row must not tint it
    return icon
