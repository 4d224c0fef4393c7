"""What a user can do with the sweeps that wait, and what the window says of them."""

from functools import partial

from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from flashscope.app.control.actions import Action
from flashscope.app.control.controller import Controller
from flashscope.app.control.queue import QueuedSweep
from flashscope.app.control.queue_edits import cancel_all
from flashscope.app.widgets.frame.error_line import ErrorLine
from flashscope.app.widgets.frame.queue_sheet import QueueSheet
from flashscope.app.words.results.queueing import waiting_words

SHOW = "Show the queue"


class QueueActions:
    """The queue's actions of the Sweep menu.

    Args:
        window: Over which the list opens.
        controller: Has the queue.
        errors: Tells what waits, and why nothing begins.
    """

    def __init__(self, window: QWidget, controller: Controller, errors: ErrorLine) -> None:
        self._window, self._controller, self._errors = window, controller, errors
        self._queue = controller.queue
        self._sheet: QueueSheet | None = None
        self._queue.waits.connect(self._tell_waiting)
        self._queue.halted.connect(self._tell_halted)

    def offered(self) -> list[Action]:
        """All actions, in the order of the menu."""
        return [
            Action("queue", "Show the queue of sweeps", self.show, "Sweep", "Ctrl+J"),
            Action(
                "queue.go_on",
                "Go on with the queue",
                self._queue.go_on,
                "Sweep",
                possible=lambda: bool(self._queue.stopped),
            ),
            Action(
                "queue.cancel_all",
                "Cancel the sweep and all that wait",
                partial(cancel_all, self._controller),
                "Sweep",
                possible=lambda: bool(self._queue.entries),
            ),
        ]

    def show(self) -> None:
        """Open the list, which follows what happens until it is closed."""
        if self._sheet is None or not isValid(self._sheet):
            self._sheet = QueueSheet(self._controller, self._window)
            self._sheet.finished.connect(self._sheet.deleteLater)
        self._sheet.show()
        self._sheet.raise_()
        self._sheet.activateWindow()

    def _tell_waiting(self, entry: QueuedSweep) -> None:
        others = self._queue.waiting - entry.left
        after = f", after {others} more" if others else ""
        if self._queue.stopped:
            self._errors.show_notice(f"Added to the queue, which has stopped{after}: {entry.left_told}.")
            self._errors.offer("Go on", self._queue.go_on)
            return
        self._errors.show_notice(f"Added to the queue{after}: {entry.left_told}.")
        self._errors.offer(SHOW, self.show)

    def _tell_halted(self, reason: str) -> None:
        waits = waiting_words(self._queue.waiting)
        self._errors.show_error(f"The queue has stopped, {waits}: {reason}")
        self._errors.offer("Go on", self._queue.go_on)
