"""A plot on the telemetry's common time axis: the wheel zooms it, dragging moves it, all of them together."""

from collections.abc import Callable
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.plots.style import Plot

LEFT_PX = 44  # of the left axis, the same in all
ZOOM_STEP = 0.8  # of the time on show, a notch of the wheel
NOTCH = 120


class TimeBox(pg.ViewBox):  # type: ignore[misc] # pyqtgraph publishes no types
    """Tells of wheel and drag instead of following them: what is shown of time is not one plot's own.

    Signals:
        zoomed: The time on show is to become so many times as long around a moment (float, float in s).
        panned: It is to begin so much later (float, s).
    """

    zoomed = Signal(float, float)
    panned = Signal(float)

    def __init__(self) -> None:
        super().__init__(enableMenu=False)

    @guarded()
    def wheelEvent(self, event: Any, axis: int | None = None) -> None:  # noqa: ARG002 - pyqtgraph's own
        """Zoom around the pointer."""
        self.zoomed.emit(ZOOM_STEP ** (event.delta() / NOTCH), self._time(event.scenePos()))
        event.accept()

    @guarded()
    def mouseDragEvent(self, event: Any, axis: int | None = None) -> None:  # noqa: ARG002 - pyqtgraph's own
        """Move under the pointer."""
        if event.button() == Qt.MouseButton.LeftButton:
            event.accept()
            self.panned.emit(self._time(event.lastScenePos()) - self._time(event.scenePos()))

    def _time(self, place: QPointF) -> float:
        return float(self.mapSceneToView(place).x())


class TimePlot(Plot):
    """A low plot over seconds.

    Attributes:
        box: Its view.

    Signals:
        pointed: The pointer is at this moment (float, s), or has left (None).
    """

    pointed = Signal(object)

    def __init__(
        self, axes: dict[str, pg.AxisItem], theme: Theme, box: Callable[[], TimeBox] = TimeBox
    ) -> None:
        self.box = box()
        super().__init__(viewBox=self.box, axisItems=axes, enableMenu=False)
        self._theme = theme
        self.range_by_hand()
        left = self.getAxis("left")
        keep(left, left.setWidth, LEFT_PX)
        left.setStyle(tickLength=0, tickTextOffset=4, hideOverlappingLabels=False)
        self.scene().sigMouseMoved.connect(self._point)

    def let_go(self) -> None:
        """The pointer is nowhere any more."""
        self.pointed.emit(None)

    @guarded()
    def _point(self, place: QPointF) -> None:
        inside = self.box.sceneBoundingRect().contains(place)
        self.pointed.emit(float(self.box.mapSceneToView(place).x()) if inside else None)
