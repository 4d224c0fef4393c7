"""The changes that a user makes in session files, each with what takes it back."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from flashscope.app.control.bundled import BUNDLED
from flashscope.app.control.edits import FixedFileError
from flashscope.profiles.plan.run_mark import RunMark
from flashscope.profiles.store import (
    SessionFileError,
    change,
    check_one_plan,
    duplicate,
    mark_run,
    restore,
    trash,
)
from flashscope.profiles.store.library import TRASH
from flashscope.profiles.store.words import Field, UserWords


@dataclass
class WordsChanged:
    """Other words about a session.

    Attributes:
        path: The file.
        field: What is changed.
        before: What the user saw.
        after: What it is to be.
        meant: Id of the session that it is said of; empty: of whichever is in the file.
        now: What the file has since the last time, which another program may have had a part in.
    """

    path: Path
    field: Field
    before: UserWords
    after: UserWords
    meant: str = ""
    now: UserWords | None = None

    def forth(self) -> None:
        """Write the new words; where that cannot be, the error's details have what was to be written."""
        try:
            check_changeable(self.path)
            self.now = change(self.path, self.field, self.after, self.before, self.meant)
        except SessionFileError as error:
            error.detail = "\n".join(filter(None, (error.detail, self._unwritten)))
            raise

    def back(self) -> None:
        """Write the words from before."""
        self.now = change(self.path, self.field, self.before, self.after, self.meant)

    @property
    def _unwritten(self) -> str:
        if isinstance(self.after, str):
            new = [self.after]
        else:
            new = [str(getattr(one, "text", one)) for one in self.after if one not in self.before]
        return f"Not written: {'; '.join(new)}" if any(new) else ""


@dataclass
class RunsJoined:
    """Sessions told to be runs of one plan: all of them are, or none is.

    Attributes:
        path: The file of the first.
        runs: The file and the id of each, in the order of the runs.
        marks: What each is to say.
    """

    path: Path
    runs: tuple[tuple[Path, str], ...]
    marks: tuple[RunMark, ...]

    def forth(self) -> None:
        """Mark them, if they are runs of one plan."""
        for path, _id in self.runs:
            check_changeable(path)
        check_one_plan([path for path, _id in self.runs])
        self._turn(self.marks, self._none)

    def back(self) -> None:
        """Let each be alone again."""
        self._turn(self._none, self.marks)

    @property
    def _none(self) -> tuple[RunMark | None, ...]:
        return (None,) * len(self.runs)

    def _turn(self, after: Sequence[RunMark | None], before: Sequence[RunMark | None]) -> None:
        done: list[tuple[Path, RunMark | None, RunMark | None, str]] = []
        try:
            for (path, meant), new, old in zip(self.runs, after, before, strict=True):
                mark_run(path, new, old, meant)
                done.append((path, old, new, meant))
        except SessionFileError:
            for turned in done:
                mark_run(*turned)
            raise


@dataclass
class Deleted:
    """A session in the trash.

    Attributes:
        path: Where it is.
        home: Where it was: another one in the trash may have had its name.
    """

    path: Path
    home: Path | None = None

    def forth(self) -> None:
        """Move the session to the trash."""
        check_changeable(self.path)
        self.home, self.path = self.path, trash(self.path)

    def back(self) -> None:
        """Take the session out of the trash."""
        self.path = restore(self.path, self.home)


@dataclass
class Restored:
    """A session out of the trash.

    Attributes:
        path: Where it is.
        home: Where it was taken to the last time.
    """

    path: Path
    home: Path | None = None

    def forth(self) -> None:
        """Take the session out of the trash."""
        self.path = restore(self.path, self.home)

    def back(self) -> None:
        """Move the session to the trash again."""
        self.home, self.path = self.path, trash(self.path)


@dataclass
class Duplicated:
    """A copy of a session.

    Attributes:
        path: The session, then its copy.
        folder: Where the copy goes.
        home: Where the copy was when it was moved to the trash.
    """

    path: Path
    folder: Path
    home: Path | None = None

    def forth(self) -> None:
        """Make the copy, or take it out of the trash."""
        if self.home is None:
            self.path = duplicate(self.path, self.folder)
        else:
            self.path = restore(self.path, self.home)

    def back(self) -> None:
        """Move the copy to the trash."""
        self.home, self.path = self.path, trash(self.path)


def check_changeable(path: Path) -> None:
    """Refuse what is not the user's to change.

    Raises:
        FixedFileError: A copy of it can be changed.
    """
    if path.parent == BUNDLED:
        raise FixedFileError("A recording that comes with Flashscope stays as it is.", path)
    if path.parent.name == TRASH:
        raise FixedFileError("A session in the trash stays as it is; restore it first.", path)
    if path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        raise FixedFileError(f"{path.name} or its folder is read-only; nothing was changed.", path)
