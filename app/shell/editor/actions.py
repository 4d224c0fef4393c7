"""What one can do in the main window who writes a story."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from flashscope.app.control.actions import Action
from flashscope.app.shell.editor.asking import ask_for_story, ask_for_target
from flashscope.app.shell.editor.shown_stop import check_stageable, stop_on_show
from flashscope.app.shell.paged_window import PagedWindow
from flashscope.app.shell.presenter.presenter import Stage
from flashscope.app.stage.story import BUNDLED_STORIES, ENDING, StoryError, find_story
from flashscope.app.stage.writing import add_stop
from flashscope.app.widgets.frame.error_line import ErrorLine
from flashscope.profiles.store import SessionFileError

if TYPE_CHECKING:  # what it needs takes a while to load, and no story is edited at the start
    from flashscope.app.shell.editor.window import StoryEditor

GROUP = "Present"
ADD = "Add this as a stop"
PROPOSED = f"story{ENDING}"


class StoryActions:
    """The actions of the Present menu that write; the editor is made when it is first asked for.

    Args:
        window: Shows what becomes a stop.
        stage: Presents the story.
        errors: Tells what was written, or why not.
    """

    def __init__(self, window: PagedWindow, stage: Stage, errors: ErrorLine) -> None:
        self._window, self._stage, self._errors = window, stage, errors
        self._editor: StoryEditor | None = None
        self._target: Path | None = (
            None  # the file that stops are added to, for as long as the window is there
        )

    def offered(self) -> list[Action]:
        """All actions, in the order of the menu."""
        copies = (
            Action(
                f"story.copy.{name}", f"Edit a copy of: {title}", partial(self.edit, find_story(name)), GROUP
            )
            for name, title in BUNDLED_STORIES.items()
        )
        return [
            Action("story.new", "New story", self._begin, GROUP),
            Action("story.edit", "Edit a story …", self._open, GROUP),
            *copies,
            Action("stage.add", ADD, self._add, GROUP, "Ctrl+Shift+A"),
        ]

    @property
    def editor(self) -> "StoryEditor":
        """The window in which a story is written."""
        if self._editor is None:
            from flashscope.app.shell.editor.window import StoryEditor  # noqa: PLC0415 - see above

            self._editor = StoryEditor(self._window, self._stage)
            self._editor.desk.changed.connect(self._follow)
        return self._editor

    def _follow(self) -> None:
        """Add stops, once the editor is closed, to the file that was open in it last."""
        if self._editor is not None:
            self._aim_at(self._editor.desk.path or self._target)

    def _aim_at(self, target: Path | None) -> None:
        """Add stops to this file from now on, and begin where it is when another one is asked for."""
        if target is not None and target != self._target:
            self._target = target
            self._window.settings.stories = target.parent

    @property
    def _folder(self) -> Path:
        """Where stories of one's own are: where the last one was, else beside the sessions they name."""
        return self._window.settings.stories or self._window.controller.sessions_dir

    def edit(self, path: Path) -> None:
        """Open a story where it is edited; why it cannot be is told there, or here where no story is open."""
        editor = self.editor
        if editor.filing.open(path):
            editor.open()
        elif not editor.isVisible():
            self._errors.show_error(editor.errors.text)

    def close(self, *, agreed: bool) -> bool:
        """Close the editor, asking where edits would be lost unless that is agreed; whether it is closed."""
        if self._editor is not None and agreed:
            self._editor.stop()
        return self._editor is None or self._editor.close()

    def _begin(self) -> None:
        if self.editor.filing.begin():
            self.editor.open()

    def _open(self) -> None:
        path = ask_for_story(self._window, self._folder)
        if path is not None:
            self.edit(path)

    def _add(self) -> None:
        """Add what is on show to the story that is open, else to the file of the stops before."""
        try:
            check_stageable(self._window)
            if self._editor is not None and self._editor.isVisible():
                number = self._editor.add()
                self._errors.show_notice(f"Stop {number} of {self._editor.desk.name}, which is open.")
            else:
                self._add_to_file()
        except (StoryError, SessionFileError, OSError) as error:
            self._errors.show_error(f"No stop was added: {error}")

    def _add_to_file(self) -> None:
        target = self._target or ask_for_target(self._window, ADD, self._folder / PROPOSED, adding=True)
        if target is None:
            return
        number = add_stop(target, stop_on_show(self._window, target))
        self._aim_at(target)
        self._errors.show_notice(f"Stop {number} of {target.name}.")
        self._errors.offer("Edit the story", partial(self.edit, target))
