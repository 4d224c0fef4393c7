"""The marks of points that are not trusted, each at a corner of its point where no other mark stands."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from flashscope.app.control.guard import guarded
from flashscope.app.figures.series import Values
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import ZOOM, px
from flashscope.app.plots.over_view import OverView
from flashscope.app.plots.status_marks import status_path

GLYPH_PX, LINE_PX = 11, 1.8
WIDE_PX, HIGH_PX = 6, 14  # that a mark has for itself
CORNERS = ((-1, -1), (-1, 1), (1, -1), (1, 1))  # the left ones first: names of curves stand at the right
ASIDE_PX = 8, 10  # from the middle of a point to that of its mark
FAINT = 0.2  # opacity of the marks of curves that stand back


class DoubtedPoints(NamedTuple):
    """The points of a kernel that are not trusted.

    Attributes:
        places: Where they stand on the axes, (points, 2).
        back: Whether the kernel's curve stands back behind another.
    """

    places: Values
    back: bool


class Marked(NamedTuple):
    """A mark: its middle in pixels of the view, and whether it stands back."""

    at: QPointF
    back: bool


class DoubtMarks(OverView):
    """Paints the marks.

    A point all of whose corners are taken has no mark of its own: others stand where it would be.

    Args:
        plot: Has the view.
        theme: The colours in use.
        names: What names of curves take of the view when marks are placed.
    """

    def __init__(
        self, plot: pg.PlotWidget, theme: Theme, names: Callable[[], Sequence[QRectF]] = tuple
    ) -> None:
        super().__init__(plot, theme, depth=29)
        self._names = names
        self._doubted: Sequence[DoubtedPoints] = ()
        self._marked: Sequence[Marked] | None = ()

    @property
    def marked(self) -> Sequence[Marked]:
        """What is painted."""
        if self._marked is None:
            self._marked = [*self._placed()]
        return self._marked

    def show_doubted(self, doubted: Sequence[DoubtedPoints]) -> None:
        """Mark the points of these; the first ones have their corners first."""
        if doubted or self._doubted:
            self._doubted = doubted
            self.place()

    def place(self) -> None:
        """Have the marks placed when they are painted next."""
        self.prepareGeometryChange()
        self._marked = None if self._doubted else ()
        self.update()

    def _placed(self) -> Iterator[Marked]:
        size, names = QSizeF(px(WIDE_PX), px(HIGH_PX)), self._names()
        taken = Taken(px(WIDE_PX), px(HIGH_PX))
        for one, places in zip(self._doubted, self.pixels(one.places for one in self._doubted), strict=True):
            for point in (QPointF(*place) for place in places.tolist()):
                if not self.holds(point):
                    continue
                corners = (point + QPointF(x * px(ASIDE_PX[0]), y * px(ASIDE_PX[1])) for x, y in CORNERS)
                free = next((at for at in corners if self._is_free(at, size, names) and taken.take(at)), None)
                if free is not None:
                    yield Marked(free, one.back)

    def _is_free(self, at: QPointF, size: QSizeF, names: Sequence[QRectF]) -> bool:
        """Whether a mark's middle is in the view, and no name on the mark."""
        box = QRectF(at - QPointF(size.width() / 2, size.height() / 2), size)
        return self.holds(at) and not any(box.intersects(name) for name in names)

    @guarded()
    def paint(self, painter: QPainter, *_: Any) -> None:
        """Paint the marks."""
        size = px(GLYPH_PX)
        pen = QPen(QColor(self._theme.error), LINE_PX * ZOOM.factor / size)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        for mark in self.marked:
            painter.save()
            painter.setOpacity(FAINT if mark.back else 1.0)
            painter.translate(mark.at)
            painter.scale(size, size)
            painter.setPen(pen)
            painter.drawPath(status_path("doubtful"))
            painter.restore()


class Taken:
    """Places that boxes of one size have, found by the cell of that size that each is in.

    Args:
        wide: Pixels of a box.
        high: The same, from top to bottom.
    """

    def __init__(self, wide: int, high: int) -> None:
        self._wide, self._high = wide, high
        self._cells: dict[tuple[int, int], list[QPointF]] = {}

    def take(self, at: QPointF) -> bool:
        """Take the place around a point, unless a box is in it already; whether it was free."""
        column, row = int(at.x() // self._wide), int(at.y() // self._high)
        around = ((column + x, row + y) for x in (-1, 0, 1) for y in (-1, 0, 1))
        if any(self._meet(at, other) for cell in around for other in self._cells.get(cell, ())):
            return False
        self._cells.setdefault((column, row), []).append(at)
        return True

    def _meet(self, one: QPointF, other: QPointF) -> bool:
        apart = one - other
        return abs(apart.x()) < self._wide and abs(apart.y()) < self._high
