"""A kernel's mark outside a plot: in legends, lists and tables."""

import pyqtgraph as pg
from pyqtgraph.graphicsItems.ScatterPlotItem import drawSymbol
from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap

from app.theme import kernel_mark

PER_ROW = 5  # kernels side by side in a legend or in readouts; more take another row


def paint_mark(painter: QPainter, kernel: str, x: float, y: float, size: float = 9.0) -> None:
    """Draw the symbol of a kernel centred at x, y."""
    mark = kernel_mark(kernel)
    painter.save()
    painter.translate(x, y)
    drawSymbol(painter, mark.symbol, size, pg.mkPen(mark.colour, width=1.5 / size), pg.mkBrush(mark.colour))
    painter.restore()


def mark_pixmap(kernel: str, size: int = 14) -> QPixmap:
    """The symbol of a kernel as a pixmap; drawn at three times its size, for dense screens."""
    pixmap = QPixmap(size * 3, size * 3)
    pixmap.setDevicePixelRatio(3.0)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    paint_mark(painter, kernel, size / 2, size / 2, size - 4)
    painter.end()
    return pixmap


def mark_icon(kernel: str) -> QIcon:
    """The symbol of a kernel as an icon."""
    pixmap = mark_pixmap(kernel)
    icon = QIcon(pixmap)
    icon.addPixmap(pixmap, QIcon.Mode.Selected)  # a selected row must not tint it
    return icon
