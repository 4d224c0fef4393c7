"""What an engine needs of a child, wherever that runs: the seam for engines on other machines."""

from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Protocol

from flashscope.profiles.wire.events import LogLine
from flashscope.profiles.wire.messages import Command, Message

Log = Callable[[LogLine], None]


class Child(Protocol):
    """One process under supervision; used from the engine's thread only."""

    @property
    def lines(self) -> list[str]:
        """The last lines it printed."""

    @property
    def waitables(self) -> list[Connection | int]:
        """What to wait on: messages, output, its end."""

    @property
    def due(self) -> float | None:
        """When `tick` has something to do (time.monotonic), None when nobody ends it."""

    @property
    def alive(self) -> bool:
        """Whether it still runs."""

    def send(self, command: Command) -> None:
        """Give it a command; one that died meanwhile is noticed by its end."""

    def messages(self) -> Iterator[Message]:
        """Everything that has arrived."""

    def read_output(self) -> bool:
        """Turn some of what it has printed into log lines; False when nothing waits to be read."""

    def end(self, *, ask: bool, at_once: bool = False) -> None:
        """Begin to end it: ask first or not, then use force; or kill it at once, where nothing is lost."""

    def tick(self) -> None:
        """Use more force once the time for that has come."""

    def kill(self) -> None:
        """End it at once and give everything back."""

    def finish(self) -> None:
        """After its end: read what is left and give everything back."""

    def epitaph(self) -> str:
        """How it ended: `was killed by SIGSEGV`, `ended with exit code 1`."""


MakeChild = Callable[[Log], Child]
"""Starts a child; what it prints goes to the log that is given."""
MakeWorker = Callable[[Log, str], Child]
"""The same of a worker, with a folder in which it finds modules before all others; empty: none."""
