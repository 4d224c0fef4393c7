"""Does what takes long in a background thread: a slow disk, or a file that another process holds."""

from collections.abc import Callable, Generator, Iterator
from functools import partial
from typing import TypeAlias, TypeVar

from PySide6.QtCore import QObject, QThreadPool, QTimer, Signal

from flashscope.app.control.guard import guarded
from flashscope.profiles.store import SessionFileError

T = TypeVar("T")
ChoreSteps: TypeAlias = Generator[None, None, T]


def nothing(_result: object) -> None:
    """What follows a chore after which there is nothing to do."""


def at_once(steps: ChoreSteps[T]) -> T:
    """Do all of them now; returns what they return."""
    kept: list[T] = []

    def to_the_end() -> Iterator[None]:
        kept.append((yield from steps))

    for _ in to_the_end():
        pass
    return kept[0]


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
        self._prepared: list[ChoreSteps[None]] = []  # what is done here first
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._prepare)
        self.done.connect(lambda then, result: then(result))

    def do(self, act: Callable[[], T], then: Callable[[T], None] = nothing) -> None:
        """Have this done in the background, then call `then` on this thread with what it returned."""
        self._pool.start(partial(self._do, act, then))

    def do_after(self, steps: ChoreSteps[Callable[[], T]], then: Callable[[T], None] = nothing) -> None:
        """The same after these steps, which return it: on this thread, one in each turn of the event loop."""
        self._prepared.append(self._after(steps, then))
        self._timer.start()

    def _after(self, steps: ChoreSteps[Callable[[], T]], then: Callable[[T], None]) -> ChoreSteps[None]:
        self.do((yield from steps), then)

    def _prepare(self) -> None:
        """One step; what raises is left."""
        if not self._prepared:
            self._timer.stop()
            return
        first = self._prepared.pop(0)
        if next(first, self) is not self:
            self._prepared.insert(0, first)

    def do_instead(self, act: Callable[[], T], then: Callable[[T], None] = nothing) -> None:
        """Have this done in place of all that was asked for and has not begun."""
        self._pool.clear()
        self.do(act, then)

    def forget(self) -> None:
        """Do nothing of what waits; what has begun is done."""
        self._prepared.clear()
        self._timer.stop()
        self._pool.clear()

    @property
    def idle(self) -> bool:
        """Whether everything is done, but perhaps for what the event loop is still to tell."""
        return not self._prepared and self._pool.waitForDone(0)

    def wait(self) -> None:
        """Return when everything is done; to be called before this object goes."""
        while self._prepared:
            self._prepare()
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
