"""Lines and symbols that cost little to move: they take the whole view, and nobody works out which part.

A plot of many kernels has a hundred items, and Qt asks each of them several times for its bounds whenever the
view moves; pyqtgraph works these out anew from the data each time.
"""

from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QRectF

from flashscope.app.control.guard import guarded


class _InWholeView:
    """An item whose bounds are what the view shows."""

    _shown = QRectF()

    @guarded(QRectF)
    def boundingRect(self) -> QRectF:
        """What the view shows."""
        return self._shown

    @guarded()
    def viewTransformChanged(self, *_: object) -> None:
        """Take the new bounds, once Qt has been told that the old ones go."""
        super().viewTransformChanged()  # type: ignore[misc]  # an item's
        view = self.getViewBox()  # type: ignore[attr-defined]  # as above
        self._shown = QRectF() if view is None else view.viewRect()


class LightLine(_InWholeView, pg.PlotCurveItem):  # type: ignore[misc] # pyqtgraph publishes no types
    """A line."""


class LightDots(_InWholeView, pg.ScatterPlotItem):  # type: ignore[misc] # as above
    """Symbols."""


class LightCurve(pg.PlotDataItem):  # type: ignore[misc] # as above
    """A line and its symbols, drawn as they are whatever the view shows of them.

    Args:
        options: As those of a `pyqtgraph.PlotDataItem`.
    """

    curve: pg.PlotCurveItem
    scatter: pg.ScatterPlotItem

    def __init__(self, **options: Any) -> None:
        super().__init__(dynamicRangeLimit=None)
        line, dots = LightLine(), LightDots()
        for heavy, light in ((self.curve, line), (self.scatter, dots)):
            heavy.setParentItem(None)
            light.setParentItem(self)
        self.curve, self.scatter = line, dots
        self.setData(**options)
