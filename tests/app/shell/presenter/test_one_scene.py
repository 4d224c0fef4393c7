"""A sentence says the same where it is written, where it is checked and on the stage."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import BUNDLED
from flashscope.app.shell.editor.scenes import READING, Scenes
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.presenter.checks.scenes import scene_at
from flashscope.app.stage.blanks import fill, unfilled
from flashscope.app.stage.story import read_story
from flashscope.app.words.plain import unbroken
from flashscope.profiles.store import load
from tests.app.rig import Rig
from tests.app.shell.presenter.conftest import settle

STOPS = {
    "results, of all kernels": ('page = "results"', "{n}: {runtime}, {runtime against}"),
    "results, of one": ('page = "results"\nkernels = ["flash2"]\nseqlen = 4096', "{n}: {runtime}"),
    "roofline, of all kernels": ('page = "roofline"', "{n}: {throughput}, {runtime against}"),
    "roofline, of two": ('page = "roofline"\nkernels = ["flash2", "flash3"]', "{n}: {throughput}"),
    "traffic, of those that tell": ('page = "traffic"', "{n}: {dram_read_bytes}"),
    "traffic, of one": ('page = "traffic"\nkernels = ["flash1"]', "{n}: {dram_read_bytes}"),
}


@pytest.mark.parametrize("named", STOPS)
def test_a_stop_has_one_sentence_in_the_editor_in_the_check_and_on_the_stage(
    window: MainWindow, rig: Rig, qtbot: QtBot, tmp_path: Path, named: str
) -> None:
    page, sentence = STOPS[named]
    path, session = tmp_path / "one.toml", BUNDLED / "h200-traffic.flashscope"
    path.write_text(f'title = "One"\n[[stop]]\n{page}\nsession = "h200-traffic"\nsentence = "{sentence}"\n')
    story = read_story(path)
    (stop,) = story.stops
    checked = scene_at(stop, load(session))
    assert not unfilled(sentence, checked)
    scenes = Scenes(rig.controller, window)
    qtbot.waitUntil(lambda: scenes.scene(stop, session).waiting != READING)
    window.stage.enter(story)
    settle(window, rig, qtbot)
    told = unbroken(fill(sentence, checked))
    assert unbroken(fill(sentence, scenes.scene(stop, session))) == told
    assert window.stage.frame.sentence.text() == told
