"""A recording can be opened while a sweep runs: each is told apart, and neither loses anything."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.control.on_show import NO_REPLAY_BESIDE
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.notices import ENDED
from flashscope.app.stage.story import read_story
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import load
from tests.app.fakes import PLAN, sweep
from tests.app.rig import Rig, Save

HALF = 6  # events: the first point has begun
STORY = """title = "Saved"
[[stop]]
page = "profile"
session = "{}"
sentence = "{{n}}"
"""


@pytest.fixture
def beside(window: MainWindow, rig: Rig, save: Save) -> Path:
    """A recording that was opened over a sweep that runs."""
    saved = save(sweep(), "saved")
    rig.controller.run(PLAN)
    rig.say(sweep()[:HALF])
    rig.open(saved)
    return saved


def running(rig: Rig) -> Session:
    assert rig.controller.sweep is not None
    return rig.controller.sweep


@pytest.mark.matrix  # it takes a second
def test_a_recording_opened_over_a_sweep_is_shown_and_the_sweep_goes_on_in_its_file(
    window: MainWindow, rig: Rig, beside: Path
) -> None:
    controller, own = rig.controller, rig.controller.sweep_path
    assert controller.path == beside
    assert controller.measuring
    assert not controller.sweep_on_show
    assert controller.provenance.kind == "saved"
    told: list[object] = []
    controller.events_arrived.connect(told.extend)
    rig.say(sweep()[HALF:])
    assert told == [], "what is measured is told of a session that does not show it"
    assert own is not None
    controller.close()
    assert load(own).ended_points == running(rig).ended_points > 0


@pytest.mark.matrix
def test_the_status_bar_tells_of_the_sweep_and_the_badge_of_what_is_on_show(
    window: MainWindow, rig: Rig, beside: Path
) -> None:
    window.status.refresh()
    assert window.status.count.text().startswith(f"{running(rig).ended_points} of ")
    assert window.top_bar.badge.text().startswith("SAVED")
    assert window.top_bar.cancel.isVisible()


def test_a_button_leads_back_to_the_sweep_which_has_all_that_came_meanwhile(
    window: MainWindow, rig: Rig, qtbot: QtBot, beside: Path
) -> None:
    rig.say(sweep()[HALF : HALF + 2])
    page = window.pages["profile"]
    assert isinstance(page, ProfilePage)
    assert not page.bottom.isVisible(), "the telemetry of a sweep stands under another session's curves"
    assert window.top_bar.sweep.isVisible()
    window.top_bar.sweep.click()
    assert rig.controller.session is running(rig)
    assert not window.top_bar.sweep.isVisible()
    qtbot.waitUntil(page.bottom.isVisible)  # in a turn of its own


@pytest.mark.matrix
def test_the_end_of_the_sweep_is_told_with_a_way_to_it(window: MainWindow, rig: Rig, beside: Path) -> None:
    rig.say(sweep()[HALF:])
    assert window.errors.text == ENDED
    assert rig.controller.path == beside
    window.errors._act_button.click()
    assert rig.controller.sweep_on_show
    assert running(rig).outcome == "finished"


@pytest.mark.matrix
def test_a_replay_waits_for_the_end_of_the_sweep(window: MainWindow, rig: Rig, beside: Path) -> None:
    rig.controller.replay(1.0)
    assert window.errors.text == NO_REPLAY_BESIDE
    assert rig.controller.path == beside


@pytest.mark.matrix
def test_a_stop_that_names_a_session_shows_it_over_a_sweep_and_gives_the_sweep_back(
    window: MainWindow, rig: Rig, save: Save, qtbot: QtBot, tmp_path: Path
) -> None:
    saved, story = save(sweep(), "saved"), tmp_path / "saved.toml"
    story.write_text(STORY.format(saved), encoding="utf-8")
    rig.controller.run(PLAN)
    rig.say(sweep()[:HALF])
    window.show_page("telemetry")
    window.stage.enter(read_story(story))
    qtbot.waitUntil(lambda: rig.controller.path == saved)
    qtbot.waitUntil(lambda: window.stage.frame.badge.startswith("SAVED"))
    window.stage.leave()
    assert rig.controller.session is running(rig)
    assert window.view == "telemetry"
    assert rig.controller.measuring
