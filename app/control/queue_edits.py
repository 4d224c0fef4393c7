"""What a user changes in the queue, such that it can be undone."""

from collections.abc import Sequence

from flashscope.app.control.controller import Controller
from flashscope.app.control.queue import QueuedSweep

BEGUN = "It has begun, so it was not taken out again."


def take_out(controller: Controller, entries: Sequence[QueuedSweep]) -> None:
    """Let these wait no more; it can be undone, and done again."""
    taken: list[tuple[QueuedSweep, int]] = []

    def forth() -> str:
        taken[:] = [one for one in (controller.queue.take_out(entry.number) for entry in entries) if one]
        return "" if taken else BEGUN

    def back() -> str:
        for entry, place in reversed(taken):
            controller.queue.put_back(entry, place)
        return ""

    forth()
    if taken:
        what = taken[0][0].left_told if len(taken) == 1 else f"{len(taken)} sweeps"
        controller.edits.note(f"Taken out of the queue: {what}", forth, back)


def cancel_all(controller: Controller) -> None:
    """Cancel the sweep that runs, and let nothing wait; that can be undone, the cancelling cannot."""
    take_out(controller, controller.queue.entries)
    if controller.measuring:
        controller.cancel()
