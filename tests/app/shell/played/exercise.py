"""Does with a window whatever makes Qt call the window's own code."""

from collections.abc import Callable
from pathlib import Path
from types import UnionType
from typing import Any

from msgspec.structs import replace
from PySide6.QtCore import QEvent, QMimeData, QModelIndex, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QEnterEvent,
    QFont,
    QMouseEvent,
    QWheelEvent,
)
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QDoubleSpinBox,
    QMenu,
    QTableView,
    QWidget,
)

from flashscope.app.control.chores import wait_for_all
from flashscope.app.control.steps import Restored
from flashscope.app.pages.compare import ComparePage
from flashscope.app.pages.compare.plot_cards import View
from flashscope.app.pages.compare.tables import PAIRS
from flashscope.app.pages.profile.crosshair_panel import LegendButton
from flashscope.app.pages.registry import VIEWS
from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.plots.compare.strip_plot import StripPlot
from flashscope.app.plots.designer.landscape import Landscape
from flashscope.app.plots.stepper.panel import Panel
from flashscope.app.plots.sweep.legend import KernelButton
from flashscope.app.plots.sweep.quantity_chooser import QuantityChooser
from flashscope.app.plots.sweep.sweep_card import SweepCard
from flashscope.app.plots.sweep.sweep_plot import SweepPlot
from flashscope.app.plots.timeline.time_plot import TimePlot
from flashscope.app.shell.connect_dialog import ConnectDialog
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.presenter.check_dialog import CheckDialog
from flashscope.app.shell.shots import grab_whole
from flashscope.app.stage.story import Stop
from flashscope.app.stage.writing import add_stop
from flashscope.app.widgets.buttons import SteadyButton
from flashscope.app.widgets.dialogs.note import NoteDialog
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.frame.palette import CommandPalette
from flashscope.app.widgets.frame.queue_sheet import QueueSheet
from flashscope.app.widgets.scrolling import Scrolling
from flashscope.app.widgets.scrubber import Scrubber
from flashscope.profiles.store.library import TRASH
from tests.app.fakes import PLAN
from tests.app.shell.played.exercise_inside import launch, read_machine_code, settle, turn_modes
from tests.app.shell.played.exercise_tables import sort_and_copy


def exercise(window: MainWindow, file: Path) -> None:
    """Show everything, click, drag, type, sort and close."""
    window.hide()
    window.show()
    views: tuple[View, View] = ("map", "lines")
    for size, view in zip(((760, 480), (1300, 820)), views, strict=True):
        window.resize(*size)
        _compare(window, file, view)
        for key in VIEWS:
            window.show_page(key)
            wait_for_all(window.page)
            settle()
            grab_whole(window)
            for widget in window.page.findChildren(QWidget):
                _touch(widget)
        turn_modes(window)
    read_machine_code(window)
    launch(window)
    _zoom(window)
    _press_twice(window)
    sessions = window.pages["sessions"]
    assert isinstance(sessions, SessionsPage)
    window.show_page("sessions")
    sessions.refresh()
    sessions._listing.wait()
    settle()
    _edit(window, sessions)
    _begin_note(window)
    _queue(window)
    _name_host(window, file)
    _type(window)
    _drag(window, file)
    window.focusNextPrevChild(True)
    _present(window)
    _walk(window)
    _write(window, file)
    _tour(window)
    window.controller._shown._opener._chores.wait()
    window.close_unasked()
    settle()


def _zoom(window: MainWindow) -> None:
    """Zoom, and look at what is out of sight before its turn has come."""
    for percent in (110, 100):
        window.appearance.zoom(percent)
        while window.appearance.turning:
            window.appearance._step()
        for key in ("claims", "profile"):
            window.show_page(key)
            settle()
        window.appearance.finish()


def _press_twice(window: MainWindow) -> None:
    """Press what acts on a press of its own, and let go beside it."""
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    for button in window.findChildren(SteadyButton):
        for kind in (QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick):
            inside = QPointF(1, 1)
            QApplication.sendEvent(button, QMouseEvent(kind, inside, inside, left, left, none))
        beside = QPointF(-9, -9)
        kind = QEvent.Type.MouseButtonRelease
        QApplication.sendEvent(button, QMouseEvent(kind, beside, beside, left, Qt.MouseButton.NoButton, none))


