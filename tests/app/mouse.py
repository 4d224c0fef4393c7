"""What a hand on a mouse does to a plot."""

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from flashscope.app.plots.style import Plot

NOTCH = 120


def wheel(plot: Plot, notches: int, at: QPointF | None = None) -> None:
    """Turn the wheel over a place of the plot, its middle unless another is given; up zooms in."""
    viewport = plot.viewport()
    place = QPointF(viewport.rect().center()) if at is None else at
    for _ in range(abs(notches)):
        event = QWheelEvent(
            place,
            QPointF(viewport.mapToGlobal(place.toPoint())),
            QPoint(),
            QPoint(0, NOTCH if notches > 0 else -NOTCH),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        QApplication.sendEvent(viewport, event)


def drag(plot: Plot, by: QPoint) -> None:
    """Drag from the middle of the plot so far, in steps."""
    viewport: QWidget = plot.viewport()
    start = viewport.rect().center()
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, start)
    for step in range(1, 9):
        QTest.mouseMove(viewport, start + QPoint(by.x() * step // 8, by.y() * step // 8), 40)
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, start + by)
