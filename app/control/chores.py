"""Does what takes long in a background thread: a slow disk, or a file that another process holds."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject, QThreadPool, Signal

from app.control.guard import guarded
from profiles.store import SessionFileError

T = TypeVar("T")


def nothing(_result: object) -> None:
    """What follows a chore after which there is nothing to do."""


class Chores(QObject):
    """Does one thing after the other, on a thread of its own.

    Signals:
        failed: Something could not be done: one sentence, and details (str, str).
        done: What to call now, and what with; it is called already (callable, object).
    """

    failed = Signal(str, str)
    done = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self.done.connect(lambda then, result: then(result))

    def do(self, act: Callable[[], T], then: Callable[[T], None] = nothing) -> None:
        """Have this done in the background, then call `then` on this thread with what it returned."""
        self._pool.start(partial(self._do, act, then))

    def do_instead(self, act: Callable[[], T], then: Callable[[T], None] = nothing) -> None:
        """Have this done in place of all that was asked for and has not begun."""
        self._pool.clear()
        self.do(act, then)

    def wait(self) -> None:
        """Return when everything is done; to be called before this object goes."""
        self._pool.waitForDone()

    @guarded()
    def _do(self, act: Callable[[], T], then: Callable[[T], None]) -> None:
        try:
            result = act()
        except SessionFileError as error:
            self.failed.emit(str(error), error.detail)
        else:
            self.done.emit(then, result)


def wait_for_all(owner: QObject) -> None:
    """Return when everything that what is in this does in the background is done: files are written whole."""
    for chores in owner.findChildren(Chores):
        chores.wait()
