"""A run that fails on a stage: a recording stands in, and the badge says so."""

import pytest
from msgspec.structs import replace
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.shots import grab_whole
from flashscope.app.stage.story import Story, read_story
from flashscope.profiles.wire.events import PlanFinished, PointFailed, PointStarted
from tests.app.fakes import PLAN, SECOND, plan_started, sweep
from tests.app.rig import Rig, Save
from tests.app.shell.presenter.conftest import Key, press, settle


def lose(rig: Rig) -> None:
    rig.say([plan_started(), PointStarted(index=0, t_ns=SECOND)])
    reason = "The worker died (signal 9)."
    rig.say([PointFailed(index=0, t_ns=2 * SECOND, status="failed", reason=reason)])


def test_a_run_that_loses_its_worker_falls_back_to_a_recording_with_one_key(
    window: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    window.activateWindow()
    window.show_page("profile")
    press(window, Key.Key_F11)
    press(window, Key.Key_R)
    assert rig.controller.session is None, "nothing has failed yet"
    rig.controller.run(PLAN)
    lose(rig)
    frame = window.stage.frame
    assert frame.message.text() == "Press R for the bundled recording. The worker died (signal 9)."
    press(window, Key.Key_R)
    assert rig.engine.cancelled == 1
    with qtbot.waitSignal(rig.controller.session_changed):
        rig.say([PlanFinished(t_ns=3 * SECOND, outcome="cancelled")])
    assert rig.controller.path == bundled_sessions()[0]
    qtbot.waitUntil(lambda: frame.badge == "RUN FAILED · SAVED · GPU NVIDIA H200 · 2026-11-22")
    assert frame.source.text() == "H200 standard and flash2"


@pytest.mark.matrix
def test_the_badge_forgets_a_failed_run_at_the_next_stop(
    window: MainWindow, rig: Rig, qtbot: QtBot, story: Story
) -> None:
    window.activateWindow()
    live, *saved = story.stops
    window.stage.enter(replace(story, stops=(replace(live, session=""), *saved)))
    rig.controller.run(PLAN)
    lose(rig)
    rig.say([PlanFinished(t_ns=3 * SECOND, outcome="failed", reason="No worker starts.")])
    press(window, Key.Key_R)
    qtbot.waitUntil(lambda: window.stage.fallback.standing_in)
    assert window.stage.frame.badge.startswith("RUN FAILED")
    press(window, Key.Key_PageDown)
    settle(window, rig, qtbot)
    assert not window.stage.frame.badge.startswith("RUN FAILED")


@pytest.mark.matrix
def test_a_run_that_fails_behind_a_stop_with_its_own_session_is_not_taken_for_that(
    staged: MainWindow, rig: Rig, qtbot: QtBot, story: Story
) -> None:
    rig.controller.run(PLAN)
    lose(rig)
    settle(staged, rig, qtbot)
    assert rig.controller.path == story.session_of(story.stops[0])
    assert staged.stage.frame.badge.startswith("SAVED")
    assert not staged.stage.frame.message.text().startswith("Press R")


@pytest.mark.matrix
def test_a_stop_with_its_own_session_tells_nothing_of_a_sweep_behind_it(
    staged: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    message = staged.stage.frame.message
    before = message.text()
    rig.controller.run(PLAN)
    lose(rig)
    rig.say([PlanFinished(t_ns=3 * SECOND, outcome="failed", reason="No worker starts.")])
    settle(staged, rig, qtbot)
    rig.controller.error_raised.emit("The worker died.", "")
    assert message.text() == before
    staged.trigger("stage.fallback")
    assert message.text() == "No run failed that this stop shows."


@pytest.mark.matrix
def test_what_does_not_fit_is_no_failure_of_a_run(window: MainWindow, rig: Rig) -> None:
    window.activateWindow()
    window.show_page("profile")
    press(window, Key.Key_F11)
    rig.controller.run(PLAN)
    rig.say([plan_started(), PointFailed(index=0, t_ns=SECOND, status="will-not-fit", reason="Too large.")])
    assert not window.stage.fallback.reason


@pytest.mark.matrix
def test_what_went_wrong_is_told_whole_however_long_it_is(staged: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    frame = staged.stage.frame
    source = frame.source.text()
    frame.tell("The worker died (signal 9) in flash2 at N = 4096, and so did the next one. " * 3)
    grab_whole(staged)
    assert frame.message.isVisible()
    assert frame.message.height() >= frame.message.heightForWidth(frame.message.width()) > 0
    assert (frame.message.mapTo(staged, frame.message.rect().bottomRight()).x()) < staged.width()
    assert frame.source.text() == source, "which still says what is on show"
    staged.stage.step(1)
    settle(staged, rig, qtbot)
    assert frame.message.isHidden()


@pytest.mark.matrix
def test_a_stop_whose_file_is_gone_says_that_and_nothing_of_its_own_about_the_session_in_its_place(
    staged: MainWindow, rig: Rig, qtbot: QtBot, save: Save
) -> None:
    there, gone = save(sweep(), "there"), save(sweep(), "gone")
    path = there.with_name("two.toml")
    path.write_text(
        'title = "Two"\n'
        + "".join(
            f'[[stop]]\npage = "profile"\nsession = "{one.name}"\nsentence = "flash2 {{runtime of flash2}}"\n'
            for one in (there, gone, there)
        )
    )
    staged.stage.enter(read_story(path))
    settle(staged, rig, qtbot)
    gone.unlink()
    frame = staged.stage.frame
    rig.opening(lambda: staged.stage.step(1))
    qtbot.waitUntil(lambda: not staged.stage.loading.on)
    told = frame.message.text().replace("\u00a0", " ")
    assert gone.name in told
    assert told.endswith(f"Shown in its place: {frame.source.text()}.")
    assert frame.message.isVisibleTo(staged)
    assert frame.sentence.text() == ""
    staged.stage.step(1)
    settle(staged, rig, qtbot)
    assert frame.sentence.text().replace("\u00a0", " ").startswith("flash2 ")
    assert frame.message.text() == ""
