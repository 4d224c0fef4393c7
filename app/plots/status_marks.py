"""The glyphs of statuses as Qt draws them."""

from functools import cache

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap, QTransform

from flashscope.app.figures.statuses import STATUS_MARKS, TRUST_MARKS

ICON_PX = 12
ASIDE = -0.24, -0.3  # from the middle of a point to that of the glyph: names of curves stand at the right
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
def doubt_path() -> QPainterPath:
    """The glyph of a doubtful point, a third of a unit box, to the upper left of where the point stands."""
    return QTransform.fromTranslate(*ASIDE).scale(1 / 3, 1 / 3).map(status_path("doubtful"))


@cache
def status_icon(status: str, colour: str, on_selection: str) -> QIcon:
    """The glyph as an icon for a table cell, in another colour where its row is selected."""
    icon = QIcon(_pixmap(status, colour))
    icon.addPixmap(_pixmap(status, on_selection), QIcon.Mode.Selected)
    return icon


def _pixmap(status: str, colour: str) -> QPixmap:
    """The glyph, drawn at three times its size, for dense screens."""
    pixmap = QPixmap(ICON_PX * 3, ICON_PX * 3)
    pixmap.setDevicePixelRatio(3.0)
    pixmap.fill(Qt.GlobalColor.transparent)
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(ICON_PX / 2, ICON_PX / 2)
        painter.scale(ICON_PX - 3, ICON_PX - 3)
        painter.setPen(QPen(QColor(colour), 1.6 / (ICON_PX - 3)))
        painter.drawPath(status_path(status))
    return pixmap
