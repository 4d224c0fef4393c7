"""What the editor says of a stop is what the stage says of it."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.shell.editor.scenes import NOTHING, READING, Scenes
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.stage.blanks import fill
from flashscope.app.stage.offers import offers
from flashscope.app.stage.scene import Scene
from flashscope.app.stage.story import BUNDLED_STORIES, Stop, Story, find_story, read_story
from flashscope.app.words.plain import unbroken
from flashscope.kernels.cpu.trace import record
from tests.app.rig import Rig
from tests.app.shell.presenter import conftest as presenting


def read(scenes: Scenes, story: Story, stop: Stop, qtbot: QtBot) -> Scene:
    """The scene of a stop once all that it names is read."""
    session = story.session_of(stop)
    qtbot.waitUntil(lambda: scenes.scene(stop, session).waiting != READING)
    return scenes.scene(stop, session)


@pytest.mark.matrix
@pytest.mark.parametrize("name", BUNDLED_STORIES)
def test_each_sentence_of_a_bundled_story_reads_as_on_the_stage(
    window: MainWindow, rig: Rig, qtbot: QtBot, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presenting, "build_trace", record)  # what the engine answers
    story = read_story(find_story(name))
    scenes = Scenes(rig.controller, window)
    window.stage.enter(story)
    for at, stop in enumerate(story.stops):
        window.stage.go(at)
        presenting.settle(window, rig, qtbot)
        told = unbroken(fill(stop.sentence, read(scenes, story, stop, qtbot)))
        without = "" if stop.sentence else unbroken(window.staging.sentence)
        assert (told or without) == window.stage.frame.sentence.text(), stop.title


@pytest.mark.matrix
def test_a_stop_without_a_session_speaks_of_what_is_on_show(
    window: MainWindow, rig: Rig, session: Path
) -> None:
    scenes, stop = Scenes(rig.controller, window), Stop("profile", seqlen=512, sentence="{n}")
    assert scenes.scene(stop, None).waiting == NOTHING
    rig.open(session)
    assert fill("{n}: {runtime of flash2}", scenes.scene(stop, None)).startswith("512: ")


def test_a_session_that_cannot_be_read_is_told(
    window: MainWindow, rig: Rig, tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "no.flashscope"
    path.write_text("nothing")
    scenes, stop = Scenes(rig.controller, window), Stop("profile")
    assert scenes.scene(stop, path).waiting == READING
    qtbot.waitUntil(lambda: scenes.scene(stop, path).waiting != READING)
    assert "no.flashscope" in scenes.scene(stop, path).waiting


def test_all_that_is_offered_can_be_filled(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    scenes, story = Scenes(rig.controller, window), read_story(find_story("why-tiling-wins"))
    for stop in (one for one in story.stops if one.sentence):
        scene = read(scenes, story, stop, qtbot)
        blanks = [one for found in offers(scene).values() for one in found]
        assert {"{n}", "{fate of flash2}"} <= {one.blank for one in blanks}
        assert all(fill(one.blank, scene) == one.value for one in blanks)


def test_timelines_offer_the_numbers_of_each_kernel(window: MainWindow, rig: Rig, qtbot: QtBot) -> None:
    story = read_story(find_story("inside-flash3"))
    stop = next(one for one in story.stops if one.page == "timeline")
    scene = read(Scenes(rig.controller, window), story, stop, qtbot)
    ((_words, blanks),) = offers(scene).items()
    assert {"{n}", "{idle of flash2}", "{idle of flash3}"} <= {one.blank for one in blanks}
    assert all(fill(one.blank, scene) == one.value for one in blanks)


@pytest.mark.parametrize("step", [None, 9])
def test_a_step_offers_its_numbers(window: MainWindow, rig: Rig, qtbot: QtBot, step: int | None) -> None:
    scenes, stop = Scenes(rig.controller, window), Stop("stepper", preset="slide-reversed", step=step)
    scene = read(scenes, read_story(find_story("online-softmax")), stop, qtbot)
    ((_words, blanks),) = offers(scene).items()
    assert {"{step}", "{m}", "{alpha}"} <= {one.blank for one in blanks} or step is None
    assert ("{step}", str(step)) in {(one.blank, one.value) for one in blanks} or step is None
