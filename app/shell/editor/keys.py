"""What can be done in the editor of stories, each with its keys."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from flashscope.app.control.actions import Action
from flashscope.app.shell.editor.filing import plainly
from flashscope.app.widgets.frame.shortcut_sheet import ShortcutSheet

if TYPE_CHECKING:  # it is what has these
    from flashscope.app.shell.editor.window import StoryEditor

STORY, STOP = "Story", "Stop"


def editor_actions(editor: "StoryEditor") -> list[Action]:
    """All actions, in the order of the menu."""
    return [*_of_story(editor), *_of_stop(editor)]


def _of_story(editor: "StoryEditor") -> list[Action]:
    desk, filing = editor.desk, editor.filing
    return [
        Action("editor.new", "New story", plainly(filing.begin), STORY, "Ctrl+N"),
        Action("editor.open", "Open a story …", filing.open_dialog, STORY, "Ctrl+O"),
        Action("editor.save", "Save the story", plainly(filing.save), STORY, "Ctrl+S"),
        Action("editor.save-as", "Save the story as …", plainly(filing.save_as), STORY, "Ctrl+Shift+S"),
        Action("editor.try", "Try it from here", editor.try_here, STORY, "F11", possible=_has_stop(editor)),
        Action(
            "editor.undo",
            "Undo the last edit",
            desk.undo,
            STORY,
            "Ctrl+Z",
            possible=lambda: bool(desk.history.past),
        ),
        Action(
            "editor.redo",
            "Make the undone edit again",
            desk.redo,
            STORY,
            "Ctrl+Shift+Z; Ctrl+Y",
            possible=lambda: bool(desk.history.future),
        ),
        Action("editor.keys", "Show the keyboard shortcuts", partial(_open_sheet, editor), STORY, "F1"),
        Action("editor.close", "Close the story", plainly(editor.close), STORY, "Ctrl+W; Esc"),
    ]


def _of_stop(editor: "StoryEditor") -> list[Action]:
    desk, on = editor.desk, _has_stop(editor)

    def move(by: int) -> None:
        desk.edit(desk.draft.moved(desk.draft.at, desk.draft.at + by))

    def duplicate() -> None:
        if desk.draft.stop is not None:
            desk.edit(desk.draft.added(desk.draft.stop))

    def add() -> None:
        editor.telling("No stop was added", editor.add)

    before, following = partial(_go, editor, -1), partial(_go, editor, 1)
    take, blank = "Take from what is on show", "Insert a blank …"
    return [
        Action("editor.add", "Add what is on show", add, STOP, "Ctrl+Shift+A"),
        Action("editor.take", take, editor.take, STOP, "Ctrl+Shift+T", possible=on),
        Action("editor.blank", blank, editor.form.sentence.offer, STOP, "Ctrl+B", possible=on),
        Action("editor.duplicate", "Duplicate the stop", duplicate, STOP, "Ctrl+D", possible=on),
        Action("editor.up", "Move the stop up", partial(move, -1), STOP, "Alt+Up", possible=on),
        Action("editor.down", "Move the stop down", partial(move, 1), STOP, "Alt+Down", possible=on),
        Action("editor.before", "Go to the stop before", before, STOP, "Ctrl+PgUp", possible=on),
        Action("editor.next", "Go to the next stop", following, STOP, "Ctrl+PgDown", possible=on),
        Action("editor.remove", "Remove the stop", partial(_remove, editor), STOP, "Del", possible=on),
    ]


def _go(editor: "StoryEditor", by: int) -> None:
    desk = editor.desk
    if 0 <= desk.draft.at + by < len(desk.draft.stops):
        desk.choose(desk.draft.at + by)


def _remove(editor: "StoryEditor") -> None:
    """Remove the chosen stop, which Ctrl+Z brings back."""
    desk, number = editor.desk, editor.desk.draft.at + 1
    desk.edit(desk.draft.removed())
    past, bring_back = desk.history.past, desk.undo

    def follow() -> None:
        """Say no more that it was removed once it is back, or Ctrl+Z takes back something else."""
        if desk.history.past is not past:
            desk.changed.disconnect(follow)
            editor.errors.withdraw(bring_back)

    desk.changed.connect(follow)
    editor.errors.show_undo(f"Removed stop {number}. Ctrl+Z brings it back.", bring_back)


def _has_stop(editor: "StoryEditor") -> Callable[[], bool]:
    return lambda: editor.desk.draft.stop is not None


def _open_sheet(editor: "StoryEditor") -> None:
    sheet = ShortcutSheet(editor.registry, editor)
    sheet.finished.connect(sheet.deleteLater)
    sheet.open()
