"""Has cuts compiled or timed in the background, and tells of each as it comes."""

from PySide6.QtCore import Signal

from flashscope.app.control.lines_work import LinesWork
from flashscope.profiles.wire.cuts import CutAnswer, CutCompiled, CutRequest, CutsEnded, CutsRound, CutTimed


class CutWork(LinesWork):
    """Cuts of a request after the other.

    Signals:
        compiled: One cut is compiled, for the request (CutsAsked, CompiledCut).
        timed: One cut is timed, or could not be, for the request (CutsToTime, CutTimes).
        progressed: So much of the request is done, of so much (int, int).
        done: All of the request is done (request, CutsEnded).
    """

    compiled = Signal(object, object)
    timed = Signal(object, object)
    progressed = Signal(int, int)
    done = Signal(object, object)

    def take(self, asked: CutRequest, answer: CutAnswer) -> None:
        """Tell of one cut, of how far all are, or of their end."""
        match answer:
            case CutCompiled(compiled=compiled):
                self.compiled.emit(asked, compiled)
            case CutTimed(timed=timed):
                self.timed.emit(asked, timed)
            case CutsRound(done=done, total=total):
                self.progressed.emit(done, total)
            case CutsEnded():
                self.finish()
                if answer.reason:
                    self.failed.emit(answer.reason, answer.detail)
                else:
                    self.done.emit(asked, answer)
