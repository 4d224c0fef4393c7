"""Bars of time behind a plot, all of a filling drawn at once and to whole pixels."""

from collections.abc import Sequence
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QBrush, QPainter

from flashscope.app.control.guard import guarded


class SpanBars(pg.GraphicsObject):  # type: ignore[misc] # pyqtgraph publishes no types
    """Draws bars without edges; one that is narrower than a pixel has a pixel.

    They are not smoothed: bars that meet then share no pixel, which smoothed ones both leave half open to
    what is behind them. Every lane of the telemetry paints some hundreds of them whenever time moves, which
    takes less than half as long as one by one through a recorded picture.

    Attributes:
        fillings: The bars of each filling, in the plot's units.
    """

    def __init__(self) -> None:
        super().__init__()
        self.fillings: Sequence[tuple[QBrush, Sequence[QRectF]]] = ()
        self._bounds = QRectF()

    def show_bars(self, fillings: Sequence[tuple[QBrush, Sequence[QRectF]]]) -> None:
        """Draw these."""
        self.prepareGeometryChange()
        self.fillings = fillings
        self._bounds = QRectF()
        for _, bars in fillings:
            for bar in bars:
                self._bounds |= bar
        self.update()

    @guarded(QRectF)
    def boundingRect(self) -> QRectF:
        """All bars."""
        return self._bounds

    @guarded()
    def paint(self, painter: QPainter, option: Any, widget: object = None) -> None:
        """Draw them, one filling after the other."""
        del option, widget
        least = 1 / max(abs(painter.worldTransform().m11()), 1e-9)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(Qt.PenStyle.NoPen)
        for brush, bars in self.fillings:
            painter.setBrush(brush)
            painter.drawRects([_at_least(least, bar) for bar in bars])
        painter.restore()


def _at_least(wide: float, bar: QRectF) -> QRectF:
    return bar if bar.width() >= wide else QRectF(bar.x(), bar.y(), wide, bar.height())
