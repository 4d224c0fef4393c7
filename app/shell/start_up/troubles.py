"""What the program itself did wrong, told once in words: the window goes on."""

import sys
import traceback
from collections.abc import Callable
from types import TracebackType

from PySide6.QtCore import QObject, Qt, Signal
from shiboken6 import isValid

KEPT = ("last_exc", "last_value", "last_traceback")


class Troubles(QObject):
    """Takes what nothing else has caught, from any thread, and tells it when the event loop has its turn.

    The same error at the same line is told once: what is wrong in a paint would be told at every frame.

    Args:
        tell: Shows one sentence, and details.
        parent: Its owner.
    """

    _found = Signal(str, str)

    def __init__(self, tell: Callable[[str, str], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._told: set[tuple[type[BaseException], str, int]] = set()
        self._found.connect(tell, Qt.ConnectionType.QueuedConnection)  # never in the middle of a paint

    def take(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        """The program's `sys.excepthook`."""
        if not isinstance(error, Exception) or not isValid(self):  # it goes with its owner
            sys.__excepthook__(kind, error, trace)
            return
        last = (traceback.extract_tb(trace) or [traceback.FrameSummary("", 0, "")])[-1]
        if (place := (kind, last.filename, last.lineno or 0)) not in self._told:
            self._told.add(place)
            self._found.emit(_sentence(error, last.name), "".join(traceback.format_exception(error)))
        for name in KEPT:  # they would hold its frames, and a painter in one of them
            vars(sys).pop(name, None)


def _sentence(error: Exception, where: str) -> str:
    what = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": .")
    place = where or "its start"
    return (
        f"Something in Flashscope itself went wrong ({what}, in {place}); the rest goes on, and nothing"
        " measured is lost. Copy the details to report it."
    )
