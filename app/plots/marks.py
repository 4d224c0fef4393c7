"""A kernel's mark outside a plot: in legends, lists and tables."""

from functools import cache

import pyqtgraph as pg
from pyqtgraph.graphicsItems.ScatterPlotItem import drawSymbol
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap

from flashscope.app.look.kernel_marks import KernelMark, kernel_mark
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.plots.symbols import symbol

ICON_PX = 14
LINE_ONLY = frozenset({"x", "+"})  # symbols without an area
FAINT = 0.3  # opacity of the mark of a kernel that is hidden


def paint_mark(
    painter: QPainter, kernel: str, theme: Theme, centre: QPointF, size: float = 9.0, *, colour: str = ""
) -> None:
    """Draw the symbol of a kernel, in its own colour unless another is given."""
    mark = kernel_mark(kernel)
    painter.save()
    painter.translate(centre)
    colour, shape = colour or mark.on(theme), symbol(mark.symbol)
    pen = pg.mkPen(colour, width=1.5 / size) if mark.symbol in LINE_ONLY else pg.mkPen(None)
    drawSymbol(painter, shape, size, pen, pg.mkBrush(colour))
    painter.restore()


def mark_pixmap(
    kernel: str, theme: Theme, opacity: float = 1.0, size: int = ICON_PX, *, colour: str = ""
) -> QPixmap:
    """The symbol of a kernel as a pixmap; drawn at three times its size, for dense screens."""
    size = px(size)
    pixmap = QPixmap(size * 3, size * 3)
    pixmap.setDevicePixelRatio(3.0)
    pixmap.fill(Qt.GlobalColor.transparent)
    with QPainter(pixmap) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setOpacity(opacity)
        paint_mark(painter, kernel, theme, QPointF(size / 2, size / 2), size - 4, colour=colour)
    return pixmap


def mark_icon(kernel: str, theme: Theme) -> QIcon:
    """The symbol of a kernel as an icon for a table cell, which asks for it whenever it is painted."""
    return _icon(kernel, kernel_mark(kernel), theme, px(ICON_PX))


@cache
def _icon(kernel: str, _mark: KernelMark, theme: Theme, _size: int) -> QIcon:
    icon = QIcon(mark_pixmap(kernel, theme))
    selected = mark_pixmap(kernel, theme, colour=theme.on_accent)  # its own might be the row's
    icon.addPixmap(selected, QIcon.Mode.Selected)
    return icon


def legend_icon(kernel: str, theme: Theme) -> QIcon:
    """The symbol of a kernel, faint while the button that has it is not checked."""
    icon = QIcon()
    icon.addPixmap(mark_pixmap(kernel, theme), QIcon.Mode.Normal, QIcon.State.On)
    icon.addPixmap(mark_pixmap(kernel, theme, FAINT), QIcon.Mode.Normal, QIcon.State.Off)
    return icon
