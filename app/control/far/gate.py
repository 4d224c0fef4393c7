"""What stands between an engine and the window, for as long as that engine is in use."""

from collections.abc import Callable
from threading import Lock

from flashscope.profiles.wire.events import Event


class EventGate:
    """Passes on what an engine says until it is shut; from any thread.

    Args:
        push: Takes the events.
    """

    def __init__(self, push: Callable[[Event], None]) -> None:
        self._push, self._lock, self._open = push, Lock(), True

    def __call__(self, event: Event) -> None:
        """Pass on an event, unless another engine is in use."""
        with self._lock:
            if self._open:
                self._push(event)

    def shut(self) -> None:
        """Pass on nothing any more."""
        with self._lock:
            self._open = False
