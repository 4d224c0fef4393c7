"""When the window has come to rest: nothing is laid out or painted any more.

A layout asks for that of what it is in, which comes a pass of the event loop later: nobody knows how many it
takes.
"""

from typing import cast

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget

from flashscope.app.control.chores import wait_for_all
from flashscope.app.control.guard import guarded
from flashscope.app.widgets.paint_turns import PaintTurns

QUIET_PASSES, MOST_PASSES = 3, 1000  # of the event loop, in which nothing was laid out or painted, and of all
CHANGES = {QEvent.Type.LayoutRequest, QEvent.Type.UpdateRequest, QEvent.Type.Resize, QEvent.Type.Paint}


class _Changes(QObject):
    """Counts passes of the event loop since something was laid out or painted."""

    quiet = 0

    @guarded(bool)
    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() in CHANGES:
            self.quiet = 0
        return False


def come_to_rest(shown: QWidget) -> None:
    """Let a widget read what it shows, give every part of it its turn, and all be laid out and painted."""
    wait_for_all(shown)
    turns = shown.findChildren(PaintTurns)
    changes = _Changes()
    app = cast("QApplication", QApplication.instance())
    app.installEventFilter(changes)
    for _ in range(MOST_PASSES):
        for one in turns:
            one.finish()
        changes.quiet += 1
        QApplication.processEvents()
        if changes.quiet >= QUIET_PASSES and all(one.idle for one in turns):
            break
    app.removeEventFilter(changes)
    assert changes.quiet >= QUIET_PASSES, f"{type(shown).__name__} does not come to rest"
