"""The names of kernels at the ends of their curves, where there is room for them."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from app.control.guard import guarded
from app.look.fonts import ui_font
from app.look.theme import CAPTION_PX, Theme, kernel_mark
from app.look.zoom import px
from app.plots.apart import beside
from app.plots.kernel_curves import Ending
from app.words.plain import MOST_OF_NAME, cut

BESIDE_PX = 8  # from a point to its name
LEAST_SHARE = 3.4  # of the view's width to the longest name's: in a narrower one the curves have it all
BACK = 0.35  # opacity of the names of curves that stand back
FAR = 2.2  # lines that a name may stand above or below its point


class Written(NamedTuple):
    """A name, and where it stands in pixels of the view."""

    kernel: str
    box: QRectF


class EndLabels(pg.GraphicsObject):  # type: ignore[misc] # pyqtgraph publishes no types
    """Paints the names.

    Attributes:
        written: What is on show.
    """

    def __init__(self, plot: pg.PlotWidget, theme: Theme) -> None:
        super().__init__()
        self._plot, self._theme = plot, theme
        self._endings: tuple[Ending, ...] = ()
        self._hero, self._alone = "", False
        self.written: tuple[Written, ...] = ()
        view = plot.getViewBox()
        self.setParentItem(view)
        self.setZValue(30)
        view.sigRangeChanged.connect(self.place)
        view.sigResized.connect(self.place)

    def room_px(self, kernels: Iterable[str]) -> float:
        """What the longest name takes of the view; 0 where the view has no room for names."""
        metrics = QFontMetricsF(_font(bold=True))
        longest = max((metrics.horizontalAdvance(_named(kernel)) for kernel in kernels), default=0.0)
        wide = longest + px(BESIDE_PX) + px(4)
        return wide if longest and wide * LEAST_SHARE <= self._plot.getViewBox().width() else 0.0

    def show_endings(self, endings: Sequence[Ending], hero: str, *, alone: bool) -> None:
        """Write the names of these, the first ones first; all others may stand back behind the hero's."""
        self._endings, self._hero, self._alone = tuple(endings), hero, alone
        self.place()

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        self.place()

    def place(self, *_: object) -> None:
        """Put the names where their curves end now."""
        before, self.written = self.written, tuple(self._placed())
        self.prepareGeometryChange()
        if before or self.written:
            self.update()

    def _placed(self) -> Iterable[Written]:
        view = self._plot.getViewBox()
        if not self.room_px(one.kernel for one in self._endings):
            return
        height = QFontMetricsF(_font()).height()
        points = [view.mapFromView(QPointF(one.x, one.y)) for one in self._endings]
        seen = [self._seen(point) for point in points]
        wanted = [point.y() if shown else -np.inf for point, shown in zip(points, seen, strict=True)]
        low, high = height / 2, view.height() - height / 2
        left = max(point.x() for point in points) + px(BESIDE_PX)  # of the longest: no curve is there
        for index, y in beside(wanted, height - px(1), low, high, FAR * height).items():
            kernel = self._endings[index].kernel
            wide = QFontMetricsF(_font(bold=kernel == self._hero)).horizontalAdvance(_named(kernel))
            if left + wide <= view.width():
                yield Written(kernel, QRectF(left, y - height / 2, wide + px(2), height))

    def _seen(self, point: QPointF) -> bool:
        view = self._plot.getViewBox()
        return bool(0 <= point.x() <= view.width() and 0 <= point.y() <= view.height())

    @guarded(QRectF)
    def boundingRect(self) -> QRectF:
        """All of the view."""
        view = self._plot.getViewBox()
        return QRectF(0, 0, view.width(), view.height())

    @guarded()
    def paint(self, painter: QPainter, *_: Any) -> None:
        """Write them."""
        for kernel, box in self.written:
            painter.setOpacity(BACK if self._alone and kernel != self._hero else 1.0)
            painter.setFont(_font(bold=kernel == self._hero))
            painter.setPen(QColor(kernel_mark(kernel).ink(self._theme)))
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip, _named(kernel))


def _font(*, bold: bool = False) -> QFont:
    return ui_font(CAPTION_PX, bold=bold)


def _named(kernel: str) -> str:
    return cut(kernel, MOST_OF_NAME)
