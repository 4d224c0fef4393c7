"""Runtimes over N as small as a stamp: the shape of the curves, both axes logarithmic, no figures.

What is altered is left out and counted.
"""

import math
from collections.abc import Mapping, Sequence
from importlib import import_module

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.kernel_marks import kernel_mark
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px

ThumbnailCurve = Sequence[tuple[int, float]]
HEIGHT_PX, EDGE_PX, MARK_PX = 130, 8, 6.0


def load_marks() -> None:
    """Load what a thumbnail is painted with; it takes half a second that a window's thread has not."""
    import_module("flashscope.app.plots.marks")


class Thumbnail(QWidget):
    """Draws the curves of some kernels.

    Args:
        theme: The colours in use.
        least: Its height in pixels; it takes more where it can have more.
    """

    def __init__(self, theme: Theme, least: int | None = None) -> None:
        super().__init__()
        self._theme = theme
        self._curves: Mapping[str, ThumbnailCurve] = {}
        self._altered = 0
        keep(self, self.setMinimumHeight if least else self.setFixedHeight, least or HEIGHT_PX)

    def show_curves(self, curves: Mapping[str, ThumbnailCurve], altered: int = 0) -> None:
        """Draw these, and say how many points are altered."""
        self._curves, self._altered = curves, altered
        told = f"Runtime over N of {', '.join(curves)}" if curves else "No runtimes"
        self.setAccessibleName(f"{told}; {self._warning}" if altered else told)
        self.update()

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        self.update()

    @guarded()
    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw every curve and its points."""
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for kernel, line in self._placed().items():
                self._paint_curve(painter, kernel, line)
            if self._altered:
                painter.setPen(QColor(self._theme.error))
                corner = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignBottom  # most curves rise
                painter.drawText(self.rect(), corner, self._warning)

    def _paint_curve(self, painter: QPainter, kernel: str, line: Sequence[QPointF]) -> None:
        from flashscope.app.plots.dots import line_pen  # noqa: PLC0415 - see load_marks
        from flashscope.app.plots.marks import paint_mark  # noqa: PLC0415 - see load_marks

        mark = kernel_mark(kernel)
        painter.setPen(line_pen(mark, mark.on(self._theme)))
        painter.drawPolyline(QPolygonF(line))
        for point in line:
            paint_mark(painter, kernel, self._theme, point, px(MARK_PX))

    @property
    def _warning(self) -> str:
        return f"{self._altered} altered"

    def _placed(self) -> dict[str, list[QPointF]]:
        """Every curve in pixels."""
        logs = {k: [(math.log(n), math.log(ms)) for n, ms in curve] for k, curve in self._curves.items()}
        points = [point for curve in logs.values() for point in curve]
        if not points:
            return {}
        (left, right), (low, high) = (_ends([point[axis] for point in points]) for axis in (0, 1))
        edge = px(EDGE_PX)
        wide, tall = self.width() - 2 * edge, self.height() - 2 * edge
        return {
            kernel: [
                QPointF(edge + wide * (x - left) / (right - left), edge + tall * (high - y) / (high - low))
                for x, y in curve
            ]
            for kernel, curve in logs.items()
        }


def _ends(values: Sequence[float]) -> tuple[float, float]:
    """The ends of an axis, apart even where there is one value."""
    low, high = min(values), max(values)
    return (low, high) if high > low else (low - 1, high + 1)
