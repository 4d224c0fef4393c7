"""How the lines of each compared session are drawn: the colour is the kernel's, the dashes the session's."""

from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap

from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import ZOOM, px

DASHES: tuple[tuple[float, ...], ...] = (
    (4, 3),  # the baseline
    (),
    (1, 2),
    (8, 2, 1, 2),
    (8, 2, 1, 2, 1, 2),
    (10, 4),
)
SAMPLE = (26, 12)  # pixels of a line in a chip


def session_pen(session: int, colour: Any, width: float) -> Any:
    """The pen of a session's lines; 0 is the baseline."""
    return pg.mkPen(colour, width=width * ZOOM.factor, dash=list(DASHES[session]) or None)


def dash_icon(session: int, theme: Theme) -> QIcon:
    """A piece of a session's line; drawn at three times its size, for dense screens."""
    width, height = map(px, SAMPLE)
    pixmap = QPixmap(width * 3, height * 3)
    pixmap.setDevicePixelRatio(3.0)
    pixmap.fill(Qt.GlobalColor.transparent)
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(session_pen(session, theme.text, 2.0))
        painter.drawLine(QPointF(1, height / 2), QPointF(width - 1, height / 2))
    return QIcon(pixmap)
