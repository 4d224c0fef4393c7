"""What a worker is asked to do, one command at a time."""

from collections.abc import Callable
from dataclasses import dataclass

from profiles.events import Event, FailedStatus
from profiles.messages import Command, Message


@dataclass(frozen=True)
class Task:
    """One command for the worker.

    Attributes:
        command: What to send.
        closed_by: The kinds of messages that answer it: the first of them is the last of it.
        deadline_s: After this many seconds without that answer the worker is ended.
        what: What it does, for the words of a failure.
        start: The event that announces it, made when it is sent; None: nothing is said.
        fail: What is said in place of the answer that never came: (status, reason, detail).
    """

    command: Command
    closed_by: tuple[type[Message], ...]
    deadline_s: float
    what: str
    start: Callable[[], Event] | None
    fail: Callable[[FailedStatus, str, str], list[Event]]
