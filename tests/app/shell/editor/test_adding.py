"""What is on show becomes a stop, from any view that a stage can show."""

from pathlib import Path
from typing import get_args

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from flashscope.app.control.bundled import bundled_sessions
from flashscope.app.control.settings import Settings
from flashscope.app.pages.profile import ProfilePage
from flashscope.app.shell.editor.window import StoryEditor
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.stage.story import PageKey, Story, read_story
from tests.app.rig import Rig
from tests.app.shell.editor.conftest import Choose, Key, press, titles


@pytest.mark.matrix
def test_the_file_is_asked_for_once_and_all_stops_go_there(
    shown: MainWindow, tmp_path: Path, save_to: Choose
) -> None:
    asked = save_to(tmp_path / "mine")
    shown.trigger("stage.add")
    assert shown.errors.text == "Stop 1 of mine.toml."
    shown.show_page("traffic")
    shown.trigger("stage.add")
    assert asked == ["Add this as a stop"]
    assert [stop.page for stop in read_story(tmp_path / "mine.toml").stops] == ["profile", "traffic"]
    shown.errors._act_button.click()
    assert shown.writing.editor.desk.path == tmp_path / "mine.toml"


@pytest.mark.matrix
def test_the_file_is_asked_for_where_sessions_are_and_then_where_the_last_story_is(
    shown: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Path] = []

    def answer(
        _parent: object, _title: str, proposed: str, *_rest: object, **_options: object
    ) -> tuple[str, str]:
        begun.append(Path(proposed))
        return str(tmp_path / "mine.toml"), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", answer)
    for _window in range(2):  # the second is another start
        shown.writing._target = None
        shown.trigger("stage.add")
    assert begun == [shown.controller.sessions_dir / "story.toml", tmp_path / "story.toml"]
    assert Settings().stories == tmp_path


def test_a_stop_is_added_to_the_story_that_is_open(editor: StoryEditor, shown: MainWindow) -> None:
    editor.desk.choose(0)
    shown.trigger("stage.add")
    assert titles(editor) == ["footprint", "", "runtime", "throughput"]
    assert editor.desk.draft.at == 1
    assert editor.desk.dirty
    assert shown.errors.text == "Stop 2 of three.toml, which is open."


@pytest.mark.matrix
def test_after_the_editor_is_closed_stops_go_to_the_story_that_was_open(
    editor: StoryEditor, shown: MainWindow, story: Path
) -> None:
    editor.close()
    shown.trigger("stage.add")
    assert len(read_story(story).stops) == 4


@pytest.mark.matrix
def test_after_a_new_story_is_saved_and_closed_stops_go_there(
    shown: MainWindow, tmp_path: Path, save_to: Choose
) -> None:
    shown.trigger("story.new")
    shown.trigger("stage.add")
    save_to(tmp_path / "new")
    shown.writing.editor.trigger("editor.save")
    shown.writing.editor.close()
    shown.trigger("stage.add")
    assert len(read_story(tmp_path / "new.toml").stops) == 2


@pytest.mark.matrix
@pytest.mark.parametrize("view", ["notes", "claims", "trash", "start"])
def test_a_view_that_no_stage_shows_is_refused_before_a_file_is_asked_for(
    shown: MainWindow, view: str, save_to: Choose
) -> None:
    asked = save_to(None)
    shown.show_page(view)
    shown.trigger("stage.add")
    assert "has no place in a story; show one of these: Curves" in shown.errors.text
    assert not asked


@pytest.mark.matrix
def test_every_view_that_a_stage_shows_becomes_a_stop_that_can_be_read(
    editor: StoryEditor, shown: MainWindow, story: Path
) -> None:
    for key in get_args(PageKey):
        shown.show_page(key)
        shown.trigger("stage.add")
    editor.trigger("editor.save")
    assert {stop.page for stop in read_story(story).stops} == {*get_args(PageKey)}


@pytest.mark.matrix
def test_the_stop_speaks_of_the_kernel_that_the_headline_speaks_of(
    window: MainWindow, rig: Rig, tmp_path: Path, save_to: Choose
) -> None:
    rig.open(next(path for path in bundled_sessions() if path.stem == "h200-peers"))
    window.show_page("profile")
    page = window.page
    assert isinstance(page, ProfilePage)
    told = page.plots.headline()
    assert told is not None
    assert told.kernel != page.plots.kernels[-1]
    save_to(tmp_path / "mine.toml")
    window.trigger("stage.add")
    (stop,) = read_story(tmp_path / "mine.toml").stops
    assert f"{{fate of {told.kernel}}}" in stop.sentence
    assert f"Beside standard: {{runtime of {told.kernel} against standard}}." in stop.sentence


@pytest.mark.matrix  # it takes a second
def test_a_story_of_two_own_stops_is_made_saved_opened_again_and_presented(
    shown: MainWindow, rig: Rig, tmp_path: Path, save_to: Choose, qtbot: QtBot
) -> None:
    shown.trigger("story.new")
    editor = shown.writing.editor
    for view, title in (("profile", "First"), ("traffic", "Second")):
        shown.show_page(view)
        editor.trigger("editor.add")
        editor.form.title.setText(title)
        editor.form.title.textEdited.emit(title)
    editor.form.sentence.text.setPlainText("That was it.")
    save_to(tmp_path / "own.toml")
    editor.trigger("editor.save")
    editor.close()
    shown.writing.edit(tmp_path / "own.toml")
    assert titles(editor) == ["First", "Second"]
    assert editor.desk.draft.title == "own"
    editor.desk.choose(1)
    editor.trigger("editor.try")
    stage = shown.stage
    assert not editor.isVisible()
    assert stage.story == Story(tmp_path / "own.toml", "own", editor.desk.draft.stops)
    qtbot.waitUntil(lambda: stage.stop is not None and stage.at == 1)
    assert stage.frame.sentence.text() == "That was it."
    shown.activateWindow()
    press(shown, Key.Key_PageUp)
    qtbot.waitUntil(lambda: stage.stop is not None and stage.stop.title == "First")
    press(shown, Key.Key_Escape)
    assert not stage.on
    assert editor.isVisible()
    assert editor.desk.draft.at == 0


@pytest.mark.matrix
def test_a_story_that_is_not_right_is_not_tried(editor: StoryEditor, shown: MainWindow) -> None:
    editor.form.sentence.text.setPlainText("{runtme}")
    editor.trigger("editor.try")
    assert not shown.stage.on
    assert editor.isVisible()
    assert editor.errors.text.startswith("Nothing was presented: Stop 1: nothing on show is called")
