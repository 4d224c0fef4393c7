"""The glyphs of statuses as Qt draws them."""

from functools import cache

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap

from flashscope.app.figures.statuses import STATUS_MARKS, TRUST_MARKS
from flashscope.app.look.zoom import px

ICON_PX = 12
EDGE, LINE = 0.25, 0.18  # of an icon: left free, of both sides together; how wide a line of its glyph is
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


def status_icon(status: str, colour: str, on_selection: str) -> QIcon:
    """The glyph as an icon for a table cell, in another colour where its row is selected."""
    return _icon(status, colour, on_selection, px(ICON_PX))


@cache
def _icon(status: str, colour: str, on_selection: str, size: int) -> QIcon:
    icon = QIcon(_pixmap(status, colour, size))
    icon.addPixmap(_pixmap(status, on_selection, size), QIcon.Mode.Selected)
    return icon


def _pixmap(status: str, colour: str, size: int) -> QPixmap:
    """The glyph, drawn at three times its size, for dense screens."""
    pixmap = QPixmap(size * 3, size * 3)
    pixmap.setDevicePixelRatio(3.0)
    pixmap.fill(Qt.GlobalColor.transparent)
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(size / 2, size / 2)
        drawn = size * (1 - EDGE)
        painter.scale(drawn, drawn)
        painter.setPen(QPen(QColor(colour), LINE))
        painter.drawPath(status_path(status))
    return pixmap
