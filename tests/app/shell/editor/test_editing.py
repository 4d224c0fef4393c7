"""In the editor stops are ordered, doubled, removed and written, and all of it can be undone."""

import pytest
from PySide6.QtCore import QModelIndex
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QMenu, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from flashscope.app.shell.editor.frame import HEADING
from flashscope.app.shell.editor.window import StoryEditor
from flashscope.app.shell.main_window import MainWindow
from flashscope.app.stage.story import Stop
from flashscope.app.widgets.plain import PlainLabel
from tests.app.shell.editor.conftest import Alt, Ctrl, Key, Shift, focus, press, titles

SAYS = "flash2 takes"


def test_keys_move_double_and_remove_a_stop_and_undo_gives_each_step_back(
    editor: StoryEditor, qtbot: QtBot
) -> None:
    focus(editor.stops, qtbot)
    press(editor.stops, Key.Key_Down)
    assert editor.desk.draft.at == 1
    press(editor.stops, Key.Key_Up, Alt)
    assert titles(editor) == ["runtime", "footprint", "throughput"]
    press(editor.stops, Key.Key_Down, Alt)
    press(editor.stops, Key.Key_Down, Alt)
    press(editor.stops, Key.Key_Down, Alt)  # it is the last
    assert titles(editor) == ["footprint", "throughput", "runtime"]
    press(editor.stops, Key.Key_D, Ctrl)
    press(editor.stops, Key.Key_PageUp, Ctrl)
    press(editor.stops, Key.Key_PageUp, Ctrl)
    press(editor.stops, Key.Key_Delete)
    assert titles(editor) == ["footprint", "runtime", "runtime"]
    seen = []
    while editor.desk.history.past:
        press(editor.stops, Key.Key_Z, Ctrl)
        seen.append(titles(editor))
    assert seen[0] == ["footprint", "throughput", "runtime", "runtime"]
    assert seen[-1] == ["footprint", "runtime", "throughput"]
    assert not editor.desk.dirty
    for _ in seen:
        press(editor.stops, Key.Key_Z, Ctrl | Shift)
    assert titles(editor) == ["footprint", "runtime", "runtime"]


def test_a_removed_stop_is_told_until_it_is_back_or_something_else_is_done(
    editor: StoryEditor, qtbot: QtBot
) -> None:
    focus(editor.stops, qtbot)
    press(editor.stops, Key.Key_Delete)
    press(editor.stops, Key.Key_Down)  # looks at another one, and edits nothing
    assert editor.errors.isVisible()
    editor.errors._act_button.click()
    assert titles(editor) == ["footprint", "runtime", "throughput"]
    press(editor.stops, Key.Key_Delete)
    press(editor.stops, Key.Key_Z, Ctrl)
    assert editor.errors.isHidden()
    press(editor.stops, Key.Key_Delete)
    press(editor.stops, Key.Key_Down, Alt)
    assert editor.errors.isHidden()


def test_a_stop_is_dragged_before_another_one(editor: StoryEditor) -> None:
    model = editor.stops.entries
    assert model.moveRows(QModelIndex(), 2, 1, QModelIndex(), 0)
    assert titles(editor) == ["throughput", "footprint", "runtime"]
    assert model.moveRows(QModelIndex(), 0, 1, QModelIndex(), 3)
    assert titles(editor) == ["footprint", "runtime", "throughput"]
    assert editor.stops.currentIndex().row() == editor.desk.draft.at == 2
    assert not model.moveRows(QModelIndex(), 1, 1, QModelIndex(), 2)


def test_letters_are_undone_as_one_edit_from_the_field_that_they_are_typed_into(
    editor: StoryEditor, qtbot: QtBot
) -> None:
    for field, name in (
        (editor.form.title, "title"),
        (editor.form.sentence.text, "sentence"),
        (editor.form.notes, "notes"),
    ):
        focus(field, qtbot)
        before = editor.desk.draft
        QTest.keyClicks(field, "xyz")
        assert "xyz" in getattr(editor.desk.draft.stop, name)
        press(field, Key.Key_Z, Ctrl)
        assert editor.desk.draft == before
        assert "xyz" not in (field.text() if isinstance(field, QLineEdit) else field.toPlainText())


def test_the_sentence_is_told_as_it_is_now_and_the_error_of_a_blank_beside_it(
    editor: StoryEditor, qtbot: QtBot
) -> None:
    field = editor.form.sentence
    qtbot.waitUntil(lambda: field.said.text().startswith(SAYS) and "ms" in field.said.text())
    assert field.wrong.isHidden()
    field.text.setPlainText("{runtme of flash2}, {runtime of flash9} at {n}")
    assert field.said.text() == "{runtme of flash2}, {runtime of flash9} at 512"
    assert field.wrong.text().splitlines() == [
        "{runtme of flash2}: nothing on show is called 'runtme'; did you mean runtime?",
        "{runtime of flash9}: flash9 was not measured at N = 512.",
    ]
    assert field.wrong.isVisible()
    field.text.setPlainText("a {brace")
    assert field.wrong.text() == "A brace without its partner stays as it is."


