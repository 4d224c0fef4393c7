"""A story is opened, saved under a name that is asked for once, and never lost or written over unasked."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QMimeData, QPoint, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.shell.editor import desk
from flashscope.app.shell.editor.window import StoryEditor
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.stage.story import STORIES, Stop, find_story, read_story
from flashscope.app.stage.writing import problem_of
from tests.app.shell.editor.conftest import THREE, Choose, Ctrl, Key, press, titles

Answer = Callable[[str], list[str]]


def change(editor: StoryEditor, title: str = "changed") -> None:
    stop = editor.desk.draft.stop
    assert stop is not None
    editor.desk.edit(editor.desk.draft.changed(replace(stop, title=title)))


def test_ctrl_s_saves_and_the_title_of_the_window_says_whether_all_is_saved(
    editor: StoryEditor, story: Path
) -> None:
    change(editor)
    assert editor.isWindowModified()
    assert editor.state.text() == "three.toml · edited"
    press(editor.stops, Key.Key_S, Ctrl)
    assert not editor.isWindowModified()
    assert editor.errors.text == "Saved three.toml."
    assert [stop.title for stop in read_story(story).stops] == ["changed", "runtime", "throughput"]


def drop(window: QWidget, path: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path))])
    none, left = Qt.KeyboardModifier.NoModifier, Qt.MouseButton.LeftButton
    QApplication.sendEvent(window, QDragEnterEvent(QPoint(9, 9), Qt.DropAction.CopyAction, data, left, none))
    QApplication.sendEvent(window, QDropEvent(QPoint(9, 9), Qt.DropAction.CopyAction, data, left, none))


@pytest.mark.matrix
def test_a_story_that_is_dropped_on_either_window_is_opened_in_the_editor(
    window: MainWindow, story: Path
) -> None:
    drop(window, story)
    editor = window.writing.editor
    assert editor.isVisible()
    assert titles(editor) == ["footprint", "runtime", "throughput"]
    editor.desk.begin()
    drop(editor, story.with_name("swept.flashscope"))
    assert titles(editor) == []
    drop(editor, story)
    assert titles(editor) == ["footprint", "runtime", "throughput"]


def test_edit_a_story_asks_for_a_file(
    window: MainWindow, story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_a: (str(story), ""))
    window.trigger("story.edit")
    assert window.writing.editor.desk.path == story


@pytest.mark.matrix
def test_a_story_that_cannot_be_read_is_told_in_the_window(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "latin.toml"
    path.write_bytes('title = "Übung"'.encode("latin-1"))
    window.open_path(path)
    assert "it is no text in UTF-8; save it as such" in window.errors.text
    assert not window.writing.editor.isVisible()


def test_a_bundled_story_is_a_copy_that_asks_for_a_name_once(
    window: MainWindow, tmp_path: Path, save_to: Choose
) -> None:
    window.trigger("story.copy.why-tiling-wins")
    editor = window.writing.editor
    assert editor.desk.path is None
    assert not editor.desk.dirty
    asked = save_to(STORIES / "mine.toml")
    editor.trigger("editor.save")
    assert "comes with the program" in editor.errors.text
    asked.clear()
    save_to(tmp_path / "mine")
    editor.trigger("editor.save")
    change(editor)
    editor.trigger("editor.save")
    assert asked == ["Save the story"]
    assert read_story(tmp_path / "mine.toml").stops[1:] == read_story(find_story("why-tiling-wins")).stops[1:]


def test_closing_asks_once_where_edits_would_be_lost(
    editor: StoryEditor, story: Path, answer: Answer, window: MainWindow
) -> None:
    editor.close()
    assert not editor.isVisible()
    window.writing.edit(story)
    change(editor)
    asked = answer("Keep editing")
    editor.close()
    assert editor.isVisible()
    assert asked == ["three.toml has edits that are not saved: save them?"]
    assert not window.close()
    assert window.isVisible()
    answer("Save")
    editor.close()
    assert not editor.isVisible()
    assert read_story(story).stops[0].title == "changed"
    window.writing.edit(story)
    change(editor, "again")
    answer("Discard")
    editor.close()
    assert read_story(story).stops[0].title == "changed"
    assert not editor.desk.dirty


@pytest.mark.matrix
def test_edits_are_asked_about_when_the_window_is_closed_while_the_story_is_tried(
    editor: StoryEditor, answer: Answer, window: MainWindow, qtbot: QtBot
) -> None:
    change(editor)
    editor.trigger("editor.try")
    qtbot.waitUntil(lambda: window.stage.stop is not None)
    asked = answer("Keep editing")
    assert not window.close()
    assert len(asked) == 1
    window.stage.leave()
    assert editor.isVisible()
    assert titles(editor)[0] == "changed"


@pytest.mark.matrix
def test_another_story_replaces_edits_only_when_asked(
    editor: StoryEditor, answer: Answer, window: MainWindow
) -> None:
    change(editor)
    answer("Keep editing")
    window.trigger("story.new")
    assert titles(editor)[0] == "changed"
    answer("Discard")
    window.trigger("story.new")
    assert titles(editor) == []


def test_what_another_program_wrote_meanwhile_is_told_and_stays_unless_it_may_go(
    editor: StoryEditor, story: Path, answer: Answer
) -> None:
    change(editor)
    story.write_text(THREE.replace("Three", "Theirs"))
    asked = answer("Leave it")
    editor.trigger("editor.save")
    assert asked == ["three.toml was changed by another program meanwhile: write over it?"]
    assert read_story(story).title == "Theirs"
    assert editor.desk.dirty
    answer("Write over it")
    editor.trigger("editor.save")
    assert read_story(story).title == "Three"


@pytest.mark.matrix
def test_who_comes_back_to_a_file_that_was_changed_can_read_it_again(
    editor: StoryEditor, story: Path
) -> None:
    story.write_text(THREE.replace("Three", "Theirs"))
    editor.filing.look_at_disk()
    assert "three.toml was changed by another program" in editor.errors.text
    editor.errors._act_button.click()
    assert editor.desk.draft.title == "Theirs"
    editor.errors.hide()
    editor.filing.look_at_disk()
    assert editor.errors.isHidden()


def test_a_file_that_may_only_be_read_is_refused_with_another_name_offered(
    editor: StoryEditor, story: Path, tmp_path: Path, save_to: Choose
) -> None:
    change(editor)
    story.chmod(0o400)
    editor.trigger("editor.save")
    assert "may only be read" in editor.errors.text
    assert story.read_text() == THREE
    save_to(tmp_path / "other.toml")
    editor.errors._act_button.click()
    moved = read_story(tmp_path / "other.toml").stops[0]
    named = os.path.relpath(story.with_name("swept.flashscope"), tmp_path)
    assert (moved.title, moved.session) == ("changed", named)
    editor.trigger("editor.undo")
    assert [(stop.title, stop.session) for stop in editor.desk.draft.stops[:1]] == [("footprint", named)]


@pytest.mark.matrix
def test_a_link_stays_one(window: MainWindow, story: Path) -> None:
    link = story.with_name("link.toml")
    link.symlink_to(story)
    window.writing.edit(link)
    change(window.writing.editor)
    window.writing.editor.trigger("editor.save")
    assert link.is_symlink()
    assert read_story(story).stops[0].title == "changed"


@pytest.mark.matrix
def test_a_story_with_a_blank_that_is_none_is_not_saved_and_its_stop_is_shown(
    editor: StoryEditor, story: Path
) -> None:
    stop = editor.desk.draft.stops[2]
    editor.desk.choose(2)
    editor.desk.edit(editor.desk.draft.changed(replace(stop, sentence="{runtme}")))
    editor.desk.choose(0)
    editor.trigger("editor.save")
    assert editor.errors.text.startswith("Nothing was saved: Stop 3: nothing on show is called 'runtme'")
    assert editor.desk.draft.at == 2
    assert story.read_text() == THREE


@pytest.mark.matrix
def test_an_ending_is_added_and_no_file_of_the_longer_name_is_written_over(
    editor: StoryEditor, story: Path, save_to: Choose
) -> None:
    save_to(story.with_suffix(""))
    editor.trigger("editor.save-as")
    assert "exists already" in editor.errors.text
    assert story.read_text() == THREE


@pytest.mark.matrix
def test_remarks_of_who_wrote_the_file_by_hand_stay(editor: StoryEditor, story: Path, qtbot: QtBot) -> None:
    story.write_text(THREE.replace("[[stop]]", "# mind the clock\n[[stop]]"))
    editor.filing.look_at_disk()
    editor.errors._act_button.click()
    editor.trigger("editor.down")
    editor.trigger("editor.save")
    assert story.read_text().count("# mind the clock") == 3
    assert titles(editor) == ["runtime", "footprint", "throughput"]


@pytest.mark.matrix
def test_what_was_saved_is_right_and_is_not_looked_through_again(
    editor: StoryEditor, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[Stop] = []

    def counting(path: Path, stop: Stop) -> str:
        looked.append(stop)
        return problem_of(path, stop)

    monkeypatch.setattr(desk, "problem_of", counting)
    change(editor)
    assert len(looked) == 1  # the one that was changed
    assert editor.filing.save()
    assert len(looked) == 1
    editor.desk.look_again()
    assert len(set(looked)) == 3
