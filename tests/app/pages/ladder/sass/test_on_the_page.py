"""Source with its machine code in the window: keys, the badge, its menu, a file, a stage."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from flashscope.app.control.inside.occupying import RECORDED
from flashscope.app.pages.ladder import LadderPage
from flashscope.app.pages.ladder.page import BESIDE_A_SWEEP, NO_BUILD
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.stage.story import find_story, read_story
from flashscope.app.widgets.menus import commands_of
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import TimelineRequest
from flashscope.profiles.wire.events import RequestFailed
from tests.app.fakes import PLAN, sweep
from tests.app.pages.ladder.sass.builds import Builds
from tests.app.pages.ladder.sass.test_board import LABEL, builds
from tests.app.rig import Rig

__all__ = ["builds"]

STORY = read_story(find_story("flash1-to-flash3"))


@pytest.fixture
def page(window: MainWindow, qtbot: QtBot, builds: Builds) -> Iterator[LadderPage]:
    window.resize(1280, 720)
    window.show_page("ladder")
    found = window.pages["ladder"]
    assert isinstance(found, LadderPage)
    qtbot.waitUntil(lambda: found.recorded is not None and found.board.columns[1].blockCount() > 1)
    found.show_step("flash2", LABEL)
    yield found
    found.chores.wait()


def shown(page: LadderPage, qtbot: QtBot) -> LadderPage:
    page.sass.setChecked(True)
    qtbot.waitUntil(lambda: page.sass_board.shown is not None)
    return page


def test_a_key_shows_the_machine_code_in_place_of_the_predecessor_and_back(
    window: MainWindow, page: LadderPage, qtbot: QtBot
) -> None:
    window.activateWindow()
    page.setFocus()
    QTest.keyClick(page, Qt.Key.Key_S)
    assert page.sass.isChecked()
    assert [page.board.isVisible(), page.sass_board.isVisible(), page.whole.isVisible()] == [
        False,
        True,
        False,
    ]
    qtbot.waitUntil(lambda: page.sass_board.shown is not None)
    QTest.keyClick(page, Qt.Key.Key_A)
    assert page.sass_board.head.order.current == "address"
    QTest.keyClick(page, Qt.Key.Key_N)
    qtbot.waitUntil(lambda: page.sass_board.title.text().startswith("flash3-a: "))
    QTest.keyClick(page, Qt.Key.Key_S)
    assert [page.board.isVisible(), page.sass_board.isVisible(), page.whole.isVisible()] == [
        True,
        False,
        True,
    ]


def test_the_badge_says_that_it_was_compiled_and_not_run(
    window: MainWindow, page: LadderPage, qtbot: QtBot
) -> None:
    badge = window.top_bar.badge
    before = badge.text()
    page.sass.setChecked(True)
    assert badge.text() == before, "nothing is compiled yet"
    shown(page, qtbot)
    assert badge.text() == "COMPILED · GPU for H200, not run · flash2"
    page.sass_board.head.cards.setCurrentIndex(2)
    assert badge.text() == before
    shown(page, qtbot)
    assert "for A100" in badge.text()
    page.sass.setChecked(False)
    assert badge.text() == before


@pytest.mark.matrix
def test_a_sweep_holds_it_back_until_it_has_ended(page: LadderPage, rig: Rig, qtbot: QtBot) -> None:
    rig.controller.run(PLAN)
    rig.say(sweep()[:2])
    page.sass.setChecked(True)
    qtbot.waitUntil(lambda: page.sass_board.notice.words.text() == BESIDE_A_SWEEP)
    rig.say(sweep()[2:])
    qtbot.waitUntil(lambda: page.sass_board.shown is not None)


@pytest.mark.matrix
def test_a_timeline_that_is_recorded_holds_it_back_too(page: LadderPage, qtbot: QtBot) -> None:
    timelines = page.controller.timelines
    request = TimelineRequest(problem=Problem(seqlen_q=64, seqlen_k=64), kernel="flash2")
    timelines.ask([request])
    page.sass.setChecked(True)
    qtbot.waitUntil(lambda: page.sass_board.notice.words.text() == RECORDED)
    timelines.take(RequestFailed(request="timeline", reason="It was given up."))
    qtbot.waitUntil(lambda: page.sass_board.shown is not None)


@pytest.mark.matrix
def test_the_menu_of_the_list_has_what_the_page_does_with_all_of_it(page: LadderPage, qtbot: QtBot) -> None:
    shown(page, qtbot)
    words = [action.text() for action in page.sass_board.code.menu().actions() if action.text()]
    assert words == [
        "Copy",
        "Copy all of this line",
        "Copy the source with its machine code",
        "Save the source with its machine code",
        "Show the machine code by address, or by line",
    ]
    (copy,) = commands_of(page, ["ladder.copy"])
    copy.trigger()
    assert QGuiApplication.clipboard().text() == page.sass_board.text


def test_it_is_written_into_the_file_that_is_chosen(
    page: LadderPage, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "listing.txt"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    told: list[str] = []
    page.noticed.connect(told.append)
    page.save_sass()
    assert (told, target.exists()) == ([NO_BUILD], False)
    shown(page, qtbot).save_sass()
    qtbot.waitUntil(lambda: len(told) > 1)
    assert told[-1] == "Wrote listing.txt."
    assert target.read_text(encoding="utf-8") == page.sass_board.text


@pytest.mark.matrix
def test_a_stage_shows_the_two_sources_and_gives_the_machine_code_back(
    window: MainWindow, page: LadderPage, qtbot: QtBot
) -> None:
    shown(page, qtbot)
    window.stage.enter(STORY)
    window.stage.go(next(at for at, stop in enumerate(STORY.stops) if stop.page == "ladder"))
    qtbot.waitUntil(lambda: not page.sass.isChecked() and page.board.isVisible())
    assert not page.sass_board.isVisible()
    window.stage.leave()
    window.show_page("ladder")
    qtbot.waitUntil(page.sass.isChecked)
    qtbot.waitUntil(lambda: page.sass_board.shown is not None)


@pytest.mark.matrix
def test_no_part_of_it_is_wider_than_the_smallest_window(page: LadderPage, qtbot: QtBot) -> None:
    shown(page, qtbot)
    board = page.sass_board
    for part in (board.head, board.split, board.detail, board.source, board.code):
        assert page.rect().contains(part.rect().translated(part.mapTo(page, part.rect().topLeft())))