def test_the_menu_of_blanks_has_their_values_and_writes_one_where_the_cursor_is(
    editor: StoryEditor, qtbot: QtBot
) -> None:
    field = editor.form.sentence
    qtbot.waitUntil(lambda: "ms" in field.said.text())
    menu = field.menu()
    for inner in menu.findChildren(QMenu):
        inner.aboutToShow.emit()
        inner.aboutToShow.emit()  # once more, which adds nothing
    offered = {
        action.text().split("\t")[0]: action
        for inner in [menu, *menu.findChildren(QMenu)]
        for action in inner.actions()
    }
    assert offered["{n}"].text() == "{n}\t512"
    assert offered["{runtime of flash2 against standard}"].text().endswith("faster")
    field.text.setPlainText("It is .")
    field.text.moveCursor(field.text.textCursor().MoveOperation.End)
    field.text.moveCursor(field.text.textCursor().MoveOperation.Left)
    offered["{n}"].trigger()
    assert editor.desk.draft.stop is not None
    assert editor.desk.draft.stop.sentence == "It is {n}."


@pytest.mark.matrix
def test_view_session_and_n_of_a_stop_are_fields(editor: StoryEditor, qtbot: QtBot) -> None:
    form, desk = editor.form, editor.desk
    form.seqlen.setFocus()
    form.seqlen.setText("")
    QTest.keyClicks(form.seqlen, "1k")
    assert desk.draft.stop is not None
    assert desk.draft.stop.seqlen == 1024
    form.seqlen.clear()
    QTest.keyClicks(form.seqlen, "x")
    assert desk.draft.stop.seqlen == 1024
    place = form.session.findData("h200-peers")
    form.session.setCurrentIndex(place)
    form.session.activated.emit(place)
    assert desk.draft.stop.session == "h200-peers"
    place = form.page.findData("stepper")
    form.page.activated.emit(place)
    walked = desk.draft.stop
    assert walked == Stop(  # kernels and N choose the trace of a session
        "stepper",
        walked.title,
        "h200-peers",
        kernels=walked.kernels,
        seqlen=1024,
        sentence=walked.sentence,
        notes=walked.notes,
    )
    assert not form.session.isEnabled()


def test_a_stop_takes_what_is_on_show_and_keeps_its_words(
    editor: StoryEditor, shown: MainWindow, qtbot: QtBot
) -> None:
    before = editor.desk.draft.stop
    assert before is not None
    editor.trigger("editor.take")
    stop = editor.desk.draft.stop
    assert stop is not None
    assert stop.quantity == ("footprint", "runtime")
    assert stop.session == "swept.flashscope"
    assert (stop.title, stop.sentence, stop.notes) == (before.title, before.sentence, before.notes)
    shown.show_page("claims")
    editor.trigger("editor.take")
    assert editor.errors.text.startswith("Nothing was taken: Claims has no place in a story")


@pytest.mark.matrix
def test_a_new_story_has_words_and_a_way_on(window: MainWindow) -> None:
    window.trigger("story.new")
    editor = window.writing.editor
    assert editor.isVisible()
    assert HEADING in [label.text() for label in editor.findChildren(PlainLabel) if label.isVisible()]
    assert not editor.form.isVisible()
    editor.trigger("editor.save")
    assert editor.errors.text.startswith("Nothing was saved: A story has one stop at least")


@pytest.mark.matrix
def test_everything_in_the_editor_has_a_name_and_is_reached_with_tab(editor: StoryEditor) -> None:
    kinds = (QAbstractButton, QComboBox, QLineEdit, QPlainTextEdit, type(editor.stops))
    parts = [part for kind in kinds for part in editor.findChildren(kind) if part.isVisible()]
    assert not [part for part in parts if not part.accessibleName()]
    reached: set[QWidget] = set()
    widget: QWidget | None = editor
    while widget is not None and widget not in reached:
        reached.add(widget)
        widget = widget.nextInFocusChain()
    assert set(parts) <= reached


@pytest.mark.matrix
def test_buttons_of_what_cannot_be_done_cannot_be_pressed(window: MainWindow) -> None:
    window.trigger("story.new")
    editor = window.writing.editor
    assert not any(icon.isEnabled() for icon in (*editor.icons, *editor.turns))
