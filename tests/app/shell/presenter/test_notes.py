"""The speaker's notes, and stops of one's own."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.shell.main_window import MainWindow
from flashscope.app.stage.story import read_story
from tests.app.rig import Rig
from tests.app.shell.presenter.conftest import Key, press, profile


@pytest.mark.matrix
def test_n_opens_the_speakers_notes_which_walk_the_stops_too(staged: MainWindow) -> None:
    press(staged, Key.Key_N)
    notes = staged.presenting.notes
    assert notes is not None
    told = notes.title.text(), notes.notes.toPlainText(), notes.next.text()
    assert told == ("1. footprint", "About footprint.", "Next: runtime")
    notes.activateWindow()
    press_in(notes, Key.Key_PageDown)
    press_in(notes, Key.Key_PageDown)
    assert staged.stage.at == 2
    assert notes.next.text() == "The end"
    staged.activateWindow()
    press(staged, Key.Key_Escape)
    assert staged.presenting.notes is None


def press_in(window: QWidget, key: Qt.Key) -> None:
    QTest.keyClick(window, key)


@pytest.mark.matrix
def test_what_is_on_show_can_be_added_as_a_stop_and_is_shown_by_it(
    staged: MainWindow, rig: Rig, qtbot: QtBot, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    press(staged, Key.Key_Escape)
    staged.show_page("profile")
    seqlen = profile(staged).plots.seqlen  # as it was before the stage
    target = home / "mine"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_k: (str(target), ""))
    add = staged.registry.find("stage.add")
    assert add is not None
    add.trigger()
    added = read_story(target.with_suffix(".toml"))
    stop = added.stops[0]
    assert (stop.page, stop.quantity, stop.seqlen) == ("profile", ("footprint", "runtime"), seqlen)
    assert added.session_of(stop) is not None
    assert staged.errors.text == "Stop 1 of mine.toml."
    staged.stage.enter(added)
    qtbot.waitUntil(lambda: staged.stage.stop is stop)
    assert "flash2 takes" in staged.stage.frame.sentence.text()


def test_a_story_that_cannot_be_read_is_told_and_nothing_is_presented(
    window: MainWindow,
) -> None:
    window.presenting.present("gone.toml")
    assert not window.stage.on
    assert "gone.toml" in window.errors.text
