"""What is on show becomes a stop that shows it again."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import BUNDLED
from flashscope.app.pages.compare import ComparePage
from flashscope.app.pages.stepper import StepperPage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.presenter.actions import STAGED
from flashscope.app.stage.story import read_story
from flashscope.app.stage.writing import add_stop, session_named
from flashscope.app.stepper.modes import BACKWARD, MODES
from flashscope.app.words.plain import unbroken
from tests.app.rig import Rig
from tests.app.shell.presenter.conftest import answer, settle


@pytest.mark.parametrize("view", STAGED)
def test_a_stop_of_every_view_is_written_and_read_again(
    shared_window: MainWindow, tmp_path: Path, view: str
) -> None:
    shared_window.show_page(view)
    staging, path = shared_window.staging, tmp_path / "added.toml"
    add_stop(path, session_named(staging.stop, None, path, staging.compared))
    (stop,) = read_story(path).stops
    assert stop.page == view


@pytest.mark.matrix
def test_a_comparison_is_added_with_its_sessions_and_shown_with_them(
    window: MainWindow, rig: Rig, qtbot: QtBot, tmp_path: Path
) -> None:
    page = window.pages["compare"]
    assert isinstance(page, ComparePage)
    names = ("h100-peers", "h200-peers")
    page.choose([BUNDLED / f"{name}.flashscope" for name in names])
    qtbot.waitUntil(lambda: page.board.findings is not None)
    window.show_page("compare")
    path = tmp_path / "added.toml"
    add_stop(path, session_named(window.staging.stop, None, path, window.staging.compared))
    story = read_story(path)
    assert (story.stops[0].session, story.stops[0].beside) == (names[0], names[1:])
    page.choose([])
    window.stage.enter(story)
    settle(window, rig, qtbot)
    assert [one.stem for one in page.lineup.paths] == list(names)


OF_GIVEN_SCORES = [one.key for one in MODES if one.key != BACKWARD]  # which have no backward pass


@pytest.mark.matrix
@pytest.mark.parametrize("mode", OF_GIVEN_SCORES)
def test_every_mode_of_the_stepper_is_added_as_a_stop_and_comes_back_at_its_step(
    window: MainWindow, rig: Rig, qtbot: QtBot, tmp_path: Path, mode: str
) -> None:
    window.show_page("stepper")
    page = window.pages["stepper"]
    assert isinstance(page, StepperPage)
    page.show_preset("slide-reversed")
    answer(rig)
    page.show_mode(mode)
    answer(rig)
    page.seek(9)
    path = tmp_path / "added.toml"
    add_stop(path, window.staging.stop)
    at, fault = window.staging.stop.step, window.staging.stop.fault
    page.show_mode("blocks" if mode != "blocks" else "lanes")
    page.show_preset("slide")
    answer(rig)
    window.stage.enter(read_story(path))
    settle(window, rig, qtbot)
    assert (page.modes.key, page.modes.board.fault, window.staging.stop.step) == (mode, fault, at)
    assert page.staging.stop.preset == "slide-reversed"
    said = window.stage.frame.sentence.text()
    assert said
    if mode != "blocks":
        assert said == unbroken(page.staging.sentence), "what the mode itself says of it"
