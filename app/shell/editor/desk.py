"""The story on the desk: what is edited, its file, and whether both are the same."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from flashscope.app.stage.draft import Draft, History
from flashscope.app.stage.story import STORIES, Stop, Story, StoryError, read_story, story_bytes
from flashscope.app.stage.writing import problem_of, save_story
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.wire.text import in_utf8

UNTITLED = "Untitled"
MOST_TITLE = 100  # characters
NO_STOPS = "A story has one stop at least: show something in the main window and add it."


class Desk(QObject):
    """One story, every edit of which can be undone.

    Attributes:
        history: The story as it is now, and as it was.
        path: Its file; None: it has none yet, or it is a copy of a story that comes with the program.
        base: From where its sessions are named: its file, or the one it is a copy of.

    Signals:
        changed: The story, what is chosen in it or its file is another one.

    Args:
        folder: From where sessions are named as long as a new story has no file.
        parent: Its owner.
    """

    changed = Signal()

    def __init__(self, folder: Path, parent: QObject) -> None:
        super().__init__(parent)
        self._folder = folder
        self._problems: dict[tuple[Path, Stop], str] = {}
        self._lay(Draft(), None, folder / UNTITLED, b"")

    def _lay(self, draft: Draft, path: Path | None, base: Path, known: bytes) -> None:
        self.history = History(draft)
        self.path, self.base, self._known = path, base, known
        self._saved = draft.content
        self.look_again()

    @property
    def draft(self) -> Draft:
        """The story as it is now."""
        return self.history.now

    @property
    def dirty(self) -> bool:
        """Whether something would be lost without saving."""
        return self.draft.content != self._saved

    @property
    def name(self) -> str:
        """What its file is called."""
        return self.path.name if self.path is not None else self.draft.title or UNTITLED

    @property
    def proposed(self) -> Path:
        """A file beside which it would be saved that has none yet."""
        copied = self.base.resolve().parent == STORIES.resolve()
        return self._folder / self.base.name if copied else self.base

    def begin(self) -> None:
        """A new story, which has no stop and no file yet."""
        self._lay(Draft(), None, self._folder / UNTITLED, b"")

    def open(self, path: Path) -> None:
        """A story from its file; one that comes with the program as a copy that has no file yet.

        Raises:
            StoryError: It cannot be read: the file, the stop, the line and the remedy.
        """
        path = path.absolute()
        story, known = read_story(path), story_bytes(path)
        bundled = path.resolve().parent == STORIES.resolve()
        self._lay(Draft(story.title, story.stops), None if bundled else path, path, known)

    def edit(self, draft: Draft, mark: str = "") -> None:
        """One edit; what is typed into one field, by its mark, is one."""
        self.history = self.history.do(draft, mark)
        self.changed.emit()

    def choose(self, at: int) -> None:
        """Look at another stop."""
        if at != self.draft.at:
            self._turn(self.history.choose(at))

    def pause(self) -> None:
        """Let what is typed next be an edit of its own."""
        self.history = self.history.pause()

    def undo(self) -> None:
        """Take back the last edit."""
        self._turn(self.history.undo())

    def redo(self) -> None:
        """Make again what was undone last."""
        self._turn(self.history.redo())

    def _turn(self, history: History) -> None:
        self.history = history
        self.changed.emit()

    def session_of(self, stop: Stop) -> Path | None:
        """The file of a stop's session, None: what is on show."""
        return Story(self.base, "", ()).session_of(stop)

    def beside_of(self, stop: Stop) -> Sequence[Path]:
        """The files of what a stop compares with its session."""
        return Story(self.base, "", ()).beside_of(stop)

    def problem(self, stop: Stop) -> str:
        """Why a stop cannot be saved or shown, empty where it can."""
        key = self.base, stop
        if key not in self._problems:
            self._problems[key] = problem_of(*key)
        return self._problems[key]

    def look_again(self) -> None:
        """Forget which files were there."""
        self._problems = {}
        self.changed.emit()

    @property
    def first_problem(self) -> int | None:
        """Which stop cannot be saved, from 0; None: all can."""
        found = (at for at, stop in enumerate(self.draft.stops) if self.problem(stop))
        return next(found, None)

    @property
    def changed_on_disk(self) -> bool:
        """Whether another program has written its file since it was read, or taken it away."""
        try:
            return self.path is not None and story_bytes(self.path) != self._known
        except InputError:
            return True

    def story(self) -> Story:
        """The story as it would be read, for the stage.

        Raises:
            StoryError: It has no stop, or one that could not be read.
        """
        self.check()
        return Story(self.base, _titled(self.draft, self.base).title, self.draft.stops)

    def save(self, path: Path, *, unchanged: bool = False) -> None:
        """Write it to a file, which is its own from then on.

        Args:
            path: The file.
            unchanged: Whether it is refused where the file is no longer what was read.

        Raises:
            ChangedError: It is not.
            StoryError: The story could not be read again, or the file comes with the program.
            SessionFileError: It cannot be written.
        """
        path = path.absolute()
        if path.resolve().parent == STORIES.resolve():
            raise StoryError(f"{path} comes with the program and stays as it is; name another file.")
        self.check()
        history = self.history.based(self.base, path)
        draft = _titled(history.now, path)
        self._known = save_story(path, *draft.content, self._known, unchanged=unchanged)
        self.history = history.do(draft)
        self.path = self.base = path
        self._saved = draft.content
        self._problems = {(path, stop): "" for stop in draft.stops}  # each was read when it was saved
        self.changed.emit()

    def check(self) -> None:
        """Refuse a story that could not be read again.

        Raises:
            StoryError: It has no stop, or one that is not right: which, and why.
        """
        at = self.first_problem
        if not self.draft.stops:
            raise StoryError(NO_STOPS)
        if at is not None:
            raise StoryError(f"Stop {at + 1}: {self.problem(self.draft.stops[at])}")


def _titled(draft: Draft, path: Path) -> Draft:
    """The story with its file's name where it has no title."""
    return draft if draft.title else draft.titled(in_utf8(path.stem)[:MOST_TITLE])
