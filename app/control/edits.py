"""What a user changes in sessions, in the background; each change can be undone and done again."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand, QUndoStack

from flashscope.app.control.chores import Chores
from flashscope.app.control.guard import guarded
from flashscope.profiles.store import ReplacedFileError, SessionFileError

NOTHING_CHANGED = "Nothing was changed since Flashscope was started."


class FileEdit(Protocol):
    """One change of one file; it may take long, and raises SessionFileError where it cannot be made.

    Attributes:
        path: Where the file is now.
    """

    path: Path

    def forth(self) -> object:
        """Make the change, for the first time or again."""

    def back(self) -> object:
        """Take the change back."""


Done = tuple[list[FileEdit], SessionFileError | None]


class Edits(QObject):
    """Makes changes one after the other and remembers them, the last one last.

    Attributes:
        stack: What was changed, to be undone and done again.

    Signals:
        made: A change was made: words for the user, and what undoes it (str, callable).
        turned: A change was undone or done again: words for the user (str).
        withdrawn: What undoes a change has been called, or cannot be any more (callable).
        touched: Files are other than they were: the steps that were taken (list of FileEdit).
        failed: Something could not be changed: one sentence, and details (str, str).
        refused: A file keeps what it has, but a copy of it would not: a sentence, details, the file
            (str, str, Path).
        replaced: A file keeps what it has, as it holds another session: a sentence, details, the
            file (str, str, Path).
    """

    made = Signal(str, object)
    turned = Signal(str)
    withdrawn = Signal(object)
    touched = Signal(list)
    failed = Signal(str, str)
    refused = Signal(str, str, object)
    replaced = Signal(str, str, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.stack = QUndoStack(self)
        self._asked = 0  # changes that are still to be made
        self._left: set[Path] = set()  # from where files were moved, as a list on show may not know yet
        self._chores = Chores(self)
        self._chores.failed.connect(self.failed)

    def do(self, words: str, steps: Sequence[FileEdit]) -> None:
        """Take these steps and say so; where some cannot be taken, the others are, and why is said.

        What is asked of a file that has just been moved, as by pressing a key twice, is done already.
        """
        if not steps:
            return
        self._asked += 1
        self._chores.do(partial(self._take_once, steps), partial(self._done, words, len(steps)))

    def note(self, words: str, forth: Callable[[], str], back: Callable[[], str]) -> None:
        """Remember a change that was made here and now, of something that is in no session.

        Args:
            words: What was done, for the user.
            forth: Makes it again; returns why it cannot, or nothing.
            back: Takes it back; returns why it cannot, or nothing.
        """
        change = _Noted(self, words, forth, back)
        self.stack.push(change)
        self.made.emit(f"{words}. Ctrl+Z undoes it.", change.take_back)

    def undo(self) -> None:
        """Take back the last change, of those too that are still being made."""
        self._when_made(self._undo)

    def redo(self) -> None:
        """Make again what was undone last."""
        self._when_made(self._redo)

    def _when_made(self, act: Callable[[], None]) -> None:
        """Call this once every change that was asked for is made."""
        if self._asked:
            self._chores.do(lambda: None, lambda _none: act())
        else:
            act()

    def _undo(self) -> None:
        if self.stack.canUndo():
            self.stack.undo()
        else:
            self.turned.emit(NOTHING_CHANGED)

    def _redo(self) -> None:
        if self.stack.canRedo():
            self.stack.redo()
        else:
            self.turned.emit("Nothing was undone.")

    def wait(self) -> None:
        """Return when everything is changed; to be called before this object goes."""
        self._chores.wait()

    def turn(self, steps: Sequence[FileEdit], act: Callable[[FileEdit], object], said: str) -> None:
        """Take the steps of a change back, or once more, and say so."""
        self._chores.do(partial(self._take, steps, act), partial(self._turned, said))

    def _take_once(self, steps: Sequence[FileEdit]) -> Done:
        """Take those steps whose files are still there, or were not moved by a change before."""
        return self._take([one for one in steps if one.path not in self._left or one.path.exists()], _forth)

    def _take(self, steps: Sequence[FileEdit], act: Callable[[FileEdit], object]) -> Done:
        """Take every step that can be taken; those, and what stood in the way of the first of the others."""
        taken: list[FileEdit] = []
        wrong: SessionFileError | None = None
        for step in steps:
            path = step.path
            error = _why_not(partial(act, step))
            wrong = wrong or error
            if error is None:
                taken.append(step)
                if step.path != path:
                    self._left.add(path)
        return taken, wrong

    def _done(self, words: str, wanted: int, result: Done) -> None:
        self._asked -= 1
        steps, error = result
        if steps:
            words = words if len(steps) == wanted else f"{words}, but for {wanted - len(steps)}"
            change = _Change(self, words, steps)
            self.stack.push(change)
            self.touched.emit(steps)
            self.made.emit(f"{words}. Ctrl+Z undoes it.", change.take_back)
        self._tell(error)

    def _turned(self, said: str, result: Done) -> None:
        steps, error = result
        self.touched.emit(steps)
        if steps:
            self.turned.emit(said)
        self._tell(error)

    def _tell(self, error: SessionFileError | None) -> None:
        if isinstance(error, FixedFileError):
            self.refused.emit(str(error), error.detail, error.path)
        elif isinstance(error, ReplacedFileError):
            self.replaced.emit(str(error), error.detail, error.path)
        elif error is not None:
            self.failed.emit(str(error), error.detail)


class FixedFileError(SessionFileError):
    """A file that is not to be changed; a copy of it may be."""

    def __init__(self, text: str, path: Path) -> None:
        super().__init__(text)
        self.path = path


class _Command(QUndoCommand):
    """A change that has been made; pushing it makes none."""

    def __init__(self, edits: Edits, words: str) -> None:
        super().__init__(words)
        self._edits, self._new = edits, True
        self.take_back = self._take_back  # one object, by which a message is known

    def _take_back(self) -> None:
        """Undo it, if it is the last one."""
        stack = self._edits.stack
        if stack.canUndo() and stack.command(stack.index() - 1) is self:
            stack.undo()


class _Noted(_Command):
    """A change of something that is in no session."""

    def __init__(self, edits: Edits, words: str, forth: Callable[[], str], back: Callable[[], str]) -> None:
        super().__init__(edits, words)
        self._forth, self._back = forth, back

    @guarded()
    def redo(self) -> None:
        """Make it again."""
        if self._new:
            self._new = False
        else:
            self._edits.turned.emit(self._forth() or f"Done again: {self.text()}.")

    @guarded()
    def undo(self) -> None:
        """Take it back."""
        self._edits.withdrawn.emit(self.take_back)
        self._edits.turned.emit(self._back() or f"Undone: {self.text()}.")


class _Change(_Command):
    """Steps that have been taken.

    A step that could not be taken back is not taken once more, nor the other way round: its file may be
    another one by then.
    """

    def __init__(self, edits: Edits, words: str, steps: Sequence[FileEdit]) -> None:
        super().__init__(edits, words)
        self._steps = steps
        self._undone: set[int] = set()  # ids of the steps that are taken back

    @guarded()
    def redo(self) -> None:
        """Take the steps once more."""
        if self._new:
            self._new = False
        else:
            self._edits.turn(self._steps, self._forth, f"Done again: {self.text()}.")

    @guarded()
    def undo(self) -> None:
        """Take the steps back, the last one first."""
        self._edits.withdrawn.emit(self.take_back)
        self._edits.turn(self._steps[::-1], self._back, f"Undone: {self.text()}.")

    def _forth(self, step: FileEdit) -> None:
        if id(step) not in self._undone:
            raise SessionFileError(f"It was not undone, so it was not done again: {self.text()}.")
        step.forth()
        self._undone.discard(id(step))

    def _back(self, step: FileEdit) -> None:
        if id(step) in self._undone:
            raise SessionFileError(f"It was not done again, so it was not undone: {self.text()}.")
        step.back()
        self._undone.add(id(step))


def _forth(step: FileEdit) -> object:
    return step.forth()


def _why_not(act: Callable[[], object]) -> SessionFileError | None:
    try:
        act()
    except SessionFileError as error:
        return error
    return None
