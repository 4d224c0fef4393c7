"""The unit of work that an engine gives a worker: one command and its answer."""

from collections.abc import Callable
from dataclasses import dataclass

from flashscope.profiles.wire.events import Event, FailedStatus
from flashscope.profiles.wire.messages import Command, Message

Fail = Callable[[FailedStatus, str, str], list[Event]]


@dataclass(frozen=True)
class Task:
    """One command for the worker.

    Attributes:
        command: What to send.
        closed_by: The kinds of messages that end it. Others may come before; the first of these is the last.
        deadline_s: Seconds until the worker is ended, counted from the command.
        what: What the worker did, for the sentence about a failure: `ran flash2 at N = 64`.
        start: Makes the event that tells of its start, when the command is sent; None: there is none.
        fail: Makes the events that stand in for the answer if none comes, from status, reason and detail.
        ahead: A folder in which the worker is to find modules before all others; one that does not is
            parked, and another takes its place. Empty: none.
    """

    command: Command
    closed_by: tuple[type[Message], ...]
    deadline_s: float
    what: str
    start: Callable[[], Event] | None
    fail: Fail
    ahead: str = ""
