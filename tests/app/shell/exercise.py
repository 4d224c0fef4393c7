"""Does with a window whatever makes Qt call the window's own code."""

from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDropEvent,
    QEnterEvent,
    QFont,
    QMouseEvent,
    QWheelEvent,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QDoubleSpinBox, QMenu, QTableView, QWidget

from app.control.steps import Restored
from app.pages.compare import ComparePage
from app.pages.compare.plot_cards import View
from app.pages.profile.crosshair_panel import LegendButton
from app.pages.sessions import SessionsPage
from app.plots.compare.strip_plot import StripPlot
from app.plots.legend import KernelButton
from app.plots.quantity_chooser import QuantityChooser
from app.plots.stepper.panel import Panel
from app.plots.time_plot import TimePlot
from app.shell.main_window import MainWindow
from app.shell.shots import picture
from app.widgets.drop_down import DropDown
from app.widgets.palette import CommandPalette
from app.widgets.scrubber import Scrubber
from profiles.store.library import TRASH


def exercise(window: MainWindow, file: Path) -> None:
    """Show everything, click, drag, type, sort and close."""
    window.hide()
    window.show()
    views: tuple[View, View] = ("map", "lines")
    for size, view in zip(((760, 480), (1300, 820)), views, strict=True):
        window.resize(*size)
        _compare(window, file, view)
        for key in window.pages:
            window.show_page(key)
            _settle()
            picture(window)
            for widget in window.pages[key].findChildren(QWidget):
                _touch(widget)
    sessions = window.pages["sessions"]
    assert isinstance(sessions, SessionsPage)
    window.show_page("sessions")
    sessions.refresh()
    sessions._listing.wait()
    _settle()
    _edit(window, sessions)
    _type(window)
    _drag(window, file)
    window.controller._shown._opener._chores.wait()
    window.close_unasked()
    _settle()


def _compare(window: MainWindow, file: Path, view: View) -> None:
    """Compare the file with a copy of it, and choose a pair."""
    page = window.pages["compare"]
    assert isinstance(page, ComparePage)
    copy = file.with_name(f"{view}{file.name}")
    copy.write_bytes(file.read_bytes())
    page.choose([])
    window.show_page(page.key)
    page.choose([file, copy])
    for chores in (page.lineup._reader, page.lineup._comparer):
        chores.wait()
        _settle()
    page.board.ratios.show_view(view)
    page.board._staged.finish()
    page.board.choose(0)
    _drag(page, file)


def _settle() -> None:
    QApplication.processEvents()
    QApplication.sendPostedEvents()


def _turn_wheel(widget: QWidget) -> None:
    place = QPointF(widget.rect().center())
    keys, buttons = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.NoButton
    there, turned = widget.mapToGlobal(place), QPoint(0, 120)
    wheel = QWheelEvent(place, there, QPoint(), turned, buttons, keys, Qt.ScrollPhase.NoScrollPhase, False)
    QApplication.sendEvent(widget, wheel)


def _pass_over(widget: QWidget) -> None:
    """The pointer comes and goes."""
    if isinstance(widget, LegendButton):
        QApplication.sendEvent(widget, QEnterEvent(QPointF(1, 1), QPointF(1, 1), QPointF(1, 1)))
        QApplication.sendEvent(widget, QEvent(QEvent.Type.Leave))


def _touch(widget: QWidget) -> None:
    """What a pointer does to what is painted by hand, and what the look and a layout do to all."""
    widget.sizeHint(), widget.minimumSizeHint(), widget.hasHeightForWidth()
    _pass_over(widget)
    if isinstance(widget, Panel | Scrubber) and widget.isVisible():
        _drag_over(widget)
        QApplication.sendEvent(widget, QEvent(QEvent.Type.Leave))
        widget.setFont(QFont(widget.font()))
        QApplication.sendEvent(widget, QEvent(QEvent.Type.FontChange))
    elif isinstance(widget, TimePlot) and widget.isVisible():
        _turn_wheel(widget.viewport())
        _drag_over(widget.viewport())
        QApplication.sendEvent(widget, QEvent(QEvent.Type.Leave))
    elif isinstance(widget, KernelButton):
        QTest.mouseDClick(widget, Qt.MouseButton.LeftButton)
    elif isinstance(widget, QDoubleSpinBox):
        _leave_empty(widget)
        widget.setValue(widget.value() + widget.singleStep())
    elif isinstance(widget, QTableView):
        for column in range(widget.model().columnCount()):
            widget.sortByColumn(column, Qt.SortOrder.AscendingOrder)
        QTest.keyClick(widget, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    elif isinstance(widget, DropDown):
        widget.showPopup()
        widget.hidePopup()
    elif isinstance(widget, QuantityChooser | StripPlot):
        widget.updateGeometry()
    elif isinstance(widget, QAbstractSpinBox):
        _leave_empty(widget)


def _leave_empty(field: QAbstractSpinBox) -> None:
    """What makes it say that the number before stays."""
    field.clear()
    field.stepUp()


def _edit(window: MainWindow, sessions: SessionsPage) -> None:
    """Choose a session, ask for its menu, change it, undo that and do it again."""
    sessions.table.sortByColumn(0, Qt.SortOrder.DescendingOrder)
    sessions.table.selectRow(0)
    picture(window)
    asked = QContextMenuEvent(
        QContextMenuEvent.Reason.Mouse, QPoint(5, 5), sessions.mapToGlobal(QPoint(5, 5))
    )
    QApplication.sendEvent(sessions.table.viewport(), asked)
    for menu in sessions.findChildren(QMenu):
        menu.close()
    edits = window.controller.edits
    edits.do("Nothing", [Restored(sessions.controller.sessions_dir / TRASH / "nowhere"), Nothing()])
    for act in (edits.undo, edits.redo):
        edits.wait()
        _settle()
        act()
    edits.wait()


class Nothing:
    """A change that is none."""

    path = Path()

    def forth(self) -> None:
        """Do nothing."""

    back = forth


def _drag_over(widget: QWidget) -> None:
    """Press in its middle, move and let go."""
    middle, left, none = QPointF(widget.rect().center()), Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    keys = Qt.KeyboardModifier.NoModifier
    for kind, button, held in (
        (QEvent.Type.MouseButtonPress, left, left),
        (QEvent.Type.MouseMove, none, left),
        (QEvent.Type.MouseButtonRelease, left, none),
    ):
        QApplication.sendEvent(
            widget, QMouseEvent(kind, middle, widget.mapToGlobal(middle), button, held, keys)
        )


def _type(window: MainWindow) -> None:
    palette = CommandPalette(window.registry, window)
    palette.open_over(window)
    QTest.keyClick(palette._query, Qt.Key.Key_Down)
    palette.close()


def _drag(window: QWidget, file: Path) -> None:
    dragged = QMimeData()
    dragged.setUrls([QUrl.fromLocalFile(str(file))])
    how = (Qt.DropAction.CopyAction, dragged, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    middle = window.rect().center()
    QApplication.sendEvent(window, QDragEnterEvent(middle, *how))
    QApplication.sendEvent(window, QDropEvent(QPointF(middle), *how))
