"""Watching a kernel of one's own in the window: a version a save, two of them side by side."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from flashscope.app.pages.own.asking import BRING, NOT_NOW
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.pages.watch import WatchPage
from flashscope.app.pages.watch.page import AGAIN, STOP
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.words.own.watching import HOW_TO_WATCH
from flashscope.kernels.own.files import kernels_folder
from flashscope.profiles.store import list_sessions
from flashscope.profiles.watching.watching import CANCELLED, SUPERSEDED
from tests.app.fakes import PLAN, plan_started, sweep
from tests.app.own_files import python_file
from tests.app.pages.watch.scene import BROKEN, TEXT, Watched, bring, quick
from tests.app.questions import Questions
from tests.app.rig import Rig, Save


@pytest.fixture
def scene(window: MainWindow, rig: Rig, qtbot: QtBot, tmp_path: Path) -> Watched:
    """A kernel whose first version has just begun."""
    made = Watched(window, rig, qtbot, tmp_path)
    made.begin()
    return made


@pytest.mark.matrix
def test_before_anything_is_watched_the_view_says_how_that_begins(window: MainWindow) -> None:
    window.trigger("profile.watch")
    page = window.page
    assert isinstance(page, WatchPage)
    assert page.stack.currentWidget() is page.empty
    assert HOW_TO_WATCH in [label.text() for label in page.empty.findChildren(type(page.sentence))]
    texts = [button.text() for button in page.empty.findChildren(QPushButton)]
    assert texts == ["Watch a kernel of yours", "Bring a kernel …"]


@pytest.mark.matrix
def test_the_eye_beside_a_kernel_begins_its_first_version_beside_the_fastest_of_ours(
    window: MainWindow, rig: Rig, qtbot: QtBot, tmp_path: Path, questions: Questions
) -> None:
    scene = Watched(window, rig, qtbot, tmp_path)
    bring(window, qtbot, scene.path)
    profile = window.pages["profile"]
    assert isinstance(profile, ProfilePage)
    eye = profile.form.kernels.own.rows[0]._buttons[0]
    assert eye.accessibleName() == "Watch mine: measure it anew at each save of its file"
    eye.setFocus()
    QTest.keyClick(eye, Qt.Key.Key_Space)
    scene.until_planned(1)
    assert window.page is scene.page
    assert scene.plans[0].kernels == ("mine-v1", "flash2")
    assert [problem.seqlen for problem in scene.plans[0].problems] == [1024]
    assert len(questions.asked) == 1  # as it was brought
    assert scene.column("version") == ["v1"]
    assert scene.column("verdict") == ["checking …"]
    assert "without another question" in scene.page.problem.text()
    assert window.top_bar.badge.text() == "CPU · versions of mine"


@pytest.mark.matrix  # it takes a second or more
def test_a_kernel_that_was_not_asked_about_is_with_what_watching_means(
    window: MainWindow, rig: Rig, qtbot: QtBot, questions: Questions
) -> None:
    python_file(kernels_folder())
    window.show_page("profile")
    profile = window.pages["profile"]
    assert isinstance(profile, ProfilePage)
    qtbot.waitUntil(lambda: bool(profile.own.kernels))
    questions.answer = NOT_NOW
    window.trigger("profile.watch")
    [(_, text)] = questions.asked
    assert "While it is watched, so does each later save of the file" in text
    assert not rig.engine.plans
    assert window.errors.text == "Nothing has run: mine was not brought in."
    questions.answer = BRING
    window.trigger("profile.watch")
    qtbot.waitUntil(lambda: bool(rig.engine.plans))


def test_each_save_is_measured_beside_the_version_before_and_both_stand_side_by_side(scene: Watched) -> None:
    scene.end()
    assert scene.version(1).right
    scene.save_and_end(TEXT.replace("* scale", "* np.float32(scale)"))
    second = scene.version(2)
    assert scene.plans[1].kernels == ("mine-v2", "mine-v1", "flash2")
    assert scene.plans[1].own[1].source == TEXT
    assert second.before == "mine-v1"
    assert scene.column("version") == ["v2", "v1"]  # the newest on top
    assert scene.column("as fast as the one before")[0] == "1.00× mine-v1"
    assert scene.column("as fast as the peer")[0] == "1.00× flash2"
    shown = scene.compared(1, 2)
    assert shown.found[0].in_turns
    assert "v2 is 1.00× as fast as v1 at N = 1k" in scene.page.comparison.sentence.text()
    before, after = scene.page.comparison.board.columns
    scene.until(lambda: "+     s = q @ k.swapaxes(-1, -2) * np.float32(scale)" in after.toPlainText())
    assert "-     s = q @ k.swapaxes(-1, -2) * scale" in before.toPlainText()


@pytest.mark.matrix
def test_a_click_on_a_second_version_compares_the_two_and_escape_follows_the_newest(scene: Watched) -> None:
    scene.end()
    for number in (2, 3, 4):
        scene.save_and_end(f"{TEXT}# {number}\n")
        scene.version(number)
    scene.compared(3, 4)
    table = scene.page.table

    def click(number: int) -> None:
        row = next(k for k in range(4) if table.list.row_at(k).number == number)
        place = table.visualRect(table.list.index(row, 0)).center()
        QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)

    click(3)
    assert len(scene.compared(3).sources.whole) == 1
    click(1)
    shown = scene.compared(1, 3)
    assert not shown.found[0].in_turns
    assert "each at its own time" in [
        scene.page.comparison.figures.list.columns[5].written(change) for change in shown.found
    ]
    click(2)
    assert table.picks == (1, 2)  # of three the last two
    scene.save_and_end(f"{TEXT}# 5\n")
    scene.version(5)
    assert table.picks == (1, 2)  # what was chosen stays on show
    scene.compared(1, 2)
    scene.window.trigger("escape")
    scene.compared(4, 5)


@pytest.mark.matrix
def test_the_keys_go_to_the_strip_and_choose_versions_there(scene: Watched) -> None:
    scene.end()
    scene.save_and_end(f"{TEXT}# 2\n")
    scene.version(2)
    table = scene.page.table
    scene.until(table.hasFocus)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Space):
        QTest.keyClick(table, key)
    scene.compared(1)
    for key in (Qt.Key.Key_Up, Qt.Key.Key_Space):
        QTest.keyClick(table, key)
    scene.compared(1, 2)
    QTest.keyClick(table, Qt.Key.Key_R)
    scene.until_planned(3)
    assert scene.column("version") == ["v3", "v2", "v1"]
    assert table.picks == (1, 2)


@pytest.mark.matrix
def test_an_error_of_syntax_is_told_with_its_line_and_breaks_nothing_off(scene: Watched) -> None:
    scene.save(BROKEN)
    version = scene.version(2)
    assert version.verdict == "unreadable"
    assert "mine.py, line 14: '(' was never closed: return ((p / p.sum" in version.reason
    assert not scene.rig.engine.cancelled
    scene.end()
    assert scene.version(1).right
    assert "was never closed" in scene.column("why")[0]
    scene.page.table.pick(2)
    scene.compared(2)
    assert scene.page.comparison.reason.text() == f"v2: {version.reason}"
    marked = scene.page.comparison.board.columns[1]._colours.marked
    assert marked == {13}  # from 0


@pytest.mark.matrix  # it takes a second
def test_a_wrong_version_says_why_and_the_next_is_timed_beside_the_last_right_one(scene: Watched) -> None:
    scene.end()
    scene.save(TEXT.replace("@ v", "@ v + 1"))
    scene.until_planned(2)
    scene.fail("O differs")
    assert scene.version(2).verdict == "wrong"
    scene.save(f"{TEXT}# mended\n")
    scene.until_planned(3)
    assert scene.plans[2].kernels == ("mine-v3", "mine-v1", "flash2")


@pytest.mark.matrix  # it takes a second or more
def test_a_save_before_the_check_has_ended_takes_its_place(scene: Watched) -> None:
    scene.save(f"{TEXT}# newer\n")
    scene.until(lambda: scene.rig.engine.cancelled == 1)
    assert scene.column("verdict") == ["waits", "checking …"]
    scene.cancelled()
    assert scene.version(1).reason == SUPERSEDED
    scene.until_planned(2)
    assert scene.plans[1].kernels[0] == "mine-v2"


@pytest.mark.matrix
def test_what_is_on_show_stays_and_the_library_has_each_version(scene: Watched) -> None:
    heard: list[object] = []
    scene.rig.controller.session_changed.connect(heard.append)
    scene.end()
    scene.version(1)
    assert not scene.window.errors.isVisible() or "Show the sweep" not in scene.window.errors.text
    told = scene.page.watch.told[0].recording
    assert told is not None
    scene.until(lambda: told.path is not None)
    [found] = list_sessions(scene.rig.controller.sessions_dir)
    assert found.path.stem.endswith("-cpu-mine-v1")
    assert not heard
    scene.rig.opening(lambda: scene.window.trigger("watch.open"))
    session = scene.rig.controller.session
    assert session is not None
    assert session.plan.kernels[0] == "mine-v1"
    assert scene.rig.controller.path == found.path
    assert scene.window.view == "profile"


@pytest.mark.matrix
def test_a_version_waits_for_a_sweep_and_goes_before_those_that_wait(scene: Watched) -> None:
    scene.end()
    scene.version(1)
    controller = scene.rig.controller
    controller.run(PLAN)
    scene.rig.say([plan_started(PLAN)])
    controller.run(quick(PLAN))
    scene.save(f"{TEXT}# 2\n")
    scene.until(lambda: scene.page.watch.waiting is not None)
    assert scene.page.sentence.text().startswith("v2 waits: A sweep is running already")
    scene.rig.say(sweep(PLAN)[1:])
    scene.until_planned(3)
    assert scene.plans[2].kernels[0] == "mine-v2"
    assert controller.session is not None  # the sweep that was measured stays on show
    assert controller.session.plan == PLAN
    scene.end()
    scene.until_planned(4)
    assert scene.plans[3] == quick(PLAN)


@pytest.mark.matrix  # it takes a second or more
def test_run_beside_a_version_waits_for_it(scene: Watched) -> None:
    assert scene.rig.controller.run(PLAN)
    scene.end()
    scene.until_planned(2)
    assert scene.plans[1] == PLAN


@pytest.mark.matrix
def test_stopped_it_gives_up_what_runs_and_goes_on_with_the_numbers(scene: Watched) -> None:
    assert scene.page.toggle.text() == STOP
    scene.page.toggle.click()
    assert scene.rig.engine.cancelled == 1
    scene.cancelled()
    assert scene.version(1).reason == CANCELLED
    assert scene.page.sentence.text() == "mine.py is watched no more."
    scene.save(f"{TEXT}# unseen\n")
    assert scene.page.toggle.text() == AGAIN
    assert not scene.page.again.isEnabled()
    scene.page.toggle.click()
    scene.until_planned(2)
    assert scene.plans[1].kernels[0] == "mine-v2"
    assert scene.plans[1].own[0].source == f"{TEXT}# unseen\n"


@pytest.mark.matrix  # it takes a second or more
def test_stopped_before_its_turn_a_version_is_told_as_cancelled(scene: Watched) -> None:
    scene.save(f"{TEXT}# 2\n")
    scene.until(lambda: scene.page.watch.waiting is not None)
    scene.window.trigger("watch.toggle")
    assert scene.version(2).reason == CANCELLED
    scene.cancelled()
    assert scene.version(1).verdict == "cancelled"
    assert len(scene.plans) == 1


@pytest.mark.matrix  # it takes a second or more
def test_closed_nothing_of_what_waits_begins(scene: Watched) -> None:
    scene.save(f"{TEXT}# 2\n")
    scene.until(lambda: scene.page.watch.waiting is not None)
    scene.rig.controller.close()
    assert scene.page.watch.waiting is None
    QApplication.processEvents()
    assert len(scene.plans) == 1


@pytest.mark.matrix  # it takes a second
def test_cancelling_what_runs_ends_the_version_alone(scene: Watched) -> None:
    scene.window.trigger("cancel")
    scene.cancelled()
    assert scene.version(1).verdict == "cancelled"
    scene.save_and_end(f"{TEXT}# 2\n")
    assert scene.version(2).right


@pytest.mark.matrix  # it takes a second or more
def test_the_strip_is_cleared_and_comes_back(scene: Watched) -> None:
    scene.end()
    scene.version(1)
    scene.page.clear.click()
    assert scene.page.stack.currentWidget() is scene.page.empty
    scene.window.trigger("undo")
    assert scene.column("version") == ["v1"]
    assert scene.page.toggle.text() == AGAIN
    scene.page.toggle.click()
    scene.until_planned(2)
    assert scene.plans[1].kernels[:2] == ("mine-v2", "mine-v1")


@pytest.mark.matrix  # it takes a second or more
def test_a_file_that_is_deleted_is_waited_for_in_words(scene: Watched) -> None:
    scene.end()
    scene.path.unlink()
    scene.until(lambda: scene.page.sentence.text().endswith("mine.py is not there; waiting for it."))
    scene.save_and_end(f"{TEXT}# back\n")
    assert scene.version(2).right
    assert scene.page.sentence.text().startswith("Watching mine.py")


@pytest.mark.matrix  # it takes a second or more
def test_another_peer_or_length_measures_the_file_anew(scene: Watched) -> None:
    scene.end()
    scene.version(1)
    peers = scene.page.peers
    offered = [peers.itemText(k) for k in range(peers.count())]
    assert offered[:2] == ["beside the fastest of ours", "beside standard"]
    peers.setCurrentIndex(1)
    peers.activated.emit(1)
    scene.until_planned(2)
    assert scene.plans[1].kernels == ("mine-v2", "mine-v1", "standard")
    assert peers.currentText() == "beside standard"
    scene.end()
    scene.version(2)
    lengths = scene.page.lengths
    lengths.setCurrentIndex(lengths.findData(256))
    lengths.activated.emit(lengths.currentIndex())
    scene.until_planned(3)
    assert [problem.seqlen for problem in scene.plans[2].problems] == [256]


@pytest.mark.matrix  # it takes a second or more
def test_measured_again_the_same_file_is_a_version_beside_itself(scene: Watched) -> None:
    scene.end()
    scene.version(1)
    scene.window.trigger("watch.again")
    scene.until_planned(2)
    scene.end()
    scene.version(2)
    scene.compared(1, 2)
    assert "Their sources are the same." in scene.page.comparison.sentence.text()


@pytest.mark.matrix  # it takes a second or more
def test_on_a_stage_nothing_is_measured_until_it_is_left(scene: Watched, save: Save) -> None:
    scene.end()
    scene.version(1)
    scene.rig.open(save(sweep(), "on-stage"))
    scene.window.show_page("profile")
    scene.window.trigger("stage")
    scene.save(f"{TEXT}# 2\n")
    scene.until(lambda: scene.page.watch.waiting is not None)
    assert scene.page.watch.why_waits == "something is presented"
    assert len(scene.plans) == 1
    scene.window.trigger("stage")
    scene.until_planned(2)


@pytest.mark.matrix
def test_the_view_itself_has_nothing_for_a_stage_and_says_so(scene: Watched) -> None:
    scene.window.trigger("stage")
    assert not scene.window.stage.on
    assert "Watch" in scene.window.errors.text


@pytest.mark.matrix  # it takes a second or more
def test_another_kernel_takes_its_place_and_what_ran_is_not_told_there(
    scene: Watched, tmp_path: Path, qtbot: QtBot
) -> None:
    other = python_file(tmp_path, "other")
    bring(scene.window, qtbot, other)
    profile = scene.window.pages["profile"]
    assert isinstance(profile, ProfilePage)
    profile.watching.start("other")
    scene.until(lambda: scene.page.watch.waiting is not None)
    scene.cancelled()
    scene.until_planned(2)
    assert scene.plans[1].kernels[0] == "other-v1"
    scene.end()
    scene.version(1)
    assert scene.column("version") == ["v1"]
    assert scene.page.watch.told[0].version.name == "other-v1"


@pytest.mark.matrix
@pytest.mark.usefixtures("scene")
def test_a_window_closes_beside_a_version_without_a_question(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QMessageBox, "exec", lambda _: pytest.fail("asked"))
    assert window.close()
