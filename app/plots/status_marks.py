"""How a point without a value is drawn, on every plot's top rail and in every table: a glyph and a word."""

from dataclasses import dataclass
from functools import cache

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPainterPath, QPen, QPixmap

Strokes = tuple[tuple[tuple[float, float], ...], ...]


@dataclass(frozen=True)
class StatusMark:
    """One status: its word and its strokes in a box from -0.5 to 0.5, y downwards."""

    word: str
    strokes: Strokes


_CROSS: Strokes = (((-0.4, -0.4), (0.4, 0.4)), ((-0.4, 0.4), (0.4, -0.4)))
_BOX: Strokes = (((-0.45, -0.45), (0.45, -0.45), (0.45, 0.45), (-0.45, 0.45), (-0.45, -0.45)),)
_DIAMOND: Strokes = (((0, -0.5), (0.5, 0), (0, 0.5), (-0.5, 0), (0, -0.5)),)
STATUS_MARKS = {
    "will-not-fit": StatusMark("will not fit", _CROSS),
    "oom": StatusMark("out of memory", (*_BOX, *_CROSS)),
    "timeout": StatusMark(
        "timeout", (((-0.4, -0.45), (0.4, -0.45), (-0.4, 0.45), (0.4, 0.45), (-0.4, -0.45)),)
    ),
    "wrong": StatusMark(
        "wrong",
        (((-0.45, -0.18), (0.45, -0.18)), ((-0.45, 0.18), (0.45, 0.18)), ((0.25, -0.5), (-0.25, 0.5))),
    ),
    "failed": StatusMark("failed", (((0.15, -0.5), (-0.25, 0.08), (0.25, -0.08), (-0.15, 0.5)),)),
    "unsupported": StatusMark("unsupported", (*_DIAMOND, ((-0.25, 0.25), (0.25, -0.25)))),
    "altered": StatusMark(
        "altered", (((-0.4, -0.45), (0.4, 0.45)), ((-0.4, 0.45), (-0.1, 0.12)), ((0.1, -0.12), (0.4, -0.45)))
    ),
    "cancelled": StatusMark("cancelled", _BOX),
    "interrupted": StatusMark("interrupted", (((-0.2, -0.45), (-0.2, 0.45)), ((0.2, -0.45), (0.2, 0.45)))),
    "done": StatusMark("done", (((-0.4, 0.05), (-0.1, 0.35), (0.4, -0.35)),)),
    "running": StatusMark("running", (((-0.25, -0.4), (0.4, 0), (-0.25, 0.4), (-0.25, -0.4)),)),
    "pending": StatusMark("pending", (((-0.3, 0), (0.3, 0)),)),
}


@cache
def status_path(status: str) -> QPainterPath:
    """The glyph of a status as a path in a unit box, fit for a pyqtgraph symbol."""
    path = QPainterPath()
    for stroke in STATUS_MARKS[status].strokes:
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
