"""Sessions over time, and the moments they are put at."""

import sqlite3
from contextlib import closing
from typing import Any

import pyqtgraph as pg
import pytest
from msgspec.structs import replace
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from flashscope.app.pages.sessions.page import SessionsPage
from flashscope.app.pages.sessions.trend_runs import TOLD
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.widgets.term_label import TermLabel
from flashscope.profiles.results.findings.trend import Entry
from flashscope.profiles.store import sessions_dir
from tests.app.commands.test_trend import recorded
from tests.app.fakes import PLAN
from tests.app.pages.sessions.conftest import choose, fill, listed
from tests.app.rig import Save
from tests.app.runs import save_runs


@pytest.mark.matrix
def test_sessions_over_time_are_drawn_a_curve_a_machine_and_a_click_opens_one(
    page: SessionsPage, window: MainWindow, qtbot: QtBot
) -> None:
    first = recorded(sessions_dir() / "a.flashscope", 3)
    recorded(sessions_dir() / "b.flashscope", 20, slower=2.0)
    recorded(sessions_dir() / "c.flashscope", 7, device="Another CPU")
    listed(page, qtbot, 3)
    page.show_view("trend")

    def dots() -> list[Any]:
        return [one for one in page.trend.card.plot.plotItem.items if isinstance(one, pg.ScatterPlotItem)]

    qtbot.waitUntil(lambda: len(dots()) == 2)
    assert sorted(len(one.data) for one in dots()) == [1, 2]
    assert "Another CPU" in page.trend.card.legend.text()
    page.trend.quantity.setCurrentText("Speed-up")
    qtbot.waitUntil(lambda: page.trend.card._title.text().startswith("Speed-up"))
    (entry, *_) = next(one for one in dots() if len(one.data) == 2).data["data"]
    with qtbot.waitSignal(window.controller.session_changed):
        page.trend.card.plot.entry_chosen.emit(entry)
    assert window.controller.path == first


@pytest.mark.matrix
def test_the_problem_on_show_over_time_is_named_whole_in_a_small_window(
    page: SessionsPage, window: MainWindow, qtbot: QtBot
) -> None:
    window.resize(1280, 720)
    recorded(sessions_dir() / "a.flashscope", 3)
    listed(page, qtbot, 1)
    with qtbot.waitSignal(page.trend.drawn):
        page.show_view("trend")
    box, name = page.trend.problem, page.trend.problem.currentText()
    assert len(name) > len("d 64, no mask")
    qtbot.waitUntil(lambda: box.shown == name)
    beside = box.parentWidget()
    assert beside is not None
    assert [label.text() for label in beside.findChildren(TermLabel)] == ["Problem"]


@pytest.mark.matrix
def test_no_key_touches_sessions_whose_rows_are_not_on_show(
    page: SessionsPage, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "one", "two")
    choose(page, "one")
    page.show_view("trend")
    assert page.chosen_all() == []
    assert page.chosen() is None
    assert not page._buttons["delete"].isEnabled()
    page.show_view("sessions")
    assert [info.path.stem for info in page.chosen_all()] == ["one"]


@pytest.mark.matrix
def test_over_time_a_message_below_leaves_the_page_unscrolled(
    page: SessionsPage, window: MainWindow, save: Save, qtbot: QtBot
) -> None:
    fill(page, save, qtbot, "one")
    window.resize(1280, 720)
    window.show_page("trend")
    window.errors.show_notice("A message.")
    QApplication.processEvents()
    assert window._frames["sessions"].verticalScrollBar().maximum() == 0


def test_over_time_begins_with_the_length_that_most_sessions_have(page: SessionsPage, qtbot: QtBot) -> None:
    for name, lengths in (("a", (256, 512)), ("b", (256, 512)), ("c", (4096,))):
        problems = tuple(replace(PLAN.problems[0], seqlen_q=n, seqlen_k=n) for n in lengths)
        recorded(sessions_dir() / f"{name}.flashscope", 3, plan=replace(PLAN, problems=problems))
    listed(page, qtbot, 3)
    page.show_view("trend")
    assert page.trend.seqlen.currentData() == 512


@pytest.mark.matrix
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


@pytest.mark.matrix
def test_a_date_that_no_clock_shows_is_drawn_all_the_same(page: SessionsPage, qtbot: QtBot) -> None:
    path = recorded(sessions_dir() / "a.flashscope", 3)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE session SET started_at = '0001-01-01T00:00:00'")
    listed(page, qtbot, 1)
    page.show_view("trend")
    qtbot.waitUntil(lambda: page.trend.card._title.text().startswith("Runtime"))


def test_over_time_the_runs_of_a_plan_are_one_point_with_their_spread_that_opens_the_newest(
    page: SessionsPage, window: MainWindow, qtbot: QtBot
) -> None:
    files = save_runs("before", 3)
    save_runs("after", 3, slower=2.0, day=22)
    listed(page, qtbot, 2)
    page.show_view("trend")

    def entries() -> list[Entry]:
        dots = [one for one in page.trend.card.plot.plotItem.items if isinstance(one, pg.ScatterPlotItem)]
        return list(dots[0].data["data"]) if dots else []

    qtbot.waitUntil(lambda: len(entries()) == 2)
    before, after = entries()
    assert (before.title, after.title) == ("before, 3 runs", "after, 3 runs")
    assert before.figure is not None
    low, value, high = (
        float(one or 0) for one in (before.figure.low, before.figure.value, before.figure.high)
    )
    assert [low / value, high / value] == pytest.approx([1.01 / 1.02, 1.03 / 1.02])
    assert TOLD in page.trend.card.legend.text()
    with qtbot.waitSignal(window.controller.session_changed):
        page.trend.card.plot.entry_chosen.emit(before)
    assert window.controller.path == files[-1]


@pytest.mark.matrix
def test_the_curves_are_there_when_the_view_comes_from_another_place(
    page: SessionsPage, window: MainWindow, qtbot: QtBot
) -> None:
    recorded(sessions_dir() / "a.flashscope", 3)
    listed(page, qtbot, 1)
    window.show_page("start")
    window.show_page("trend")
    qtbot.waitUntil(lambda: bool(page.trend._curves))
    assert page.trend.card.legend.text()
