"""A stop that runs a sweep shows it as it grows, or the recording that it names, and says which."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import BUNDLED
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.stage.story import Story, read_story
from flashscope.profiles.wire.events import PlanFinished, PointFailed, PointStarted
from tests.app.fakes import PLAN, SECOND, plan_started, sweep
from tests.app.rig import Rig, Save
from tests.app.shell.presenter.conftest import Key, press, profile

RECORDING = BUNDLED / "h200-standard-flash2.flashscope"
BEGUN = 7  # events of a sweep of which two points have ended
GROWN = 5  # points of which one kernel has ended twice
SAVED = "This stop shows a recording: nothing is run here."


def written(folder: Path, run: str) -> Story:
    """A stop that shows a recording, one that runs, and one that shows a recording again."""
    path = folder / "live.toml"
    other = f'[[stop]]\npage = "profile"\nsession = "{RECORDING.stem}"\n'
    path.write_text(
        f'title = "Live"\n{other}\n[[stop]]\npage = "profile"\nrun = "{run}"\nfallback = "{RECORDING.stem}"\n'
        f'sentence = "flash2 takes {{runtime of flash2}} at {{n}}."\n{other}'
    )
    return read_story(path)


@pytest.fixture
def live(window: MainWindow, rig: Rig, qtbot: QtBot, tmp_path: Path) -> MainWindow:
    """A window at the stop before one that runs."""
    window.activateWindow()
    window.stage.enter(written(tmp_path, "--kernels standard,flash2 --seqlen 256:1024 --repeats 3"))
    at_rest(window, qtbot)
    return window


def at_rest(window: MainWindow, qtbot: QtBot) -> None:
    window.appearance.finish()
    qtbot.waitUntil(lambda: not window.stage.loading.on)


def grow(window: MainWindow, rig: Rig, qtbot: QtBot, points: int | None = GROWN) -> None:
    """Let the engine answer what it was asked for last."""
    rig.say(sweep(rig.engine.plans[-1], points=points))
    at_rest(window, qtbot)


def test_a_stop_that_runs_begins_when_it_is_reached_and_is_shown_as_it_grows(
    live: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    assert rig.engine.plans == []
    press(live, Key.Key_Space)
    (plan,) = rig.engine.plans
    assert (plan.backend, plan.kernels, plan.protocol.repeats) == ("cpu", ("standard", "flash2"), 3)
    assert [problem.seqlen for problem in plan.problems] == [256, 512, 1024]
    assert live.stage.loading.on, "black until the sweep is there"
    grow(live, rig, qtbot)
    assert rig.controller.sweep_on_show
    assert live.stage.frame.badge.startswith("CPU")
    assert live.stage.frame.sentence.text().startswith("flash2 takes")


@pytest.mark.matrix
def test_a_stop_that_ran_is_shown_again_and_runs_no_second_time(
    live: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    press(live, Key.Key_Space)
    grow(live, rig, qtbot, points=None)
    measured = rig.controller.sweep_path
    for key in (Key.Key_Space, Key.Key_Left):
        press(live, key)
        at_rest(live, qtbot)
    assert len(rig.engine.plans) == 1
    qtbot.waitUntil(lambda: rig.controller.path == measured)


@pytest.mark.matrix
def test_where_it_cannot_run_the_recording_is_shown_and_why_is_said(
    window: MainWindow, rig: Rig, qtbot: QtBot, tmp_path: Path
) -> None:
    window.stage.enter(written(tmp_path, "--backend cuda --kernels flash2 --seqlen 1024"))
    at_rest(window, qtbot)
    press(window, Key.Key_Space)
    at_rest(window, qtbot)
    assert rig.engine.plans == []
    assert rig.controller.path == RECORDING
    frame = window.stage.frame
    assert frame.badge.startswith("NOT RUN HERE · SAVED · GPU NVIDIA H200")
    assert frame.message.text().startswith("no usable GPU here")
    assert frame.message.text().endswith("Shown in its place: H200 standard and flash2.")
    assert frame.sentence.text().startswith("A recording, not run here: flash2 takes")
    press(window, Key.Key_Space)
    at_rest(window, qtbot)
    assert frame.badge.startswith("SAVED")


@pytest.mark.matrix
def test_a_run_that_fails_gives_way_to_its_recording_at_once(
    live: MainWindow, rig: Rig, qtbot: QtBot
) -> None:
    press(live, Key.Key_Space)
    (plan,) = rig.engine.plans
    rig.say([plan_started(plan), PointStarted(index=0, t_ns=SECOND)])
    rig.say([PointFailed(index=0, t_ns=2 * SECOND, status="failed", reason="The worker died (signal 9).")])
    assert rig.engine.cancelled == 1
    rig.say([PlanFinished(t_ns=3 * SECOND, outcome="cancelled")])
    qtbot.waitUntil(lambda: rig.controller.path == RECORDING)
    at_rest(live, qtbot)
    assert live.stage.frame.badge.startswith("RUN FAILED · SAVED")
    assert live.stage.frame.message.text() == (
        "The worker died (signal 9). Shown in its place: H200 standard and flash2."
    )
    for key in (Key.Key_Space, Key.Key_Left):
        press(live, key)
        at_rest(live, qtbot)
    assert len(rig.engine.plans) == 1
    assert live.stage.frame.badge.startswith("NOT RUN HERE · SAVED")


@pytest.mark.matrix
def test_at_a_stop_with_a_recording_nothing_is_run_unseen(live: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    for key in ("run", "stage.run"):
        live.trigger(key)
    assert rig.engine.plans == []
    assert live.stage.frame.message.text() == SAVED


@pytest.mark.matrix
def test_a_stop_that_ran_is_run_again_on_demand(live: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    press(live, Key.Key_Space)
    grow(live, rig, qtbot, points=None)
    live.trigger("stage.run")
    assert len(rig.engine.plans) == 2
    live.trigger("stage.run")
    assert len(rig.engine.plans) == 2
    assert live.stage.frame.message.text().startswith("A sweep is running already")


@pytest.mark.matrix
def test_without_a_story_a_view_of_the_session_runs_the_form_and_another_says_that_it_does_not(
    window: MainWindow, rig: Rig, qtbot: QtBot, save: Save
) -> None:
    rig.open(save(sweep(), "shown"))
    window.show_page("planner")
    window.trigger("stage")
    at_rest(window, qtbot)
    window.trigger("stage.run")
    assert rig.engine.plans == []
    assert window.stage.frame.message.text().startswith("Planner shows no sweep")
    window.stage.leave()
    window.show_page("profile")
    window.trigger("stage")
    window.trigger("stage.run")
    assert len(rig.engine.plans) == 1


@pytest.mark.matrix
@pytest.mark.parametrize("chosen", [None, 256])
def test_a_sweep_presented_as_it_is_takes_the_crosshair_along_unless_somebody_placed_it(
    window: MainWindow, rig: Rig, qtbot: QtBot, *, chosen: int | None
) -> None:
    window.activateWindow()
    window.show_page("profile")
    rig.controller.run(PLAN)
    begun = sweep(PLAN, points=GROWN)
    rig.say(begun[:BEGUN])
    plots = profile(window).plots
    if chosen is not None:
        plots.move_cursor(chosen)
    before = plots.seqlen
    press(window, Key.Key_F11)
    at_rest(window, qtbot)
    rig.say(begun[BEGUN:])
    grown = plots.seqlen
    assert before is not None
    assert grown is not None
    assert grown > before if chosen is None else grown == chosen
    assert f"N = {grown}" in window.stage.frame.sentence.text().replace("\u00a0", " ")
