"""What a hand on a mouse does to a plot, and with files over a window."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from flashscope.app.plots.style import Plot

NOTCH = 120
_HELD: list[QMimeData] = []  # an event does not own what it carries


def wheel(plot: Plot, notches: int, at: QPointF | None = None) -> None:
    """Turn the wheel over a place of the plot, its middle unless another is given; up zooms in."""
    viewport = plot.viewport()
    place = QPointF(viewport.rect().center()) if at is None else at
    for _ in range(abs(notches)):
        there = QPointF(viewport.mapToGlobal(place.toPoint()))
        QApplication.sendEvent(viewport, wheel_event(place, there, 1 if notches > 0 else -1))


def wheel_event(place: QPointF, there: QPointF, notches: int) -> QWheelEvent:
    """A turn of the wheel at a place of a widget, which is there on the screen."""
    return QWheelEvent(
        place,
        there,
        QPoint(),
        QPoint(0, NOTCH * notches),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )


def hover(widget: QWidget) -> None:
    """Have the pointer come to the middle of a widget, from elsewhere: Qt tells of no move where it is."""
    window = widget.window()
    QTest.mouseMove(window.windowHandle(), QPoint(1, 1))
    QTest.mouseMove(window.windowHandle(), widget.mapTo(window, widget.rect().center()))


def drag(plot: Plot, by: QPoint) -> None:
    """Drag from the middle of the plot so far, in steps."""
    viewport: QWidget = plot.viewport()
    start = viewport.rect().center()
    QTest.mousePress(viewport, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, start)
    for step in range(1, 9):
        QTest.mouseMove(viewport, start + QPoint(by.x() * step // 8, by.y() * step // 8), 40)
    QTest.mouseRelease(viewport, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, start + by)


def carry(window: QMainWindow, files: Sequence[Path]) -> bool:
    """Drag files into the middle of a window; whether they would be taken there.

    The events do not go through Qt, which would remember the window as where a drag is.
    """
    enter = QDragEnterEvent(window.rect().center(), *_held(files))
    window.dragEnterEvent(enter)
    move = QDragMoveEvent(window.rect().center(), *_held(files))
    window.dragMoveEvent(move)
    return enter.isAccepted() and move.isAccepted()


def carry_away(window: QMainWindow) -> None:
    """Drag files out of a window again."""
    window.dragLeaveEvent(QDragLeaveEvent())


def drop(window: QMainWindow, files: Sequence[Path]) -> None:
    """Drop files in the middle of a window, whatever it said of them before."""
    window.dropEvent(QDropEvent(QPointF(window.rect().center()), *_held(files)))


def _held(
    files: Sequence[Path],
) -> tuple[Qt.DropAction, QMimeData, Qt.MouseButton, Qt.KeyboardModifier]:
    data = QMimeData()
    _HELD.append(data)
    data.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
    return Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
