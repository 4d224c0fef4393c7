"""Has cuts compiled in the background, and tells of each as it comes."""

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, Qt, Signal

from flashscope.profiles.engine.cut_process import CutProcess
from flashscope.profiles.wire.cuts import CutAnswer, CutCompiled, CutsAsked


class Compiling(Protocol):
    """What compiles, and says so cut by cut."""

    def end(self) -> None:
        """Compile nothing any more, at once."""


MakeCompiler = Callable[[CutsAsked, Callable[[CutAnswer], None]], Compiling]


class CutWork(QObject):
    """One request at a time; a new one takes the place of the one before.

    Attributes:
        asked: What is being compiled, None: nothing is.
        make: Starts the process.

    Signals:
        compiled: One cut is done, for the request (CutsAsked, CompiledCut).
        failed: The request could not be carried out, for this reason, with details (str, str).
        changed: Something else is being compiled, or nothing any more.
    """

    compiled = Signal(object, object)
    failed = Signal(str, str)
    changed = Signal()
    _heard = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.asked: CutsAsked | None = None
        self.make: MakeCompiler = CutProcess
        self._compiler: Compiling | None = None
        self._heard.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def ask(self, asked: CutsAsked) -> None:
        """Compile these in place of what is being compiled."""
        self._end()
        self.asked = asked
        self._compiler = self.make(asked, lambda answer: self._heard.emit(asked, answer))
        self.changed.emit()

    def cancel(self) -> None:
        """Compile nothing any more; what is done is kept by those who were told."""
        if self.asked is not None:
            self._end()
            self.changed.emit()

    def close(self) -> None:
        """End what is being compiled, for good."""
        self._end()

    def _end(self) -> None:
        self.asked = None
        if self._compiler is not None:
            self._compiler.end()
            self._compiler = None

    def _take(self, asked: CutsAsked, answer: CutAnswer) -> None:
        if asked is not self.asked:
            return  # it was given up meanwhile
        if isinstance(answer, CutCompiled):
            self.compiled.emit(asked, answer.compiled)
            return
        self._end()
        self.changed.emit()
        if answer.reason:
            self.failed.emit(answer.reason, answer.detail)
