"""Notes on points and moments, on the Profile page."""

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.profile.notes import NO_MOMENT, NO_POINT
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.dialogs.note import NoteDialog
from flashscope.profiles.results.model.bookmarks import Bookmark
from flashscope.profiles.store import load
from tests.app.bench import selected
from tests.app.fakes import SECOND, sweep
from tests.app.rig import Rig, Save

HOSTILE = "<img src=x onerror=1><b>why</b> =1+1"


@pytest.fixture
def path(save: Save) -> Path:
    return save(sweep(), "a")


@pytest.fixture
def window(rig: Rig, path: Path) -> MainWindow:
    shown = rig.window()
    rig.open(path)
    return shown


@pytest.fixture
def page(window: MainWindow, qtbot: QtBot) -> ProfilePage:
    found = window.pages["profile"]
    assert isinstance(found, ProfilePage)
    found._turns.finish()
    found.show_view("results")
    qtbot.waitUntil(lambda: found.bottom.table.proxy.rowCount() == 6)
    return found


def say(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(NoteDialog, "ask", lambda *_: (text, True))


def test_a_note_on_a_point_is_kept_listed_undone_and_leads_back_to_it(
    page: ProfilePage, path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes, table = page.bottom.notes, page.bottom.table
    table.choose_point(3)
    say(monkeypatch, HOSTILE)
    notes.note_point()
    qtbot.waitUntil(lambda: notes.list.count() == 1)
    told = notes.list.item(0).text()
    assert told.startswith(("standard at N =", "flash2 at N ="))
    assert told.endswith(HOSTILE)
    assert load(path).bookmarks == (Bookmark(point=3, text=HOSTILE),)
    table.choose_point(0)
    notes.list.setCurrentRow(0)
    notes._go()
    assert [row.point.index for row in selected(page)] == [3]
    notes.delete()
    qtbot.waitUntil(lambda: notes.list.count() == 0)
    page.controller.edits.undo()
    qtbot.waitUntil(lambda: notes.list.count() == 1)
    assert load(path).bookmarks == (Bookmark(point=3, text=HOSTILE),)


@pytest.mark.matrix
def test_a_note_on_a_moment_is_set_by_a_click_and_goes_there(
    page: ProfilePage, window: MainWindow, path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes, strip = page.bottom.notes, page.bottom.strip
    notes.note_moment()
    assert window.errors.text == NO_MOMENT
    page.show_view("telemetry")
    page._turns.finish()
    lane = strip.lanes["memory_used"]
    place = lane.viewport().rect().center() + QPoint(40, 0)
    QTest.mouseClick(lane.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.waitUntil(lambda: notes.at_s is not None)
    say(monkeypatch, "the fan starts")
    notes.note_moment()
    qtbot.waitUntil(lambda: notes.list.count() == 1)
    (one,) = load(path).bookmarks
    assert one.t_ns is not None
    assert 0 < one.t_ns < 8 * SECOND
    strip.time.moment.show_at(None)
    page.show_view("notes")
    notes.list.setCurrentRow(0)
    notes._go()
    assert page.bottom.part == "telemetry"
    assert strip.time.moment.at_s == pytest.approx(one.t_ns / SECOND)


@pytest.mark.matrix
def test_a_note_leads_a_replay_to_its_moment_and_to_the_end_of_its_point(
    page: ProfilePage,
    rig: Rig,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    notes = page.bottom.notes
    say(monkeypatch, "here")
    page.bottom.table.choose_point(3)
    notes.note_point()
    notes.at_s = 5.25
    notes.note_moment()
    qtbot.waitUntil(lambda: notes.list.count() == 2)
    rig.controller.replay(1.0)
    playback = rig.controller.playback
    assert playback is not None
    playback.set_playing(False)
    qtbot.waitUntil(lambda: notes.list.count() == 2)
    page._turns.finish()
    for place, moment in ((1, playback.session.t0_ns + 5_250_000_000), (0, playback.events.end_of(3))):
        notes.list.setCurrentRow(place)
        notes._go()
        assert playback.at_ns == moment
        page._turns.finish()
    assert notes.at_s == page.bottom.strip.time.moment.at_s == 5.25
    assert [row.point.index for row in selected(page)] == [3]


@pytest.mark.matrix
def test_an_edited_note_keeps_its_place(
    page: ProfilePage, path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.bottom.table.choose_point(1)
    for words, act in (("one", page.bottom.notes.note_point), ("two", page.bottom.notes.edit)):
        say(monkeypatch, words)
        page.bottom.notes.list.setCurrentRow(0)
        act()
        qtbot.waitUntil(lambda words=words: [b.text for b in load(path).bookmarks] == [words])  # type: ignore[misc]
        qtbot.waitUntil(lambda: page.bottom.notes.list.count() == 1)
    assert load(path).bookmarks == (Bookmark(point=1, text="two"),)


@pytest.mark.matrix
def test_without_a_chosen_point_it_is_said_how_to_choose_one(page: ProfilePage, window: MainWindow) -> None:
    page.bottom.notes.note_point()
    assert window.errors.text == NO_POINT
