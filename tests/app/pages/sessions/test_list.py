"""What the list of sessions shows, finds and sorts, and which rows are chosen in it."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot

from flashscope.app.pages.sessions.columns import COLUMNS
from flashscope.app.pages.sessions.model import SessionsModel
from flashscope.app.pages.sessions.page import EMPTY, NOTHING_FOUND, SessionsPage
from flashscope.app.shell.main_window import MainWindow
from flashscope.profiles.store import list_sessions, sessions_dir
from flashscope.profiles.wire.events import FailedStatus, PointFailed
from tests.app.fakes import PLAN, SECOND, sweep
from tests.app.pages.sessions.conftest import NAME, POINTS, choose, choose_all, fill, listed, names
from tests.app.rig import Rig, Save


def test_the_model_keeps_qts_rules(qtbot: QtBot, qapp: object, save: Save) -> None:
    model = SessionsModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    save(sweep(), "one")
    save(sweep(points=1), "two")
    model.show(list_sessions(sessions_dir()))
    assert model.rowCount() == 2
    model.show([])


def test_an_empty_folder_is_told_in_words(page: SessionsPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: page.words.text() == EMPTY, timeout=60_000)
    assert page.words.isVisible()


def test_columns_sort_by_value_not_by_text(page: SessionsPage, save: Save, qtbot: QtBot) -> None:
    fill(page, save, qtbot, "b", "a", "C")
    page.table.sortByColumn(NAME, Qt.SortOrder.AscendingOrder)
    assert names(page) == ["a", "b", "C"]


def test_the_search_finds_in_every_column_and_says_when_it_finds_nothing(
    page: SessionsPage, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "apples", "pears")
    page.search.setText("APPL")
    assert names(page) == ["apples"]
    page.search.setText("flash2")
    assert len(names(page)) == 2
    page.search.setText("zebra")
    assert page.words.isVisible()
    assert page.words.text() == NOTHING_FOUND


def test_opening_a_row_shows_its_session(
    page: SessionsPage, window: MainWindow, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "one")
    choose(page, "one")
    with qtbot.waitSignal(window.controller.session_changed, timeout=30_000):
        page.open_chosen()
    assert window.controller.path == sessions_dir() / "one.flashscope"
    assert window.page.key == "profile"


def test_a_file_that_cannot_be_read_is_listed_with_the_reason(
    page: SessionsPage, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "good")
    (sessions_dir() / "bad.flashscope").write_bytes(b"no session")
    listed(page, qtbot, 2)
    choose(page, "bad")
    info = page.chosen()
    assert info is not None
    assert "bad.flashscope" in info.error
    shown = page.table.selectionModel().selectedRows(len(COLUMNS) - 1)[0].data()
    assert shown == "This file is not a Flashscope session; choose a .flashscope file."
    assert not page._buttons["replay"].isEnabled()


@pytest.mark.matrix
def test_a_replay_starts_from_the_chosen_row(
    page: SessionsPage, window: MainWindow, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "one")
    choose(page, "one")
    page.speed.setCurrentIndex(page.speed.count() - 1)
    page.replay_chosen()
    qtbot.waitUntil(lambda: window.controller.replaying, timeout=30_000)
    qtbot.waitUntil(lambda: window.top_bar.badge.text().startswith("REPLAY · CPU"), timeout=60_000)
    window.controller.cancel()
    assert window.top_bar.badge.text().startswith("SAVED · CPU")


@pytest.mark.parametrize(("status", "told"), [("will-not-fit", "6"), ("unsupported", "6"), ("oom", "5 of 6")])
def test_a_point_that_was_known_not_to_fit_is_answered_and_one_that_failed_is_not(
    save: Save, status: FailedStatus, told: str
) -> None:
    *events, ending = sweep()
    failed = PointFailed(index=len(PLAN.points()) - 1, t_ns=SECOND, status=status, reason="Too large.")
    save([event for event in events if getattr(event, "index", None) != failed.index] + [failed, ending], "a")
    model = SessionsModel()
    model.show(list_sessions(sessions_dir()))
    assert model.index(0, POINTS).data() == told


@pytest.mark.matrix  # it takes a second
def test_a_finished_sweep_appears_in_the_list(
    page: SessionsPage, rig: Rig, window: MainWindow, qtbot: QtBot
) -> None:
    rig.controller.run(PLAN)
    rig.say(sweep())
    qtbot.waitUntil(lambda: page.model.rowCount() == 1, timeout=60_000)


@pytest.mark.matrix
def test_ctrl_and_shift_choose_more_rows_and_what_is_for_one_row_is_then_off(
    page: SessionsPage, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "one", "two", "three")
    page.table.selectAll()
    assert len(page.chosen_all()) == 3
    assert page.preview.words.text() == "3 sessions are chosen."
    enabled = {key for key, button in page._buttons.items() if button.isEnabled()}
    assert enabled == {"compare", "export", "tag", "join", "copy", "delete"}


@pytest.mark.matrix
def test_rows_stay_chosen_when_the_list_is_read_again(page: SessionsPage, save: Save, qtbot: QtBot) -> None:
    fill(page, save, qtbot, "one", "two", "three")
    choose_all(page, "one", "two")
    save(sweep(points=1), "four")
    listed(page, qtbot, 4)
    assert {info.path.stem for info in page.chosen_all()} == {"one", "two"}


@pytest.mark.matrix
def test_a_file_that_comes_or_goes_by_itself_is_seen(page: SessionsPage, save: Save, qtbot: QtBot) -> None:
    fill(page, save, qtbot, "one")
    path = save(sweep(points=1), "from elsewhere")
    qtbot.waitUntil(lambda: set(names(page)) == {"one", "from elsewhere"})
    path.unlink()
    qtbot.waitUntil(lambda: names(page) == ["one"])


@pytest.mark.matrix
def test_the_menu_of_a_row_has_the_actions_of_the_registry(
    page: SessionsPage, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "one")
    choose(page, "one")
    page._open_menu(page.mapToGlobal(page.rect().center()))
    (menu,) = page.findChildren(QMenu, options=Qt.FindChildOption.FindDirectChildrenOnly)
    offered = {action.title for action in page.actions_offered()}
    assert {action.text() for action in menu.actions()} < offered
    menu.actions()[-1].trigger()
    menu.close()
    qtbot.waitUntil(lambda: names(page) == [])
