"""Opens and saves the story on the desk; whatever would be lost is asked about first."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QWidget

from flashscope.app.shell.editor.asking import (
    Answer,
    ask_about_edits,
    ask_for_story,
    ask_for_target,
    ask_to_replace,
)
from flashscope.app.shell.editor.desk import Desk
from flashscope.app.stage.story import ENDING, StoryError
from flashscope.app.stage.writing import ChangedError
from flashscope.app.widgets.frame.error_line import ErrorLine
from flashscope.app.words.results.sessions import as_file_name
from flashscope.profiles.store import SessionFileError

CHANGED = "{} was changed by another program since it was read; what is shown is as it was read."
COPY = "A copy of {}, which comes with the program: save it as yours."
SAVE_AS = "Save as …"


class Filing:
    """What is done with the file of the story.

    Args:
        window: What questions stand over.
        desk: Has the story.
        errors: Tells what was written, or why not.
    """

    def __init__(self, window: QWidget, desk: Desk, errors: ErrorLine) -> None:
        self._window, self._desk, self._errors = window, desk, errors
        self._told = False  # that the file was changed on the disk

    def begin(self) -> bool:
        """A new story in place of this one; whether there is one now."""
        if not self.may_go():
            return False
        self._desk.begin()
        self._errors.hide()
        return True

    def open(self, path: Path) -> bool:
        """A story from its file in place of this one; whether it is there now."""
        if not self.may_go():
            return False
        return self._open(path)

    def _open(self, path: Path) -> bool:
        try:
            self._desk.open(path)
        except StoryError as error:
            self._errors.show_error(f"No story was opened: {error}")
            return False
        self._told = False
        self._errors.hide()
        if self._desk.path is None:
            self._errors.show_notice(
                f"A copy of {path.name}, which comes with the program: save it as yours."
            )
        return True

    def open_dialog(self) -> None:
        """Let the user choose a story and open it."""
        path = ask_for_story(self._window, self._desk.base.parent)
        if path is not None:
            self.open(path)

    def save(self) -> bool:
        """Save, and ask for a name where there is none yet; whether it is saved now."""
        return self.save_as() if self._desk.path is None else self._save(self._desk.path, unchanged=True)

    def save_as(self) -> bool:
        """Ask for a file and save there; whether it is saved now."""
        desk = self._desk
        try:
            desk.check()
            proposed = desk.proposed.with_name(f"{as_file_name(Path(desk.name).stem)}{ENDING}")
            target = ask_for_target(self._window, "Save the story", proposed)
        except (StoryError, FileExistsError) as error:
            self._refuse(error)
            return False
        return target is not None and self._save(target, unchanged=False)

    def _save(self, path: Path, *, unchanged: bool) -> bool:
        try:
            self._desk.save(path, unchanged=unchanged)
        except ChangedError:
            return ask_to_replace(self._window, path.name) and self._save(path, unchanged=False)
        except (StoryError, SessionFileError, OSError) as error:
            self._refuse(error)
            return False
        self._told = False
        self._errors.show_notice(f"Saved {self._desk.name}.")
        return True

    def _refuse(self, error: Exception) -> None:
        """Tell why nothing was saved, and choose the stop that is not right, or offer another file."""
        self._errors.show_error(f"Nothing was saved: {error}")
        at = self._desk.first_problem
        if at is not None:
            self._desk.choose(at)
        elif not isinstance(error, StoryError):
            self._errors.offer(SAVE_AS, plainly(self.save_as))

    def may_go(self) -> bool:
        """Whether the story may make room: it is saved, or the user does not want it."""
        if not self._desk.dirty:
            return True
        answer = ask_about_edits(self._window, self._desk.name)
        return self.save() if answer is Answer.SAVE else answer is Answer.DISCARD

    def look_at_disk(self) -> None:
        """Tell, once, that another program has changed the file, and offer to read it again."""
        self._desk.look_again()
        path, changed = self._desk.path, self._desk.changed_on_disk
        if changed and path is not None and not self._told:
            self._errors.show_error(CHANGED.format(path.name))
            self._errors.offer("Reload", plainly(partial(self.open, path)))
        self._told = changed


def plainly(act: Callable[[], object]) -> Callable[[], None]:
    """The same, for who has no use for what it gives."""

    def do() -> None:
        act()

    return do
