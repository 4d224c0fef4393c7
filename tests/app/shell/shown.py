"""Everything that a window shows, found in it."""

from collections.abc import Iterator
from typing import TypeVar

from numpy import ndarray
from pyqtgraph import ScatterPlotItem
from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QGraphicsItem,
    QGraphicsTextItem,
    QGraphicsView,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTableView,
    QWidget,
)
from pytestqt.qtbot import QtBot

from flashscope.app.control.own.sources import Sources, Unreadable
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.registry import VIEWS
from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.shots import grab_whole
from flashscope.app.stage.story import Stop
from flashscope.app.stage.writing import add_stop
from flashscope.app.widgets.frame.palette import CommandPalette
from flashscope.app.widgets.frame.shortcut_sheet import ShortcutSheet
from flashscope.kernels.catalogue.own_kernel import OwnKernel
from flashscope.profiles.store import sessions_dir
from flashscope.profiles.wire.events import LogLine, RequestFailed, TraceReady
from tests.app.hostile import hostile_file, hostile_machine, hostile_trace
from tests.app.rig import Rig


def window_full_of(text: str, rig: Rig, qtbot: QtBot) -> MainWindow:
    """A window on a machine of this text, with a file of it open, in which everything was shown once."""
    path = hostile_file(sessions_dir() / f"A&B <b>{len(text)}.flashscope", text)
    rig.engine.machine = hostile_machine(text)
    window = rig.window()
    rig.open(path)
    sessions = window.pages["sessions"]
    assert isinstance(sessions, SessionsPage)
    qtbot.waitUntil(lambda: sessions.model.rowCount() > 0)
    rig.say([TraceReady(trace=hostile_trace(text))])
    window.log.append(LogLine(source=text, text=text))
    window.log.show()
    window.errors.show_error(text, text)
    bring_kernels(window, text)
    for key in VIEWS:
        window.show_page(key)
        grab_whole(window)
    open_everything(window, text)
    stepper = window.pages["stepper"]
    assert isinstance(stepper, StepperPage)
    stepper.ask()
    rig.say([RequestFailed(request="trace", reason=text, detail=text)])
    return window


def bring_kernels(window: MainWindow, text: str) -> None:
    """A kernel of the user's own that says this of itself, and a file that declares none."""
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    path = f"/{text[:4000]}.py" if text.isprintable() else "/mine.py"
    own = OwnKernel(
        name="mine",
        path=path,
        sha256=64 * "0",
        function="attend",
        idea=text,
        backends=("cpu",),
        dtypes=("float32",),
    )
    page.own.bring([own])
    page.own.show_around(Sources((), (Unreadable(text, text, text),)))


def open_everything(window: MainWindow, text: str) -> None:
    """Every menu, list and dialog that the window has, and a story of this text."""
    story = sessions_dir() / "a story.toml"
    name, words = text[:100], f"{text[:1900]} {{n}}"
    add_stop(
        story, Stop("profile", name, kernels=(name,), baseline=name, sentence=words, notes=text[:20_000])
    )
    window.writing.edit(story)
    window.writing.editor.form.sentence.menu().aboutToShow.emit()
    window.writing.editor.menu().aboutToShow.emit()
    ShortcutSheet(window.registry, window).show()
    CommandPalette(window.registry, window).open_over(window)
    window.errors._show_details()
    window.top_bar.menu().aboutToShow.emit()
    for menu in window.findChildren(QMenu):
        menu.aboutToShow.emit()
    window.errors.offer(text, lambda: None)


W = TypeVar("W", bound=QWidget)


def every(kind: type[W]) -> list[W]:
    """Every widget of a kind, in all windows."""
    found = [widget for widget in QApplication.allWidgets() if isinstance(widget, kind)]
    assert found, f"no {kind.__name__} was looked at"
    return found


def items(window: MainWindow) -> Iterator[QGraphicsItem]:
    for view in window.findChildren(QGraphicsView):
        yield from view.scene().items()


def texts(window: MainWindow, rows: int) -> dict[str, list[str]]:
    """The texts that each kind of widget lays out; of every table these many rows."""
    tables = [view.model() for view in window.findChildren(QTableView)]
    boxes = window.findChildren(QComboBox)
    return {
        "label": [label.text() for label in every(QLabel)],
        "button": [button.text() for button in every(QAbstractButton)],
        "action": [action.text() for action in window.findChildren(QAction)],
        "choice": [box.itemText(place) for box in boxes for place in range(box.count())],
        "cell": [
            str(m.index(r, c).data()) for m in tables for r in range(rows) for c in range(m.columnCount())
        ],
        "plot": [item.toPlainText() for item in items(window) if isinstance(item, QGraphicsTextItem)],
        "tip": tool_tips(window),
        "line": [line for edit in every(QPlainTextEdit) for line in edit.toPlainText().splitlines()],
        "field": [edit.text() for edit in every(QLineEdit)],
        "title": [widget.windowTitle() for widget in QApplication.topLevelWidgets()],
    }


def cells(model: QAbstractItemModel) -> Iterator[object]:
    """What a model gives for a tool tip, of cells and headings."""
    tip = Qt.ItemDataRole.ToolTipRole
    for row in range(model.rowCount()):
        yield from (model.index(row, column).data(tip) for column in range(model.columnCount()))
    yield from (
        model.headerData(column, Qt.Orientation.Horizontal, tip) for column in range(model.columnCount())
    )


def tool_tips(window: MainWindow) -> list[str]:
    """Every tool tip that there is."""
    widgets = QApplication.allWidgets()
    models = [w.model() for w in widgets if isinstance(w, QTableView | QComboBox)]
    found: list[object] = [widget.toolTip() for widget in widgets]
    found += [item.toolTip() for item in items(window)]
    found += [action.toolTip() for action in window.findChildren(QAction)]
    found += [tip for model in models if model is not None for tip in cells(model)]
    for item in items(window):
        if isinstance(item, ScatterPlotItem) and isinstance(item.data["data"], ndarray):
            found += [item.opts["tip"](x=0.0, y=0.0, data=data) for data in item.data["data"] if data]
    return [tip for tip in found if isinstance(tip, str) and tip]
