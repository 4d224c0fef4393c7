"""The steps of a point in the worker: each is told to the engine, which may cancel before each."""

import math
import time

from flashscope.profiles.plan.plan import Point
from flashscope.profiles.wire.events import Phase, PointProgress
from flashscope.profiles.worker.child import Link

PROGRESS_NS = 1_000_000_000 // 30


class Steps:
    """The steps of one point.

    Attributes:
        phase: The phase it is in, which the sentence about a failure names.
    """

    def __init__(self, point: Point, link: Link) -> None:
        self.phase: Phase = "prepare"
        self._point, self._link = point, link
        self._told_ns: float = -math.inf

    def enter(self, phase: Phase, done: int = 0, total: int = 0, last_ms: float | None = None) -> None:
        """Begin a step: stop here if the engine has cancelled, else tell it, at most 30 times a second.

        Args:
            phase: What is done.
            done: Steps of the phase that are done.
            total: How many it has.
            last_ms: The newest sample.

        Raises:
            CancelledError: The engine has cancelled.
        """
        self.check()
        self.phase = phase
        now = time.monotonic_ns()
        if now - self._told_ns >= PROGRESS_NS:
            self._told_ns = now
            told = PointProgress(
                index=self._point.index, phase=phase, done=done, total=total, last_ms=last_ms, t_ns=now
            )
            self._link.send(told)

    def check(self) -> None:
        """Stop here if the engine has cancelled.

        Raises:
            CancelledError: It has.
        """
        self._link.check()
