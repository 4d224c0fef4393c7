"""Pictures of stops come one by one from another process, and never beside a sweep."""

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from flashscope.app.look.kernel_marks import kernel_mark
from flashscope.app.look.theme import DARK
from flashscope.app.shell.editor import thumbnails
from flashscope.app.shell.editor.stop_list import ENTRY, StopEntry
from flashscope.app.shell.editor.thumbnails import HELD, NONE, ON_SHOW, WAITING
from flashscope.app.shell.editor.window import StoryEditor
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.stage.story import Stop
from tests.app.fakes import sweep
from tests.app.pixels import pixels
from tests.app.rig import Rig

TOP = 20  # lines of a picture in which the sentence stands


def entry(editor: StoryEditor, at: int) -> StopEntry:
    found = editor.stops.entries.index(at).data(ENTRY)
    assert isinstance(found, StopEntry)
    return found


@pytest.fixture
def drawing(monkeypatch: pytest.MonkeyPatch, no_picture_is_drawn: None) -> None:
    monkeypatch.setattr(thumbnails, "IDLE_MS", 0)


def test_words_stand_in_the_place_of_a_picture(editor: StoryEditor) -> None:
    assert [(entry(editor, at).picture, entry(editor, at).words) for at in range(3)] == [(None, WAITING)] * 3


@pytest.mark.matrix  # it takes seconds
def test_a_picture_shows_the_stage_with_the_sentence_and_stays_until_the_next_is_drawn(
    drawing: None, editor: StoryEditor, story: Path, qtbot: QtBot
) -> None:
    editor.trigger("editor.remove")
    editor.trigger("editor.remove")
    qtbot.waitUntil(lambda: entry(editor, 0).picture is not None)
    picture = entry(editor, 0).picture
    assert picture is not None
    colours = {picture.toImage().pixelColor(x, y).name() for x in range(0, 480, 3) for y in range(0, 270, 3)}
    assert len(colours) > 10
    editor.form.notes.setPlainText("Other words.")
    assert entry(editor, 0).picture is picture
    assert not editor.thumbnails._pause.isActive()
    editor.form.sentence.text.setPlainText("Short.")
    assert entry(editor, 0).picture is picture, "there is none while the next is drawn"
    qtbot.waitUntil(lambda: entry(editor, 0).picture is not picture)
    said = entry(editor, 0).picture
    assert said is not None
    (look,) = editor.thumbnails._wanted
    assert [*editor.thumbnails._like(look)] == [look], "every sentence on the way has kept a picture"
    before, after = (pixels(one.toImage())[:TOP] for one in (picture, said))
    assert (before != after).any()
    assert (after != after[0, 0]).any(), "no sentence stands over the plots"


def test_a_stop_that_cannot_be_shown_has_none(editor: StoryEditor, qtbot: QtBot) -> None:
    editor.desk.edit(editor.desk.draft.changed(Stop("profile", session="gone.flashscope")))
    editor.trigger("editor.next")
    editor.trigger("editor.remove")
    editor.trigger("editor.remove")
    editor.thumbnails._begin()
    assert editor.thumbnails._process is None
    qtbot.waitUntil(lambda: entry(editor, 0).words == NONE)
    assert entry(editor, 0).wrong
    assert "there is no session 'gone.flashscope'" in entry(editor, 0).says


def test_nothing_is_drawn_while_a_sweep_runs(
    window: MainWindow, rig: Rig, story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.show_page("profile")
    window.trigger("run")
    rig.say(sweep(points=1)[:3])
    assert rig.controller.measuring
    monkeypatch.setattr(thumbnails, "IDLE_MS", 0)
    window.writing.edit(story)
    editor = window.writing.editor
    editor.thumbnails._begin()
    assert editor.thumbnails._process is None
    assert entry(editor, 0).words == HELD


@pytest.mark.matrix
def test_a_stop_of_what_is_on_show_has_a_picture_only_of_a_file(
    editor: StoryEditor, rig: Rig, session: Path
) -> None:
    stop = Stop("profile")
    assert editor.thumbnails.look(stop, None) is None
    assert editor.thumbnails.words(None) == ON_SHOW
    rig.open(session)
    look = editor.thumbnails.look(stop, None)
    assert look is not None
    assert look.stop.session == str(session)


@pytest.mark.matrix
def test_a_comparison_has_a_picture_of_its_plot(
    drawing: None, editor: StoryEditor, story: Path, qtbot: QtBot
) -> None:
    compared = Stop("compare", session="h100-peers", beside=("h200-peers",))
    editor.desk.edit(editor.desk.draft.changed(compared))
    qtbot.waitUntil(lambda: entry(editor, 0).picture is not None)
    picture = entry(editor, 0).picture
    assert picture is not None
    image = picture.toImage()
    colours = {image.pixelColor(x, y).name() for x in range(0, 480, 3) for y in range(80, 240)}
    assert kernel_mark("standard").on(DARK).lower() in colours


def test_what_a_stop_compares_is_found_from_where_its_picture_is_drawn(
    editor: StoryEditor, session: Path
) -> None:
    other = session.with_name("other.flashscope")
    other.write_bytes(session.read_bytes())
    compared = Stop("compare", session=session.name, beside=(other.name,))
    editor.desk.edit(editor.desk.draft.changed(compared))
    looks = editor.thumbnails._wanted
    assert [look.stop.beside for look in looks if look.stop.page == "compare"] == [(str(other),)]
