"""What is painted over all of a plot's view, in its pixels."""

from collections.abc import Iterable

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF

from flashscope.app.control.guard import guarded
from flashscope.app.figures.series import Values
from flashscope.app.look.theme import Theme


class OverView(pg.GraphicsObject):  # type: ignore[misc] # pyqtgraph publishes no types
    """Lies over a view, as large as it; subclasses place what they paint, anew when another part is in view.

    Args:
        plot: Has the view.
        theme: The colours in use.
        depth: What stands over what: the larger is painted later.
    """

    def __init__(self, plot: pg.PlotWidget, theme: Theme, depth: int) -> None:
        super().__init__()
        self._view, self._theme = plot.getViewBox(), theme
        self.setParentItem(self._view)
        self.setZValue(depth)
        self._view.sigRangeChanged.connect(self._moved)
        self._view.sigResized.connect(self._moved)

    def place(self) -> None:
        """Place what is painted; subclasses do it."""
        raise NotImplementedError

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours, and the zoom in use."""
        self._theme = theme
        self.place()

    def _moved(self, *_: object) -> None:
        self.place()

    def pixels(self, curves: Iterable[Values]) -> list[Values]:
        """Pixels of the view at places on the axes, (points, 2) each."""
        ends = (self._view.mapFromView(QPointF(place, place)) for place in (0, 1))
        zero, one = (np.array([end.x(), end.y()]) for end in ends)
        return [zero + curve * (one - zero) for curve in curves]

    def holds(self, point: QPointF) -> bool:
        """Whether a point in pixels is in the view."""
        return self.boundingRect().contains(point)

    @guarded(QRectF)
    def boundingRect(self) -> QRectF:
        """All of the view."""
        return QRectF(0, 0, self._view.width(), self._view.height())
