import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pyqtgraph as pg
import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QInputDialog, QLineEdit, QMenu, QPlainTextEdit
from pytestqt.qtbot import QtBot

from app.pages import sessions
from app.pages.sessions import EMPTY, NOTHING_FOUND, SessionsPage
from app.pages.sessions_columns import COLUMNS
from app.pages.sessions_model import SessionsModel
from app.pages.sessions_table import hidden_text
from app.shell.main_window import MainWindow
from profiles.store import Recorder, change, list_sessions, load, sessions_dir
from profiles.wire.events import FailedStatus, PointFailed, PointStarted
from tests.app.fakes import PLAN, SECOND, sweep
from tests.app.shell.conftest import Rig, Save
from tests.app.test_trend import recorded

NAME, POINTS = 0, next(i for i, column in enumerate(COLUMNS) if column.title == "Points")


@pytest.fixture(autouse=True)
def nothing_comes_with_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "BUNDLED", tmp_path / "none")


@pytest.fixture
def window(rig: Rig) -> MainWindow:
    return rig.window()


@pytest.fixture
def page(window: MainWindow) -> SessionsPage:
    window.show_page("sessions")
    found = window.pages["sessions"]
    assert isinstance(found, SessionsPage)
    return found


def fill(page: SessionsPage, save: Save, qtbot: QtBot, *names: str) -> None:
    for place, name in enumerate(names, 1):
        save(sweep(points=None if place == 1 else place), name)
    listed(page, qtbot, len(names))


def listed(page: SessionsPage, qtbot: QtBot, count: int) -> None:
    page.refresh()
    qtbot.waitUntil(lambda: page.model.rowCount() == count, timeout=60_000)


def names(page: SessionsPage) -> list[str]:
    return [page.model.index(row, NAME).data() for row in range(page.model.rowCount())]


def choose(page: SessionsPage, name: str) -> None:
    page.table.selectRow(names(page).index(name))


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


def test_a_deleted_session_comes_back_with_undo(
    page: SessionsPage, window: MainWindow, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "one", "two")
    choose(page, "one")
    page.delete_chosen()
    qtbot.waitUntil(lambda: names(page) == ["two"], timeout=60_000)
    assert window.errors.text == "Deleted one. Ctrl+Z undoes it."
    window.errors._act_button.click()
    qtbot.waitUntil(lambda: sorted(names(page)) == ["one", "two"], timeout=60_000)


