"""Where a point in flight is: told to the engine, and the moment to give up if it asks for that."""

import math
import time

from profiles.child import Link
from profiles.events import Phase, PointProgress
from profiles.plan import Point

PROGRESS_S = 1 / 30


class Steps:
    """The steps of one point.

    Attributes:
        phase: Where it is, for the words of a failure.
    """

    def __init__(self, point: Point, link: Link) -> None:
        self.phase: Phase = "prepare"
        self._point, self._link = point, link
        self._told_at = -math.inf

    def enter(self, phase: Phase, done: int = 0, total: int = 0, last_ms: float | None = None) -> None:
        """Before a step: give up if asked to, and say where the point is, at most 30 times a second.

        Raises:
            CancelledError: The engine gave up on it.
        """
        self.check()
        self.phase = phase
        now = time.monotonic()
        if now - self._told_at >= PROGRESS_S:
            self._told_at = now
            index = self._point.index
            self._link.send(PointProgress(index=index, phase=phase, done=done, total=total, last_ms=last_ms))

    def check(self) -> None:
        """Give up if asked to.

        Raises:
            CancelledError: The engine gave up on it.
        """
        self._link.check()
