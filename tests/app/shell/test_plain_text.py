"""What stands in a file is shown as it stands: no widget takes it for markup, a picture or a mnemonic."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy import ndarray
from pyqtgraph import ScatterPlotItem
from PySide6.QtCore import QAbstractItemModel, QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtGui import Qt as QtText
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QGraphicsItem,
    QGraphicsTextItem,
    QGraphicsView,
    QLabel,
    QMenu,
    QTableView,
    QToolTip,
    QWidget,
)
from pytestqt.qtbot import QtBot

import app
from app.pages.sessions import SessionsPage
from app.shell.main_window import MainWindow
from app.shell.shots import picture
from app.widgets.palette import CommandPalette
from app.widgets.plain import Label, plain_tip
from app.widgets.shortcut_sheet import ShortcutSheet
from profiles.store import sessions_dir
from profiles.wire.events import LogLine
from tests.app.hostile import hostile_file, hostile_machine
from tests.app.shell.conftest import Rig

SOURCE = Path(app.__file__).parent
MARKUP = "<img src=nowhere>&lt;<b>bold</b> &x"
rich = QtText.mightBeRichText


@pytest.fixture
def hostile_window(rig: Rig, qtbot: QtBot) -> MainWindow:
    """A window with the hostile file open, on a hostile machine, in which everything was shown once."""
    path = hostile_file(sessions_dir() / "A&B <b>c.flashscope", MARKUP)
    rig.engine.machine = hostile_machine(MARKUP)
    window = rig.window()
    rig.open(path)
    sessions = window.pages["sessions"]
    assert isinstance(sessions, SessionsPage)
    qtbot.waitUntil(lambda: sessions.model.rowCount() > 0)
    window.log.append(LogLine(source=MARKUP, text=MARKUP))
    window.log.show()
    window.errors.show_error(MARKUP, MARKUP)
    for key in window.pages:
        window.show_page(key)
        picture(window)
    open_everything(window)
    return window


def open_everything(window: MainWindow) -> None:
    """Every menu, list and dialog that the window has."""
    ShortcutSheet(window.registry, window).show()
    CommandPalette(window.registry, window).open_over(window)
    window.errors._show_details()
    window.top_bar.menu().aboutToShow.emit()
    for menu in window.findChildren(QMenu):
        menu.aboutToShow.emit()
    window.errors.offer(MARKUP, lambda: None)


def every(window: MainWindow, kind: type[QWidget]) -> list[QWidget]:
    found = [widget for widget in QApplication.allWidgets() if isinstance(widget, kind)]
    assert found, f"no {kind.__name__} was looked at"
    return found


def items(window: MainWindow) -> Iterator[QGraphicsItem]:
    for view in window.findChildren(QGraphicsView):
        yield from view.scene().items()


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


def test_no_label_takes_a_text_for_markup(hostile_window: MainWindow) -> None:
    texts = [label for label in every(hostile_window, QLabel) if isinstance(label, QLabel)]
    assert any("<img" in label.text() for label in texts)
    taken = [t for t in texts if t.textFormat() != Qt.TextFormat.PlainText and rich(t.text())]
    assert not taken, [t.text() for t in taken]


def test_no_tool_tip_is_taken_for_markup(hostile_window: MainWindow) -> None:
    tips = tool_tips(hostile_window)
    assert sum("img src" in tip for tip in tips) >= 10
    assert not [tip for tip in tips if rich(tip)]


def test_no_text_in_a_plot_is_markup(hostile_window: MainWindow) -> None:
    texts = [
        item.document().toHtml() for item in items(hostile_window) if isinstance(item, QGraphicsTextItem)
    ]
    assert texts
    assert not [text for text in texts if "<img" in text or "font-weight:700" in text]


def test_an_ampersand_in_a_name_underlines_nothing(hostile_window: MainWindow) -> None:
    buttons = [b.text() for b in every(hostile_window, QAbstractButton) if isinstance(b, QAbstractButton)]
    actions = [action.text() for menu in hostile_window.findChildren(QMenu) for action in menu.actions()]
    assert any("&&" in text for text in buttons)
    assert not [text for text in [*buttons, *actions] if re.search("&", text.replace("&&", ""))]


@given(st.lists(st.text(st.sampled_from("<>&;!?/ \nltimgxb=")) | st.just(MARKUP), min_size=1, max_size=3))
def test_tips_are_plain_also_when_they_are_joined(texts: list[str]) -> None:
    assert not rich("\n\n".join(map(plain_tip, texts)))


@given(st.text(st.sampled_from("<>&;!b \n"), max_size=30))
def test_a_tip_says_what_it_was_given(text: str) -> None:
    assert plain_tip(text).replace("\u2060", "").split() == text.split()


def test_a_tip_is_shown_without_a_picture(qtbot: QtBot, qapp: QApplication) -> None:
    label = Label(MARKUP)
    qtbot.addWidget(label)
    QToolTip.showText(QPoint(1, 1), plain_tip(MARKUP), label)
    shown = [w for w in qapp.allWidgets() if w.inherits("QTipLabel") and isinstance(w, QLabel)]
    assert [rich(tip.text()) for tip in shown] == [False]
    QToolTip.hideText()


def calls() -> Iterator[tuple[str, str]]:
    """Every call in the window's code: the file, and the name that is called."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                yield path.relative_to(SOURCE).as_posix(), called


OWNERS = {  # what takes text for markup, and the modules that may call it
    "QLabel": (),
    "QElidingLabel": (),
    "QTextEdit": (),
    "QTextBrowser": (),
    "QToolTip": (),
    "setToolTip": ("widgets/plain.py",),
    "setTabToolTip": (),
    "setWhatsThis": (),
    "setHtml": (),
    "appendHtml": (),
    "insertHtml": (),
    "QStaticText": ("plots/stepper/panel.py",),  # formulas
    "setTextFormat": ("plots/stepper/panel.py", "widgets/elided.py", "shell/main_window.py"),
}


def test_nothing_that_reads_markup_is_called_but_where_the_text_is_made_plain() -> None:
    called = set(calls())
    assert ("widgets/plain.py", "setToolTip") in called
    assert not {(path, name) for path, name in called if name in OWNERS and path not in OWNERS[name]}
