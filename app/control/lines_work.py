"""Has a process that answers in lines do something in the background, and hears of each answer."""

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal

from flashscope.profiles.engine.contract import Working

MakeProcess = Callable[[Sequence[Any], Callable[[Any], None]], Working]


class LinesWork(QObject):
    """One request at a time; a new one takes the place of the one before.

    Args:
        make: Starts the process.
        parent: Qt parent.

    Attributes:
        asked: What is being done, None: nothing is.
        make: Starts the process.

    Signals:
        failed: The request could not be carried out, for this reason, with details (str, str).
        changed: Something else is being done, or nothing any more.
    """

    failed = Signal(str, str)
    changed = Signal()
    _heard = Signal(object, object)

    def __init__(self, make: MakeProcess, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.asked: Any = None
        self.make = make
        self._process: Working | None = None
        self._heard.connect(self._hear, Qt.ConnectionType.QueuedConnection)

    def ask(self, asked: Any) -> None:
        """Do this in place of what is being done."""
        self._end()
        self.asked = asked
        self._process = self.make((asked,), lambda answer: self._heard.emit(asked, answer))
        self.changed.emit()

    def cancel(self) -> None:
        """Do nothing any more; what is done is kept by those who were told."""
        if self.asked is not None:
            self._end()
            self.changed.emit()

    def close(self) -> None:
        """End what is being done, for good."""
        self._end()

    def take(self, asked: Any, answer: Any) -> None:
        """Tell of an answer to what is being done."""
        raise NotImplementedError

    def finish(self) -> None:
        """The last answer is there."""
        self._end()
        self.changed.emit()

    def _hear(self, asked: Any, answer: Any) -> None:
        if asked is self.asked:  # else it was given up meanwhile
            self.take(asked, answer)

    def _end(self) -> None:
        self.asked = None
        if self._process is not None:
            self._process.end()
            self._process = None
