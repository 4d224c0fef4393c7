"""A story that nobody would write is presented as far as it can be, once it is read at all."""

from pathlib import Path

import pytest

from flashscope.app.shell.main_window import MainWindow
from flashscope.app.shell.shots import grab_whole
from flashscope.app.stage.story import StoryError, read_story
from tests.app.rig import Rig
from tests.app.shell.presenter.conftest import answer
from tests.app.stage.stories import STRANGE
from tests.limits import limited

STOPS = 3  # that are walked


@pytest.mark.matrix
def test_a_strange_story_is_walked(tmp_path: Path, window: MainWindow, rig: Rig, raised: list[str]) -> None:
    window.pages.complete()
    walked = 0
    for name, content in STRANGE.items():
        path = tmp_path / "mine.toml"
        path.write_bytes(content)
        try:
            story = read_story(path)
        except StoryError:
            continue
        with limited():
            window.stage.enter(story)
            for _ in story.stops[:STOPS]:
                answer(rig)
                grab_whole(window)
                window.stage.step(1)
            window.stage.leave()
        assert not raised, f"{name}: {raised[0]}"
        walked += 1
    assert walked > 20
