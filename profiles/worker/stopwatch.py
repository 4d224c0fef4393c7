"""Adds up what a worker's wall time goes to while it is at a point."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from flashscope.profiles.wire.measurement import Figure
from flashscope.profiles.wire.spent import ACTIVITIES, SpentOn, Visit, spent_key


class Stopwatch:
    """Time counts for the innermost activity that has begun, and for no other."""

    def __init__(self, visit: Visit) -> None:
        self._visit: Visit = visit
        self._ns = dict.fromkeys(ACTIVITIES, 0)
        self._begun: list[SpentOn] = []
        self._since = 0

    @contextmanager
    def on(self, activity: SpentOn) -> Iterator[None]:
        """Count the time for this activity."""
        self._turn()
        self._begun.append(activity)
        try:
            yield
        finally:
            self._turn()
            self._begun.pop()

    def move(self, ms: float, before: SpentOn, after: SpentOn) -> None:
        """Count so much of one activity's time for another."""
        self._ns[before] -= round(ms * 1e6)
        self._ns[after] += round(ms * 1e6)

    def _turn(self) -> None:
        now = time.perf_counter_ns()
        if self._begun:
            self._ns[self._begun[-1]] += now - self._since
        self._since = now

    @property
    def figures(self) -> dict[str, Figure]:
        """What each activity has taken until now, those that took any time."""
        return {
            spent_key(self._visit, activity): Figure(value=ns / 1e6, source="perf_counter")
            for activity, ns in self._ns.items()
            if ns > 0
        }
