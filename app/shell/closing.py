"""Asks whether a window may be closed in which a sweep runs or waits, or a model is audited."""

from PySide6.QtWidgets import QMessageBox, QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.control.queue import Queue
from flashscope.app.widgets.dialogs.question import confirmed

CLOSE_QUESTION = "A sweep is running: stop it and close?"
AUDIT_QUESTION = "A model is being audited: stop it and close?"
FORGOTTEN = "What waits is not kept; it would be forgotten:"
MOST_NAMED = 8


def may_close(window: QWidget, controller: Controller) -> bool:
    """Ask once, where something runs or waits; whether to stop, to forget what waits, and to close."""
    measuring, queue = controller.measuring and not controller.aside, controller.queue
    audits = controller.auditing.asked is not None or bool(controller.auditing.waits_for)
    if not measuring and not queue.entries and not audits:
        return True
    stops = measuring or audits
    return confirmed(
        window,
        "Flashscope",
        _question(queue, measuring=measuring, audits=audits),
        go_on="Stop and close" if stops else "Forget and close",
        role=QMessageBox.ButtonRole.AcceptRole,
        stay="Keep running" if stops else "Keep waiting",
    )


def _question(queue: Queue, *, measuring: bool, audits: bool) -> str:
    """What is asked; what waits is named."""
    count = queue.waiting
    if not count:
        return AUDIT_QUESTION if audits else CLOSE_QUESTION
    waits = f"{count} {'waits' if count == 1 else 'wait'}"
    asked = (
        f"A sweep is running, and {waits}: stop it and close?"
        if measuring
        else f"{count} {'sweep waits' if count == 1 else 'sweeps wait'}: close all the same?"
    )
    named = [f"• {entry.left_told}" for entry in queue.entries[:MOST_NAMED]]
    more = len(queue.entries) - len(named)
    return "\n".join([asked, "", FORGOTTEN, *named, *([f"and {more} more"] if more else [])])
