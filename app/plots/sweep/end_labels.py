"""The names of kernels at the ends of their curves, where there is room for them.

Names of the longest curves stand right of them all, moved apart; curves that end too close to one another
for that share a line, which names as many as it has room for and counts the others. The name of a curve
which ends before them stands right or left of its own end, or nowhere if a curve, a model or a name is there.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from flashscope.app.control.guard import guarded
from flashscope.app.figures.series import Values
from flashscope.app.figures.text_places import share_texts
from flashscope.app.look.fonts import ui_font
from flashscope.app.look.kernel_marks import kernel_mark
from flashscope.app.look.theme import CAPTION_PX, Theme
from flashscope.app.look.zoom import px
from flashscope.app.plots.over_view import OverView
from flashscope.app.plots.sweep.kernel_curves import Ending
from flashscope.app.words.plain import MOST_OF_NAME, cut_short

BESIDE_PX = 8  # from a point to its name
LEAST_SHARE = 3.4  # of the view's width to the longest name's: in a narrower one the curves have it all
CROSS_PX = 2  # to either side of the crosshair that a name keeps clear of it
BACK = 0.35  # opacity of the names of curves that stand back
FAR = 2.2  # lines that a name may stand above or below its point
NEAR = ((0.0, -0.8, 0.8), (-1.6, 1.6))  # lines that a shorter curve's name may stand below it, either side
MANY = 3  # curves may have no room for a name each
OTHERS = " +99"  # that there are others, at its longest
STRIDE_PX = 2.0  # between the places at which a curve is looked for


class Written(NamedTuple):
    """A name, and where it stands in pixels of the view.

    Attributes:
        kernel: Whose it is.
        box: Where it stands.
        beside: The other kernels whose curves end there.
        told: How many of them are named, too.
    """

    kernel: str
    box: QRectF
    beside: tuple[str, ...] = ()
    told: int = 0


class EndLabels(OverView):
    """Paints the names."""

    def __init__(self, plot: pg.PlotWidget, theme: Theme, cross: pg.InfiniteLine) -> None:
        super().__init__(plot, theme, depth=30)
        self._cross = cross
        self._endings: tuple[Ending, ...] = ()
        self._hero, self._alone = "", False
        self._written: tuple[Written, ...] | None = ()

    @property
    def written(self) -> tuple[Written, ...]:
        """What is painted."""
        if self._written is None:
            self._written = tuple(self._placed())
        return self._written

    def room_px(self, kernels: Collection[str]) -> float:
        """What the longest name takes of the view; 0 where the view has no room for names."""
        longest = max((_wide(_named(kernel), bold=True) for kernel in kernels), default=0.0)
        others = _wide(OTHERS) if len(kernels) > MANY else 0.0
        wide = longest + others + px(BESIDE_PX) + px(4)
        return wide if longest and wide * LEAST_SHARE <= self._view.width() else 0.0

    def boxes(self) -> list[QRectF]:
        """What the names take of the view, in pixels."""
        return [name.box for name in self.written]

    def show_endings(self, endings: Sequence[Ending], hero: str, *, alone: bool) -> None:
        """Write the names of these, the first ones first; all others may stand back behind the hero's."""
        self._endings, self._hero, self._alone = tuple(endings), hero, alone
        self.place()

    def place(self) -> None:
        """Have the names put where their curves end when they are painted next: much moves until then."""
        self.prepareGeometryChange()
        self._written = None if self._endings else ()
        self.update()

    def _placed(self) -> Sequence[Written]:
        if not self.room_px([one.kernel for one in self._endings]):
            return []
        curves = self.pixels([one.points for one in self._endings])
        lines = [*curves, *self.pixels(one.model for one in self._endings if len(one.model))]
        points = [QPointF(*curve[-1].tolist()) for curve in curves]
        right = max(point.x() for point in points)
        longest = [index for index, point in enumerate(points) if point.x() > right - 1]
        placed = [*self._apart([index for index in longest if self.holds(points[index])], points)]
        for index in (index for index in range(len(points)) if index not in longest):
            sides = ((left, below) for near in NEAR for left in (False, True) for below in near)
            names = (self._name([index], points[index], below, left=left) for left, below in sides)
            free = (name for name in names if self._is_free(name.box, placed, lines))
            placed += [*free][:1]
        return placed

    def _apart(self, longest: Sequence[int], points: Sequence[QPointF]) -> Iterable[Written]:
        """The names of the longest curves, moved apart; behind their ends no curve is."""
        height = QFontMetricsF(_font()).height()
        wanted = [points[index].y() for index in longest]
        low, high = height / 2, self._view.height() - height / 2
        for members, y in share_texts(wanted, height - px(1), low, high, FAR * height):
            indices = [longest[member] for member in members]
            name = self._name(indices, QPointF(points[indices[0]].x(), y))
            if name.box.right() - px(2) <= self._view.width():
                yield name

    def _name(
        self, indices: Sequence[int], point: QPointF, lines: float = 0.0, *, left: bool = False
    ) -> Written:
        """The name right or left of a point, or so many lines below it; of several as many as have room."""
        kernel, *beside = (self._endings[index].kernel for index in indices)
        height, room = QFontMetricsF(_font()).height(), self._view.width() - point.x() - px(BESIDE_PX)
        name = Written(kernel, QRectF(), tuple(beside))
        while name.told < len(beside) and self._wide(more := name._replace(told=name.told + 1)) <= room:
            name = more
        wide = self._wide(name)
        away = -px(BESIDE_PX) - wide - px(2) if left else px(BESIDE_PX)
        box = QRectF(point.x() + away, point.y() + (lines - 0.5) * height, wide + px(2), height)
        return name._replace(box=box)

    def _wide(self, name: Written) -> float:
        return sum(_wide(text, bold=bold) for text, _, bold in self._parts(name))

    def _parts(self, name: Written) -> Iterator[tuple[str, str, bool]]:
        """What stands in a name's line: the text, whose it is, and whether it is bold."""
        yield _named(name.kernel), name.kernel, name.kernel == self._hero
        for kernel in name.beside[: name.told]:
            yield f", {_named(kernel)}", kernel, False
        if name.told < len(name.beside):
            yield f" +{len(name.beside) - name.told}", "", False

    def _is_free(self, box: QRectF, placed: Sequence[Written], lines: Sequence[Values]) -> bool:
        """Whether a box lies in the view, and neither a name nor a curve nor a model in it."""
        if not self.boundingRect().contains(box) or any(box.intersects(one.box) for one in placed):
            return False
        return not any(_passes(line, box) for line in lines)

    @guarded()
    def paint(self, painter: QPainter, *_: Any) -> None:
        """Write the names, on a ground of their own: a model may go on behind the end of its curve."""
        for name in self.written:
            painter.fillRect(name.box.toAlignedRect(), QColor(self._theme.panel))
        for name in self.written:
            painter.fillRect(self._crossed(name.box), QColor(self._theme.panel))
            painter.setOpacity(BACK if self._alone and name.kernel != self._hero else 1.0)
            at = QRectF(name.box)
            for text, kernel, bold in self._parts(name):
                painter.setFont(_font(bold=bold))
                painter.setPen(QColor(kernel_mark(kernel).ink(self._theme) if kernel else self._theme.dim))
                painter.drawText(at, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip, text)
                at.setLeft(at.left() + _wide(text, bold=bold))
            painter.setOpacity(1.0)

    def _crossed(self, box: QRectF) -> QRectF:
        """Where the crosshair would run through a name; empty: nowhere."""
        x = self._view.mapFromView(QPointF(self._cross.value(), 0)).x()
        if not self._cross.isVisible() or not box.left() < x < box.right():
            return QRectF()
        return QRectF(x - CROSS_PX, box.top(), 2 * CROSS_PX, box.height())


def _passes(curve: Values, box: QRectF) -> bool:
    """Whether a curve through these points, (points, 2) in pixels, goes through a box."""
    places = np.arange(box.left(), box.right(), STRIDE_PX)
    passed = np.interp(places, curve[:, 0], curve[:, 1], left=np.inf, right=np.inf)
    return bool((np.abs(passed - box.center().y()) < box.height() / 2).any())


def _wide(text: str, *, bold: bool = False) -> float:
    return QFontMetricsF(_font(bold=bold)).horizontalAdvance(text)


def _font(*, bold: bool = False) -> QFont:
    return ui_font(CAPTION_PX, bold=bold)


def _named(kernel: str) -> str:
    return cut_short(kernel, MOST_OF_NAME)