def test_a_renamed_session_keeps_its_file(
    page: SessionsPage, save: Save, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(page, save, qtbot, "one")
    choose(page, "one")
    monkeypatch.setattr(QInputDialog, "getText", lambda *_, **__: ("the good one", True))
    page.rename_chosen()
    qtbot.waitUntil(lambda: names(page) == ["the good one"], timeout=60_000)
    assert load(sessions_dir() / "one.flashscope").name == "the good one"


def test_a_note_is_written_into_the_file(
    page: SessionsPage, save: Save, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(page, save, qtbot, "one")
    choose(page, "one")
    monkeypatch.setattr(QInputDialog, "getMultiLineText", lambda *_, **__: ("before the fan broke", True))
    page.note_chosen()
    page.controller.edits.wait()
    assert load(sessions_dir() / "one.flashscope").note == "before the fan broke"


def answer(text: str | None) -> None:
    """Type this in place of what the dialog holds, once it is open, and accept it; None: as it is."""

    def act() -> None:
        dialog = QApplication.activeModalWidget()
        assert isinstance(dialog, QInputDialog)
        editor = dialog.findChild(QPlainTextEdit) or dialog.findChild(QLineEdit)
        assert isinstance(editor, QPlainTextEdit | QLineEdit)
        if text is not None:
            QApplication.clipboard().setText(text)
            editor.selectAll()
            editor.paste()
        dialog.accept()

    QTimer.singleShot(0, act)


def test_a_long_note_of_several_lines_is_kept_whole(page: SessionsPage, save: Save, qtbot: QtBot) -> None:
    fill(page, save, qtbot, "one")
    choose(page, "one")
    note = "a line\n" * 10_000
    answer(note)
    page.note_chosen()
    qtbot.waitUntil(lambda: load(sessions_dir() / "one.flashscope").note == note, timeout=60_000)


def test_a_name_or_a_note_left_as_it_is_changes_nothing(page: SessionsPage, save: Save, qtbot: QtBot) -> None:
    fill(page, save, qtbot, "one")
    choose(page, "one")
    before = (sessions_dir() / "one.flashscope").read_bytes()
    for ask in (page.rename_chosen, page.note_chosen):
        answer(None)
        ask()
    assert (sessions_dir() / "one.flashscope").read_bytes() == before
    assert load(sessions_dir() / "one.flashscope").name == ""


def test_a_note_that_is_too_long_is_refused_with_the_number(
    page: SessionsPage, window: MainWindow, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "one")
    choose(page, "one")
    answer("x" * 100_001)
    with qtbot.waitSignal(page.controller.error_raised, timeout=60_000):
        page.note_chosen()
    assert window.errors.text == "The note has 100001 characters; 100000 are allowed."


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


def test_a_finished_sweep_appears_in_the_list(
    page: SessionsPage, rig: Rig, window: MainWindow, qtbot: QtBot
) -> None:
    rig.controller.run(PLAN)
    rig.say(sweep())
    qtbot.waitUntil(lambda: page.model.rowCount() == 1, timeout=60_000)


LONG = "flash3 beside the libraries, second run after the driver update"


def elided(page: SessionsPage) -> list[str]:
    """The names, when the first column has no room for one of them."""
    fits = page.table.columnWidth(NAME) >= page.table.sizeHintForColumn(NAME)
    return [] if fits else names(page)


@pytest.mark.parametrize("percent", [100, 150])
def test_a_name_is_shown_whole_where_the_page_has_room_also_one_that_comes_later_or_after_a_zoom(
    window: MainWindow, page: SessionsPage, save: Save, qtbot: QtBot, percent: int
) -> None:
    window.resize(2600, 800)
    fill(page, save, qtbot, "short")
    save(sweep(points=2), LONG)
    listed(page, qtbot, 2)
    window.appearance.zoom(percent)
    window.appearance.finish()
    QApplication.processEvents()
    try:
        qtbot.waitUntil(lambda: elided(page) == [])
        assert page.table.horizontalScrollBar().maximum() == 0
    finally:
        window.appearance.zoom(100)
        window.appearance.finish()


def test_in_a_narrow_page_the_tip_has_the_whole_name_and_the_file(
    window: MainWindow, page: SessionsPage, save: Save, qtbot: QtBot
) -> None:
    window.resize(900, 700)
    fill(page, save, qtbot, LONG)
    index = page.model.index(0, NAME)
    assert elided(page) == [LONG]
    assert index.data(Qt.ItemDataRole.ToolTipRole).startswith(LONG)
    assert ".flashscope" in index.data(Qt.ItemDataRole.ToolTipRole)


@pytest.mark.parametrize("percent", [100, 150, 200])
def test_the_table_never_scrolls_sideways_and_says_which_columns_have_no_room(
    window: MainWindow, page: SessionsPage, save: Save, qtbot: QtBot, percent: int
) -> None:
    window.resize(1280, 720)
    fill(page, save, qtbot, LONG)
    window.appearance.zoom(percent)
    window.appearance.finish()
    QApplication.processEvents()
    try:
        assert page.table.horizontalScrollBar().maximum() == 0
        assert not page.table.isColumnHidden(NAME)
        hidden = [c.title for n, c in enumerate(COLUMNS) if page.table.isColumnHidden(n)]
        page.table.horizontalHeader().customContextMenuRequested.emit(QPoint(5, 5))
        (menu,) = page.table.findChildren(QMenu)
        assert [action.text() for action in menu.actions()] == hidden_text(hidden)
        menu.close()
        assert percent == 100 or hidden
    finally:
        window.appearance.zoom(100)
        window.appearance.finish()


def test_a_width_that_was_set_by_hand_stays(page: SessionsPage, save: Save, qtbot: QtBot) -> None:
    fill(page, save, qtbot, "short")
    page.table.horizontalHeader().resizeSection(NAME, 333)
    save(sweep(points=2), LONG)
    listed(page, qtbot, 2)
    assert page.table.columnWidth(NAME) == 333


def choose_all(page: SessionsPage, *wanted: str) -> None:
    infos = {names(page)[row]: info for row, info in enumerate(page.model.infos())}
    page.table.choose({infos[name].path for name in wanted})


def test_several_rows_are_deleted_at_once_and_come_back_at_once(
    page: SessionsPage, window: MainWindow, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "one", "two", "three")
    choose_all(page, "one", "three")
    page.delete_chosen()
    qtbot.waitUntil(lambda: names(page) == ["two"])
    assert window.errors.text == "Deleted 2 sessions. Ctrl+Z undoes it."
    page.controller.edits.undo()
    qtbot.waitUntil(lambda: set(names(page)) == {"one", "two", "three"})
    page.controller.edits.redo()
    qtbot.waitUntil(lambda: names(page) == ["two"])


def test_ctrl_and_shift_choose_more_rows_and_what_is_for_one_row_is_then_off(
    page: SessionsPage, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "one", "two", "three")
    page.table.selectAll()
    assert len(page.chosen_all()) == 3
    assert page.preview.words.text() == "3 sessions are chosen."
    enabled = {key for key, button in page._buttons.items() if button.isEnabled()}
    assert enabled == {"compare", "export", "tag", "copy", "delete", "restore"}


def test_rows_stay_chosen_when_the_list_is_read_again(page: SessionsPage, save: Save, qtbot: QtBot) -> None:
    fill(page, save, qtbot, "one", "two", "three")
    choose_all(page, "one", "two")
    save(sweep(points=1), "four")
    listed(page, qtbot, 4)
    assert {info.path.stem for info in page.chosen_all()} == {"one", "two"}


def test_tags_are_written_filtered_by_searched_and_undone(
    page: SessionsPage, save: Save, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(page, save, qtbot, "one", "two", "three")
    monkeypatch.setattr(QInputDialog, "getText", lambda *_, **__: ("release, night", True))
    choose_all(page, "one", "two")
    page.tag_chosen()
    qtbot.waitUntil(lambda: page.model.tags == ["night", "release"])
    monkeypatch.setattr(QInputDialog, "getText", lambda *_, **__: ("-night", True))
    choose_all(page, "one", "two")
    page.tag_chosen()
    qtbot.waitUntil(lambda: page.tag.count() == 2)
    page.tag.setCurrentIndex(1)
    assert set(names(page)) == {"one", "two"}
    page.tag.setCurrentIndex(0)
    page.search.setText("relea")
    assert set(names(page)) == {"one", "two"}
    page.search.clear()
    page.controller.edits.undo()
    page.controller.edits.undo()
    qtbot.waitUntil(lambda: page.model.tags == [])
    assert load(sessions_dir() / "one.flashscope").tags == ()


def test_the_name_of_the_session_on_show_follows_and_is_undone(
    page: SessionsPage, rig: Rig, save: Save, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(page, save, qtbot, "one")
    window = page.window()
    rig.open(sessions_dir() / "one.flashscope")
    choose(page, "one")
    monkeypatch.setattr(QInputDialog, "getText", lambda *_, **__: ("the good one", True))
    page.rename_chosen()
    qtbot.waitUntil(lambda: window.windowTitle() == "the good one – Flashscope")
    page.controller.edits.undo()
    qtbot.waitUntil(lambda: window.windowTitle() == "one – Flashscope")


def test_a_duplicate_appears_with_a_name_of_its_own(page: SessionsPage, save: Save, qtbot: QtBot) -> None:
    fill(page, save, qtbot, "one")
    choose(page, "one")
    page.copy_chosen()
    qtbot.waitUntil(lambda: set(names(page)) == {"one", "one (copy)"})


def test_the_preview_shows_curves_and_words_without_opening_the_session(
    page: SessionsPage, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "one")
    choose(page, "one")
    assert page.preview.name.text() == "one"
    assert page.preview.facts["Points"].text() == "6 done"
    qtbot.waitUntil(lambda: set(page.preview.thumbnail._curves) == {"standard", "flash2"})
    assert [n for n, _ms in page.preview.thumbnail._curves["flash2"]] == [256, 512, 1024]
    assert page.controller.session is None


def test_the_preview_counts_altered_points_and_does_not_draw_them(
    page: SessionsPage, save: Save, qtbot: QtBot
) -> None:
    with closing(sqlite3.connect(save(sweep(), "one"), isolation_level=None)) as connection:
        connection.execute("UPDATE samples SET ms = ms / 2 WHERE point < 2")
    listed(page, qtbot, 1)
    choose(page, "one")
    qtbot.waitUntil(lambda: page.preview.facts["Altered"].text().endswith("not as measured: 2"))
    assert page.preview.thumbnail.accessibleName().endswith("; 2 altered")
    assert sum(map(len, page.preview.thumbnail._curves.values())) == 4


def test_a_file_that_comes_or_goes_by_itself_is_seen(page: SessionsPage, save: Save, qtbot: QtBot) -> None:
    fill(page, save, qtbot, "one")
    path = save(sweep(points=1), "from elsewhere")
    qtbot.waitUntil(lambda: set(names(page)) == {"one", "from elsewhere"})
    path.unlink()
    qtbot.waitUntil(lambda: names(page) == ["one"])


def test_the_menu_of_a_row_has_the_actions_of_the_registry(
    page: SessionsPage, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "one")
    choose(page, "one")
    page._open_menu(page.mapToGlobal(page.rect().center()))
    (menu,) = page.findChildren(QMenu)
    offered = {action.title for action in page.actions_offered()}
    assert {action.text() for action in menu.actions()} < offered
    menu.actions()[-1].trigger()
    menu.close()
    qtbot.waitUntil(lambda: names(page) == [])


def test_a_change_that_another_program_came_before_is_told_and_nothing_overwritten(
    page: SessionsPage, window: MainWindow, save: Save, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(page, save, qtbot, "one")
    choose(page, "one")

    def meanwhile(*_: object, **__: object) -> tuple[str, bool]:
        change(sessions_dir() / "one.flashscope", "note", "theirs")
        return "mine", True

    monkeypatch.setattr(QInputDialog, "getMultiLineText", meanwhile)
    page.note_chosen()
    qtbot.waitUntil(lambda: "Another program has changed the note" in window.errors.text)
    assert load(sessions_dir() / "one.flashscope").note == "theirs"
    assert not page.controller.edits.stack.canUndo()


def test_sessions_over_time_are_drawn_a_curve_a_machine_and_a_click_opens_one(
    page: SessionsPage, window: MainWindow, qtbot: QtBot
) -> None:
    first = recorded(sessions_dir() / "a.flashscope", 3)
    recorded(sessions_dir() / "b.flashscope", 20, slower=2.0)
    recorded(sessions_dir() / "c.flashscope", 7, device="Another CPU")
    listed(page, qtbot, 3)
    page.over_time.click()

    def dots() -> list[Any]:
        return [one for one in page.trend.plot.plotItem.items if isinstance(one, pg.ScatterPlotItem)]

    qtbot.waitUntil(lambda: len(dots()) == 2)
    assert sorted(len(one.data) for one in dots()) == [1, 2]
    assert "Another CPU" in page.trend.legend.text()
    page.trend.quantity.setCurrentText("Speed-up")
    qtbot.waitUntil(lambda: page.trend.legend.text().startswith("Speed-up"))
    (entry, *_) = next(one for one in dots() if len(one.data) == 2).data["data"]
    with qtbot.waitSignal(window.controller.session_changed):
        page.trend.plot.entry_chosen.emit(entry)
    assert window.controller.path == first


def test_no_key_touches_sessions_whose_rows_are_not_on_show(
    page: SessionsPage, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "one", "two")
    choose(page, "one")
    page.over_time.click()
    assert page.chosen_all() == []
    assert page.chosen() is None
    assert not page._buttons["delete"].isEnabled()
    page.over_time.click()
    assert [info.path.stem for info in page.chosen_all()] == ["one"]


def test_over_time_a_message_below_leaves_the_page_unscrolled(
    page: SessionsPage, window: MainWindow, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "one")
    window.resize(1280, 720)
    page.over_time.click()
    window.errors.show_notice("A message.")
    QApplication.processEvents()
    assert window._frames["sessions"].verticalScrollBar().maximum() == 0


def test_over_time_begins_with_the_length_that_most_sessions_have(page: SessionsPage, qtbot: QtBot) -> None:
    for name, lengths in (("a", (256, 512)), ("b", (256, 512)), ("c", (4096,))):
        problems = tuple(replace(PLAN.problems[0], seqlen_q=n, seqlen_k=n) for n in lengths)
        recorded(sessions_dir() / f"{name}.flashscope", 3, plan=replace(PLAN, problems=problems))
    listed(page, qtbot, 3)
    page.over_time.click()
    assert page.trend.seqlen.currentData() == 512


def test_dates_of_sessions_are_moments_in_whatever_zone_they_were_written(
    page: SessionsPage, qtbot: QtBot
) -> None:
    later = recorded(sessions_dir() / "a.flashscope", 3, hour="10:00:00-05:00")
    sooner = recorded(sessions_dir() / "b.flashscope", 3, hour="12:00:00+02:00")
    listed(page, qtbot, 2)
    page.table.selectAll()
    with qtbot.waitSignal(page.comparison_wanted) as asked:
        page.compare_chosen()
    assert asked.args == [[sooner, later]], "the oldest is the baseline"


def test_a_date_that_no_clock_shows_is_drawn_all_the_same(page: SessionsPage, qtbot: QtBot) -> None:
    path = recorded(sessions_dir() / "a.flashscope", 3)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE session SET started_at = '0001-01-01T00:00:00'")
    listed(page, qtbot, 1)
    page.over_time.click()
    qtbot.waitUntil(lambda: page.trend.legend.text().startswith("Runtime"))


def test_a_preview_calls_nothing_running_that_nobody_records(page: SessionsPage, qtbot: QtBot) -> None:
    recorder = Recorder(sessions_dir() / "one.flashscope")
    for event in [*sweep(points=1), PointStarted(index=1, t_ns=9 * SECOND)]:
        recorder.record(event)
    points = page.preview.facts["Points"]
    listed(page, qtbot, 1)
    choose(page, "one")
    qtbot.waitUntil(lambda: bool(page.preview.facts["Problem"].text()))
    assert "1 running" in points.text()
    recorder.close()
    page.preview.show_infos(page.chosen_all())
    qtbot.waitUntil(lambda: "1 interrupted" in points.text())
    assert "running" not in points.text()