def _queue(window: MainWindow) -> None:
    """Let two sweeps wait, change places, take one out, put it back and take it out once more."""
    queue = window.controller.queue
    queue.hold(True)
    for seed in (1, 2):
        queue.add(replace(PLAN, seed=seed))
    window.trigger("queue")
    sheet = window.findChild(QueueSheet)
    assert sheet is not None
    QTest.keyClick(sheet.list, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    QTest.keyClick(sheet.list, Qt.Key.Key_Delete)
    for key in ("undo", "redo", "undo", "queue.cancel_all"):
        window.trigger(key)
    sheet.close()


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
        settle()
    page.board.ratios.show_view(view)
    page.board._turns.finish()
    page.board.tables.show_tab(PAIRS)  # with the samples of the one that is chosen; audits had come in front
    page.board.choose(0)
    _drag(window, file)


def _turn_wheel(widget: QWidget) -> None:
    place = QPointF(widget.rect().center())
    keys, buttons = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.NoButton
    there, turned = widget.mapToGlobal(place), QPoint(0, 120)
    wheel = QWheelEvent(place, there, QPoint(), turned, buttons, keys, Qt.ScrollPhase.NoScrollPhase, False)
    QApplication.sendEvent(widget, wheel)


def _touch(widget: QWidget) -> None:
    """What a pointer or a key does to what is made by hand, and what the look and a layout do to all."""
    widget.sizeHint(), widget.minimumSizeHint(), widget.hasHeightForWidth()
    touch = next((touch for kind, touch in TOUCHES if isinstance(widget, kind)), None)
    if touch is not None:
        touch(widget)


def _touch_painted(widget: QWidget) -> None:
    if widget.isVisible():
        _drag_over(widget)
        _leave(widget)
        widget.setFont(QFont(widget.font()))
        QApplication.sendEvent(widget, QEvent(QEvent.Type.FontChange))


def _touch_time_plot(plot: TimePlot) -> None:
    if plot.isVisible():
        _turn_wheel(plot.viewport())
        _drag_over(plot.viewport())
        _leave(plot)


def _touch_sweep_plot(plot: SweepPlot) -> None:
    for _fill_and_give_back in range(2):
        QTest.mouseDClick(plot.viewport(), Qt.MouseButton.LeftButton)
    _leave(plot)


def _pass_over(button: LegendButton) -> None:
    QApplication.sendEvent(button, QEnterEvent(QPointF(1, 1), QPointF(1, 1), QPointF(1, 1)))
    _leave(button)


def _open_and_close(choice: DropDown) -> None:
    choice.showPopup()
    choice.hidePopup()


def _change_number(field: QDoubleSpinBox) -> None:
    _leave_empty(field)
    field.setValue(field.value() + field.singleStep())


def _leave(widget: QWidget) -> None:
    QApplication.sendEvent(widget, QEvent(QEvent.Type.Leave))


def _leave_empty(field: QAbstractSpinBox) -> None:
    """What makes it say that the number before stays; then a number is typed."""
    text = field.lineEdit().text()
    field.clear()
    field.stepUp()
    _turn_wheel(field)
    field.clear()
    field.lineEdit().setText(text)
    field.interpretText()


TOUCHES: tuple[tuple[type[QWidget] | UnionType, Callable[[Any], object]], ...] = (
    (LegendButton, _pass_over),
    (Panel | Scrubber | Landscape, _touch_painted),
    (TimePlot, _touch_time_plot),
    (SweepPlot, _touch_sweep_plot),
    (SweepCard, lambda card: QTest.keyClick(card, Qt.Key.Key_A)),
    (KernelButton, lambda button: QTest.mouseDClick(button, Qt.MouseButton.LeftButton)),
    (QDoubleSpinBox, _change_number),
    (QAbstractSpinBox, _leave_empty),
    (QTableView, sort_and_copy),
    (Scrolling, lambda area: _turn_wheel(area.viewport())),
    (DropDown, _open_and_close),
    (QuantityChooser | StripPlot, QWidget.updateGeometry),
)
"""What is done with a widget of each kind."""


def _edit(window: MainWindow, sessions: SessionsPage) -> None:
    """Choose a session, ask for its menu, change it, undo that and do it again."""
    sessions.table.sortByColumn(0, Qt.SortOrder.DescendingOrder)
    sessions.table.selectRow(0)
    QTest.keyClick(sessions.table, Qt.Key.Key_Right)
    beyond = QPoint(5, -5)  # all rows
    QTest.mouseClick(sessions.table.viewport(), Qt.MouseButton.LeftButton, pos=beyond)
    QTest.mouseDClick(sessions.table.viewport(), Qt.MouseButton.LeftButton, pos=beyond)
    sessions.table.selectRow(0)
    grab_whole(window)
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
        settle()
        act()
    edits.wait()


def _begin_note(window: MainWindow) -> None:
    """Ask for a note and leave it as it is."""
    dialog = NoteDialog(window, "a point", "words")
    dialog.show()
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    dialog.hide()
    dialog.deleteLater()


def _name_host(window: MainWindow, file: Path) -> None:
    """Drop a file on the dialog that connects, and leave it."""
    window.trigger("connect")
    dialog = window.findChild(ConnectDialog)
    assert dialog is not None
    _drag(dialog, file)
    QTest.keyClick(dialog, Qt.Key.Key_Escape)


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
    grab_whole(palette)
    palette.close()
    stepper = window.pages["stepper"]
    assert isinstance(stepper, StepperPage)
    QTest.keyClick(stepper.bar.field.edit, Qt.Key.Key_Left)


def _tour(window: MainWindow) -> None:
    """Take the tour, and leave it in its first step."""
    window.appearance.finish()  # what the stage has enlarged is being made smaller
    window.tour.begin()
    settle()
    grab_whole(window)
    window.tour.leave()


def _present(window: MainWindow) -> None:
    """Take the stage, open the notes and close them, blacken the screen, and leave."""
    window.show_page("profile")
    for key in ("stage", "stage.notes"):
        action = window.registry.find(key)
        assert action is not None
        action.trigger()
    notes = window.presenting.notes
    assert notes is not None
    notes.close()
    window.stage.blacken()
    grab_whole(window)
    window.stage.leave()
    settle()


def _walk(window: MainWindow) -> None:
    """Check a story, click through its first stop, and leave."""
    window.presenting.check("online-softmax")
    check = window.findChild(CheckDialog)
    assert check is not None
    check.close()
    window.presenting.present("online-softmax")
    handle = window.windowHandle()
    QTest.mouseClick(handle, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, QPoint(640, 400))
    window.stage.leave()
    settle()


def _write(window: MainWindow, file: Path) -> None:
    """Drop a story on the window in which stories are written, type, move a stop, and close it."""
    story = file.with_name("written.toml")
    for _ in range(2):
        add_stop(story, Stop("profile", session=file.name))
    editor = window.writing.editor
    editor.open()
    _drag(editor, story)
    settle()
    grab_whole(editor)
    stops = editor.stops.entries
    assert stops.supportedDropActions() == Qt.DropAction.MoveAction
    stops.moveRows(QModelIndex(), 0, 1, QModelIndex(), 2)
    QTest.keyClicks(editor.form.title, "z")
    editor.thumbnails.stop()
    editor.desk.begin()
    editor.close()
    settle()


def _drag(window: QWidget, file: Path) -> None:
    dragged = QMimeData()
    dragged.setUrls([QUrl.fromLocalFile(str(file))])
    how = (Qt.DropAction.CopyAction, dragged, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    middle = window.rect().center()
    QApplication.sendEvent(window, QDragEnterEvent(middle, *how))
    QApplication.sendEvent(window, QDragMoveEvent(middle, *how))
    grab_whole(window)
    QApplication.sendEvent(window, QDragLeaveEvent())
    QApplication.sendEvent(window, QDragEnterEvent(middle, *how))
    QApplication.sendEvent(window, QDropEvent(QPointF(middle), *how))
