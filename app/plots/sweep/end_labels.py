"""The names of kernels at the ends of their curves, where there is room for them.

Names of the longest curves stand right of them all, moved apart; that of a curve which ends before them
stands right or left of its own end, or nowhere if a curve, a model or a name is on either side.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from flashscope.app.control.guard import guarded
from flashscope.app.figures.series import Values
from flashscope.app.figures.text_places import place_texts
from flashscope.app.look.fonts import ui_font
from flashscope.app.look.kernel_marks import kernel_mark
from flashscope.app.look.theme import CAPTION_PX, Theme
from flashscope.app.look.zoom import px
from flashscope.app.plots.sweep.kernel_curves import Ending
from flashscope.app.words.plain import MOST_OF_NAME, cut_short

BESIDE_PX = 8  # from a point to its name
LEAST_SHARE = 3.4  # of the view's width to the longest name's: in a narrower one the curves have it all
CROSS_PX = 2  # to either side of the crosshair that a name keeps clear of it
BACK = 0.35  # opacity of the names of curves that stand back
FAR = 2.2  # lines that a name may stand above or below its point
NEAR = (0.0, -0.8, 0.8)  # lines that the name of a shorter curve may stand below its point, on either side
STRIDE_PX = 2.0  # between the places at which a curve is looked for


class Written(NamedTuple):
    """A name, and where it stands in pixels of the view."""

    kernel: str
    box: QRectF


class EndLabels(pg.GraphicsObject):  # type: ignore[misc] # pyqtgraph publishes no types
    """Paints the names.

    Attributes:
        written: What is on show.
    """

    def __init__(self, plot: pg.PlotWidget, theme: Theme, cross: pg.InfiniteLine) -> None:
        super().__init__()
        self._plot, self._theme, self._cross = plot, theme, cross
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

    def _placed(self) -> Sequence[Written]:
        if not self.room_px(one.kernel for one in self._endings):
            return []
        curves = self._in_view([one.points for one in self._endings])
        lines = [*curves, *self._in_view(one.model for one in self._endings if len(one.model))]
        points = [QPointF(*curve[-1].tolist()) for curve in curves]
        right = max(point.x() for point in points)
        longest = [index for index, point in enumerate(points) if point.x() > right - 1]
        placed = [*self._apart(longest, points)]
        for index in (index for index in range(len(points)) if index not in longest):
            sides = ((left, below) for left in (False, True) for below in NEAR)
            names = (self._name(index, points[index], below, left=left) for left, below in sides)
            free = (name for name in names if self._is_free(name.box, placed, lines))
            placed += [*free][:1]
        return placed

    def _apart(self, longest: Sequence[int], points: Sequence[QPointF]) -> Iterable[Written]:
        """The names of the longest curves, moved apart; behind their ends no curve is."""
        view, height = self._plot.getViewBox(), QFontMetricsF(_font()).height()
        wanted = [points[index].y() if self._seen(points[index]) else -np.inf for index in longest]
        low, high = height / 2, view.height() - height / 2
        for place, y in place_texts(wanted, height - px(1), low, high, FAR * height).items():
            name = self._name(longest[place], QPointF(points[longest[place]].x(), y))
            if name.box.right() - px(2) <= view.width():
                yield name

    def _name(self, index: int, point: QPointF, lines: float = 0.0, *, left: bool = False) -> Written:
        """The name right or left of a point, or so many lines below it."""
        kernel = self._endings[index].kernel
        wide = QFontMetricsF(_font(bold=kernel == self._hero)).horizontalAdvance(_named(kernel)) + px(2)
        height = QFontMetricsF(_font()).height()
        away = -px(BESIDE_PX) - wide if left else px(BESIDE_PX)
        return Written(kernel, QRectF(point.x() + away, point.y() + (lines - 0.5) * height, wide, height))

    def _is_free(self, box: QRectF, placed: Sequence[Written], lines: Sequence[Values]) -> bool:
        """Whether a box lies in the view, and neither a name nor a curve nor a model in it."""
        if not self.boundingRect().contains(box) or any(box.intersects(one.box) for one in placed):
            return False
        return not any(_passes(line, box) for line in lines)

    def _in_view(self, curves: Iterable[Values]) -> list[Values]:
        """Pixels of places on the axes, (points, 2) each."""
        view = self._plot.getViewBox()
        ends = (view.mapFromView(QPointF(place, place)) for place in (0, 1))
        zero, one = (np.array([end.x(), end.y()]) for end in ends)
        return [zero + curve * (one - zero) for curve in curves]

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
        """Write the names, on a ground of their own: a model may go on behind the end of its curve."""
        for _kernel, box in self.written:
            painter.fillRect(box.toAlignedRect(), QColor(self._theme.panel))
        for kernel, box in self.written:
            painter.fillRect(self._crossed(box), QColor(self._theme.panel))
            painter.setOpacity(BACK if self._alone and kernel != self._hero else 1.0)
            painter.setFont(_font(bold=kernel == self._hero))
            painter.setPen(QColor(kernel_mark(kernel).ink(self._theme)))
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip, _named(kernel))
            painter.setOpacity(1.0)

    def _crossed(self, box: QRectF) -> QRectF:
        """Where the crosshair would run through a name; empty: nowhere."""
        x = self._plot.getViewBox().mapFromView(QPointF(self._cross.value(), 0)).x()
        if not self._cross.isVisible() or not box.left() < x < box.right():
            return QRectF()
        return QRectF(x - CROSS_PX, box.top(), 2 * CROSS_PX, box.height())


def _passes(curve: Values, box: QRectF) -> bool:
    """Whether a curve through these points, (points, 2) in pixels, goes through a box."""
    places = np.arange(box.left(), box.right(), STRIDE_PX)
    passed = np.interp(places, curve[:, 0], curve[:, 1], left=np.inf, right=np.inf)
    return bool((np.abs(passed - box.center().y()) < box.height() / 2).any())


def _font(*, bold: bool = False) -> QFont:
    return ui_font(CAPTION_PX, bold=bold)


def _named(kernel: str) -> str:
    return cut_short(kernel, MOST_OF_NAME)
