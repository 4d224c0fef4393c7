"""Runs of one plan in one row of the Library: what it shows, how it unfolds, what is done with it."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from pytestqt.qtbot import QtBot

from flashscope.app.pages.sessions.model import SessionsModel
from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.dialogs.line import LineDialog
from flashscope.profiles.plan.run_mark import RunMark
from flashscope.profiles.store import SessionInfo, change, list_sessions, sessions_dir
from tests.app.fakes import sweep
from tests.app.pages.sessions.conftest import NAME, POINTS, listed, names
from tests.app.rig import Rig, Save
from tests.app.runs import save_runs

INFOS = st.builds(
    SessionInfo,
    path=st.builds(Path, st.text("pq-12", min_size=1, max_size=4)),
    size_bytes=st.just(1),
    id=st.sampled_from("123"),
    started_at=st.sampled_from(["2026-11-21T10:00:00+00:00", "2026-11-22T10:00:00+00:00"]),
    tags=st.lists(st.sampled_from(["one", "two"]), unique=True).map(tuple),
    run_mark=st.none()
    | st.builds(RunMark, family=st.sampled_from("ab"), run=st.integers(1, 3), of=st.just(3)),
)


@pytest.fixture
def folded(page: SessionsPage, save: Save, qtbot: QtBot) -> SessionsPage:
    """A page with a row of three runs, and a session that is alone, which is chosen by nobody."""
    save_runs("before")
    save(sweep(points=2), "alone")
    listed(page, qtbot, 2)
    return page


def choose_runs(page: SessionsPage) -> None:
    page.table.selectRow(next(row for row, name in enumerate(names(page)) if name.startswith("before ·")))


@given(st.lists(INFOS, unique_by=lambda info: info.path, max_size=10), st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_session_is_in_exactly_one_row_and_unfolding_shows_all(
    qapp: object, infos: list[SessionInfo], data: st.DataObject
) -> None:
    model = SessionsModel()
    model.show(infos)
    assert sorted(info.path for info in model.infos()) == sorted(info.path for info in infos)
    assert sum(len(row.runs) for row in model.rows()) == len(infos)
    for row in model.rows():
        if row.family is not None:
            model.unfold(row.family)
    alone = [row.key for row in model.rows() if row.family is None]
    assert sorted(map(str, alone)) == sorted(str(info.path) for info in infos)
    model.search("", data.draw(st.sampled_from(["", "one", "two"])))
    assert all(row.family is None or model.is_unfolded(row.family) for row in model.rows())


def test_the_model_keeps_qts_rules_while_it_folds_and_unfolds(qtbot: QtBot, qapp: object) -> None:
    model = SessionsModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    save_runs("before")
    model.show(list_sessions(sessions_dir()))
    assert model.rowCount() == 1
    family = model.row_at(0).family
    assert family is not None
    model.unfold(family)
    assert model.rowCount() == 4
    model.unfold(family, unfolded=False)
    assert model.rowCount() == 1


def test_runs_of_one_plan_are_one_row_with_their_number_and_the_newest_date(folded: SessionsPage) -> None:
    assert names(folded) == ["before · 3 runs", "alone"]
    row = folded.model.row_at(0)
    assert row.texts[2] == "2026-11-21 10:03"
    assert folded.model.index(0, POINTS).data() == "18"
    assert row.newest.path.stem == "before-3"


@pytest.mark.matrix
def test_a_row_with_runs_that_are_gone_says_how_many_there_were(page: SessionsPage, qtbot: QtBot) -> None:
    save_runs("before")[0].unlink()
    listed(page, qtbot, 1)
    assert names(page) == ["before · 2 of 3 runs"]


def test_right_unfolds_a_row_and_left_folds_it_again_also_from_a_run(folded: SessionsPage) -> None:
    choose_runs(folded)
    QTest.keyClick(folded.table, Qt.Key.Key_Right)
    assert names(folded) == ["before · 3 runs", *(f"run {n} · before-{n}" for n in (1, 2, 3)), "alone"]
    folded.table.selectRow(2)
    assert [info.path.stem for info in folded.chosen_all()] == ["before-2"]
    QTest.keyClick(folded.table, Qt.Key.Key_Left)
    assert names(folded) == ["before · 3 runs", "alone"]
    assert len(folded.chosen_all()) == 3


@pytest.mark.matrix
def test_a_click_on_the_arrow_unfolds_and_chooses_nothing_and_one_beside_it_chooses(
    folded: SessionsPage, window: MainWindow
) -> None:
    table = folded.table
    cell = table.visualRect(folded.model.index(0, NAME))
    arrow = table._arrow(0)
    assert cell.left() < arrow.right() < cell.left() + 60
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=arrow.center())
    assert len(names(folded)) == 5
    assert folded.chosen_all() == []
    QTest.mouseClick(
        table.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(arrow.right() + 40, arrow.center().y())
    )
    assert len(folded.chosen_all()) == 3


@pytest.mark.matrix
def test_what_is_unfolded_stays_so_while_the_list_is_read_again_and_other_views_are_shown(
    folded: SessionsPage, save: Save, qtbot: QtBot
) -> None:
    choose_runs(folded)
    window_action = folded.table.turn
    window_action()
    folded.show_view("trash")
    qtbot.waitUntil(lambda: not names(folded))
    folded.show_view("sessions")
    qtbot.waitUntil(lambda: len(names(folded)) == 5)
    save(sweep(points=1), "another")
    listed(folded, qtbot, 6)


@pytest.mark.matrix
def test_a_search_and_a_tag_that_find_one_run_find_its_row_with_all_runs(
    folded: SessionsPage, qtbot: QtBot
) -> None:
    change(sessions_dir() / "before-2.flashscope", "note", "a fan was loud")
    change(sessions_dir() / "before-2.flashscope", "tags", ("loud",))
    folded.refresh()
    qtbot.waitUntil(lambda: folded.tag.count() == 2)
    folded.search.setText("a fan")
    assert [len(row.runs) for row in folded.model.rows()] == [3]
    folded.search.setText("")
    folded.tag.setCurrentIndex(1)
    assert names(folded) == ["before · 3 runs"]


def test_a_deleted_row_of_runs_comes_back_whole(
    folded: SessionsPage, window: MainWindow, qtbot: QtBot
) -> None:
    choose_runs(folded)
    window.trigger("sessions.delete")
    qtbot.waitUntil(lambda: names(folded) == ["alone"])
    assert window.errors.text == "Deleted before, 3 runs. Ctrl+Z undoes it."
    folded.show_view("trash")
    qtbot.waitUntil(lambda: names(folded) == ["before · 3 runs"])
    folded.controller.edits.undo()
    qtbot.waitUntil(lambda: not names(folded))
    folded.show_view("sessions")
    qtbot.waitUntil(lambda: names(folded) == ["before · 3 runs", "alone"])


@pytest.mark.matrix
def test_a_new_name_and_new_tags_are_those_of_all_runs_and_one_undo_takes_them_back(
    folded: SessionsPage, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def names_and_tags() -> set[tuple[str, tuple[str, ...]]]:
        return {(info.name, info.tags) for info in list_sessions(sessions_dir()) if info.run_mark}

    choose_runs(folded)
    monkeypatch.setattr(LineDialog, "ask", lambda *_, **__: ("tuned", True))
    folded.rename_chosen()
    qtbot.waitUntil(lambda: names(folded)[0] == "tuned · 3 runs")
    folded.tag_chosen()
    qtbot.waitUntil(lambda: folded.model.tags == ["tuned"])
    assert names_and_tags() == {("tuned", ("tuned",))}
    folded.controller.edits.undo()
    qtbot.waitUntil(lambda: names_and_tags() == {("tuned", ())})
    folded.controller.edits.undo()
    qtbot.waitUntil(lambda: names_and_tags() == {("", ())})


@pytest.mark.matrix
def test_a_copied_row_of_runs_is_another_row_of_runs(folded: SessionsPage, qtbot: QtBot) -> None:
    choose_runs(folded)
    folded.copy_chosen()
    qtbot.waitUntil(lambda: len(names(folded)) == 3)
    folds = sorted(len(row.runs) for row in folded.model.rows())
    assert folds == [1, 3, 3]


def test_a_row_of_runs_opens_and_replays_the_newest(
    folded: SessionsPage, window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    choose_runs(folded)
    for key in ("open", "replay", "rename", "note", "delete"):
        assert folded._buttons[key].isEnabled()
    rig.opening(folded.open_chosen)
    assert window.controller.path == sessions_dir() / "before-3.flashscope"


@pytest.mark.matrix
def test_the_preview_of_a_row_of_runs_says_how_far_they_differ(folded: SessionsPage, qtbot: QtBot) -> None:
    choose_runs(folded)
    facts = folded.preview.facts
    assert facts["Runs"].text() == "3 runs of one plan; the curves are the newest's"
    qtbot.waitUntil(lambda: bool(facts["Between runs"].text()))
    assert facts["Between runs"].text() == "runtimes differ by 1.0% (standard deviation)"
    folded.table.selectRow(1)
    assert facts["Between runs"].text() == facts["Runs"].text() == ""
