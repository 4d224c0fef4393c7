"""What stands in a file is shown as it stands: no widget takes it for markup, a picture or a mnemonic."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import Qt as QtText
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QGraphicsTextItem,
    QLabel,
    QMenu,
    QToolTip,
)
from pytestqt.qtbot import QtBot

from flashscope import app
from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.pages.sessions.rows import SessionRow
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.dialogs.line import LineDialog
from flashscope.app.widgets.plain import FormulaLabel, PlainLabel, plain_tip
from flashscope.app.words.plain import cut_short, unbroken
from flashscope.profiles.store import SessionInfo, sessions_dir
from tests.app.hostile import hostile_file
from tests.app.rig import Rig
from tests.app.shell.shown import every, items, texts, tool_tips, window_full_of
from tests.matrix import chosen

SOURCE = Path(app.__file__).parent
MARKUP = "<img src=nowhere>&lt;<b>bold</b> &x"
TURNING = "fdp\u202e \u2066\u200f\u061c.exe"
TURNS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # Unicode's Bidi_Control
rich = QtText.mightBeRichText


@pytest.mark.matrix
def test_no_text_of_a_file_is_taken_for_markup_or_underlines_a_letter(rig: Rig, qtbot: QtBot) -> None:
    """One window serves them all: to fill it takes more than a second."""
    window = window_full_of(MARKUP, rig, qtbot)
    no_label_takes_a_text_for_markup()
    no_tool_tip_is_taken_for_markup(window)
    no_text_in_a_plot_is_markup(window)
    an_ampersand_in_a_name_underlines_nothing(window)


def no_label_takes_a_text_for_markup() -> None:
    texts = every(QLabel)
    assert any("<img" in label.text() for label in texts)
    formulas = [label.text() for label in texts if isinstance(label, FormulaLabel)]
    assert any("&lt;img" in text for text in formulas)  # in a title; an engine's answer is plain text
    assert not [text for text in formulas if "<img" in text or "<b>" in text]
    others = [label for label in texts if not isinstance(label, FormulaLabel)]
    taken = [t.text() for t in others if t.textFormat() != Qt.TextFormat.PlainText and rich(t.text())]
    assert not taken


def no_tool_tip_is_taken_for_markup(window: MainWindow) -> None:
    tips = tool_tips(window)
    assert sum("img src" in tip for tip in tips) >= 10
    assert not [tip for tip in tips if rich(tip)]


def no_text_in_a_plot_is_markup(window: MainWindow) -> None:
    texts = [item.document().toHtml() for item in items(window) if isinstance(item, QGraphicsTextItem)]
    assert texts
    assert not [text for text in texts if "<img" in text or "font-weight:700" in text]


def an_ampersand_in_a_name_underlines_nothing(window: MainWindow) -> None:
    buttons = [button.text() for button in every(QAbstractButton)]
    actions = [action.text() for menu in window.findChildren(QMenu) for action in menu.actions()]
    assert any("&&" in text for text in buttons)
    assert not [text for text in [*buttons, *actions] if re.search("&", text.replace("&&", ""))]


@given(st.lists(st.text(st.sampled_from("<>&;!?/ \nltimgxb=")) | st.just(MARKUP), min_size=1, max_size=3))
def test_tips_are_plain_also_when_they_are_joined(texts: list[str]) -> None:
    assert not rich("\n\n".join(map(plain_tip, texts)))


@given(st.text(st.sampled_from("<>&;!b \n"), max_size=30))
def test_a_tip_says_what_it_was_given(text: str) -> None:
    assert plain_tip(text).replace("\u2060", "").split() == text.split()


def test_a_tip_is_shown_without_a_picture(qtbot: QtBot, qapp: QApplication) -> None:
    label = PlainLabel(MARKUP)
    qtbot.addWidget(label)
    QToolTip.showText(QPoint(1, 1), plain_tip(MARKUP), label)
    shown = [w for w in qapp.allWidgets() if w.inherits("QTipLabel") and isinstance(w, QLabel)]
    assert [rich(tip.text()) for tip in shown] == [False]
    QToolTip.hideText()


@pytest.mark.matrix
def test_nothing_in_a_name_turns_the_direction_of_a_line(rig: Rig, qtbot: QtBot) -> None:
    window = window_full_of(TURNING, rig, qtbot)
    rig.open(hostile_file(sessions_dir() / f"{TURNING}.flashscope", TURNING))
    assert "fdp" in window.windowTitle()
    for kind, shown in texts(window, rows=2).items():
        assert kind in {"action", "field", "plot"} or any("fdp" in text for text in shown), kind
        assert not [text for text in shown if TURNS.search(text)], kind


@chosen("name", ["a\u202efdp.exe", "\u05d0\u05d1 12", "\u2067x\u2069"], {"a\u202efdp.exe"})
def test_a_name_is_offered_for_change_as_it_is_shown_and_left_so_stays_what_it_was(
    name: str, rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = rig.window().pages["sessions"]
    assert isinstance(page, SessionsPage)
    offered: list[str] = []

    def ask(*_where: object, text: str, most: int) -> tuple[str, bool]:
        assert most >= len(text)
        offered.append(text)
        return text, True

    row = SessionRow.of(SessionInfo(path=Path("a"), size_bytes=0, name=name))
    monkeypatch.setattr(page, "chosen_row", lambda: row)
    monkeypatch.setattr(page.controller.edits, "do", _never)
    monkeypatch.setattr(LineDialog, "ask", ask)
    page.rename_chosen()
    assert offered == [cut_short(name)]


def _never(_words: str, _steps: object) -> None:
    pytest.fail("what was left as it is was changed")


def calls() -> Iterator[tuple[str, str]]:
    """Every call in the window's code: the file, and the name that is called."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                yield path.relative_to(SOURCE).as_posix(), called


@pytest.mark.matrix
def test_the_buttons_of_every_dialog_come_from_one_place() -> None:
    assert [file for file, called in calls() if called == "QDialogButtonBox"] == []


OWNERS = {  # what takes text for markup, and the modules that may call it
    "QLabel": (),
    "QElidingLabel": (),
    "QTextEdit": (),
    "QTextBrowser": (),
    "QToolTip": (),
    "setToolTip": ("widgets/plain.py",),
    "setTabToolTip": ("widgets/frame/place_tabs.py",),
    "setWhatsThis": (),
    "setHtml": (),
    "appendHtml": (),
    "insertHtml": (),
    "QStaticText": ("plots/stepper/panel.py",),  # formulas
    "setTextFormat": ("plots/stepper/panel.py", "widgets/elided.py", "widgets/dialogs/question.py"),
}


@pytest.mark.matrix
def test_nothing_that_reads_markup_is_called_but_where_the_text_is_made_plain() -> None:
    called = set(calls())
    assert ("widgets/plain.py", "setToolTip") in called
    assert not {(path, name) for path, name in called if name in OWNERS and path not in OWNERS[name]}


def test_a_line_is_not_broken_between_a_figure_and_its_unit() -> None:
    bound = unbroken(
        "16.1 GiB in 8.32 ms, 4.27 TB/s and 93% of 32 heads at N = 16k, ℓ = 1.2, 8 tiles, 2× less"
    )
    words = "16.1_GiB in 8.32_ms, 4.27_TB/s and 93% of 32 heads at N_=_16k, ℓ_=_1.2, 8_tiles, 2×_less"
    assert bound == words.replace("_", "\N{NO-BREAK SPACE}")
