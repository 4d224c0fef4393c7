"""Has cuts compiled or timed in the background, and tells of each as it comes."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, Signal

from flashscope.profiles.engine.contract import Working
from flashscope.profiles.wire.cuts import CutAnswer, CutCompiled, CutRequest, CutsEnded, CutsRound, CutTimed

MakeCompiler = Callable[[Sequence[CutRequest], Callable[[CutAnswer], None]], Working]


class CutWork(QObject):
    """One request at a time; a new one takes the place of the one before.

    Args:
        make: Starts the process.
        parent: Qt parent.

    Attributes:
        asked: What is being done, None: nothing is.
        make: Starts the process.

    Signals:
        compiled: One cut is compiled, for the request (CutsAsked, CompiledCut).
        timed: One cut is timed, or could not be, for the request (CutsToTime, CutTimes).
        progressed: So much of the request is done, of so much (int, int).
        done: All of the request is done (request, CutsEnded).
        failed: The request could not be carried out, for this reason, with details (str, str).
        changed: Something else is being done, or nothing any more.
    """

    compiled = Signal(object, object)
    timed = Signal(object, object)
    progressed = Signal(int, int)
    done = Signal(object, object)
    failed = Signal(str, str)
    changed = Signal()
    _heard = Signal(object, object)

    def __init__(self, make: MakeCompiler, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.asked: CutRequest | None = None
        self.make = make
        self._compiler: Working | None = None
        self._heard.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def ask(self, asked: CutRequest) -> None:
        """Do this in place of what is being done."""
        self._end()
        self.asked = asked
        self._compiler = self.make((asked,), lambda answer: self._heard.emit(asked, answer))
        self.changed.emit()

    def cancel(self) -> None:
        """Do nothing any more; what is done is kept by those who were told."""
        if self.asked is not None:
            self._end()
            self.changed.emit()

    def close(self) -> None:
        """End what is being done, for good."""
        self._end()

    def _end(self) -> None:
        self.asked = None
        if self._compiler is not None:
            self._compiler.end()
            self._compiler = None

    def _take(self, asked: CutRequest, answer: CutAnswer) -> None:
        if asked is not self.asked:
            return  # it was given up meanwhile
        match answer:
            case CutCompiled(compiled=compiled):
                self.compiled.emit(asked, compiled)
            case CutTimed(timed=timed):
                self.timed.emit(asked, timed)
            case CutsRound(done=done, total=total):
                self.progressed.emit(done, total)
            case CutsEnded():
                self._finish(asked, answer)

    def _finish(self, asked: CutRequest, ended: CutsEnded) -> None:
        self._end()
        self.changed.emit()
        if ended.reason:
            self.failed.emit(ended.reason, ended.detail)
        else:
            self.done.emit(asked, ended)
