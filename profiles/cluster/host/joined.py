"""Tells a host's log which devices of other hosts come and go."""

from typing import Any

from distributed import Scheduler
from distributed.diagnostics.plugin import SchedulerPlugin

from flashscope.profiles.cluster.settings import Served
from flashscope.profiles.wire.events import LogLine
from flashscope.profiles.worker.child import Link


class JoinedDevices(SchedulerPlugin):  # type: ignore[misc] # distributed has no types
    """What a scheduler tells of its workers.

    Args:
        link: Takes the lines.
    """

    def __init__(self, link: Link) -> None:
        self._link = link
        self._names: dict[str, str] = {}

    def add_worker(self, scheduler: Scheduler, worker: str) -> None:
        """A device is lent; that one of this host is, its own process says."""
        name = str(scheduler.workers[worker].name)
        if Served(name=name).joined:
            self._names[worker] = name
            self._link.send(LogLine(source="scheduler", text=f"{name} has joined, at {worker}"))

    def remove_worker(self, scheduler: Scheduler, worker: str, **_: Any) -> None:
        """A device is lent no more."""
        del scheduler
        if (name := self._names.pop(worker, "")) != "":
            self._link.send(LogLine(source="scheduler", text=f"{name} is gone"))
