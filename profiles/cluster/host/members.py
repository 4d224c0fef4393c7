"""The processes of a host, none of which outlives it. No Dask in here."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection as Pipe
from multiprocessing.connection import wait

import msgspec
from msgspec.structs import replace

from flashscope.profiles.cluster.host.run_folder import HostError
from flashscope.profiles.cluster.settings import HostSettings, Served
from flashscope.profiles.engine.children import RUNG_S, SpawnedChild
from flashscope.profiles.wire.events import LogLine
from flashscope.profiles.wire.messages import DeviceLeft, Ready, SchedulerLost

SCHEDULER = "flashscope.profiles.cluster.host.scheduler_host:serve"
DEVICE = "flashscope.profiles.cluster.host.device_host:serve"
DEVICE_END_S = 10.0  # that a device's process has once it is asked: the ladder of its own children takes 8 s
START_S = 60.0  # after which a process that is not ready is given up


class Member:
    """One process of a host.

    Args:
        name: What log lines call it.
        serve: `module:function` that it runs.
        settings: What it serves with.
        say: Takes its log lines.

    Attributes:
        ready: Whether it has begun to serve.
        left: Whether a client that had its device has left.
        cut_off: Whether it has lost the scheduler.
    """

    def __init__(self, name: str, serve: str, settings: HostSettings, say: Callable[[str], None]) -> None:
        self.ready = self.left = self.cut_off = False
        self.name, self.serve, self.settings = name, serve, settings
        self._say = say
        self._given_up = time.monotonic() + START_S
        argument = msgspec.json.encode(settings).decode()
        self.child = SpawnedChild(name, serve, argument, self._log)

    @property
    def due(self) -> float | None:
        """When there is something to do."""
        dues = (self.child.due, None if self.ready else self._given_up)
        return min((one for one in dues if one is not None), default=None)

    def turn(self) -> bool:
        """Take in what it has said and printed; whether it is still there."""
        alive = self.child.alive
        while self.child.read_output():
            pass
        for message in self.child.messages():
            if isinstance(message, Ready):
                self.ready = True
                self._say(f"{self.name}: ready")
            elif isinstance(message, DeviceLeft):
                self.left = True
            elif isinstance(message, SchedulerLost):
                self.cut_off = True
            elif isinstance(message, LogLine):
                self._log(message)
        if not alive:
            self.child.finish()
            return False
        if not self.ready and time.monotonic() >= self._given_up:
            self._given_up = math.inf  # once: the ladder does the rest
            self.child.end(ask=False)
        self.child.tick()
        return True

    def _log(self, line: LogLine) -> None:
        self._say(f"{line.source}: {line.text}")


class Members:
    """All processes of a host; used on one thread.

    Args:
        say: Takes the lines of its log.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._members: list[Member] = []

    def __iter__(self) -> Iterator[Member]:
        return iter(self._members)

    def start(self, name: str, serve: str, settings: HostSettings) -> Member:
        """Start one."""
        member = Member(name, serve, settings, self._say)
        self._members.append(member)
        return member

    def start_device(self, device: Served, settings: HostSettings) -> Member:
        """Start the process of a device."""
        return self.start(device.name, DEVICE, replace(settings, device=device.name, gpu=device.gpu))

    def follow(self, reached: Callable[[], bool], stop: Pipe) -> bool:
        """Serve until something is reached; False where it is to stop before.

        Raises:
            HostError: A process without which nothing can be served has ended, or does not start.
        """
        while not reached():
            waitables = [source for one in self._members for source in one.child.waitables]
            ready = wait([stop, *waitables], _timeout(self._members))
            if stop in ready:
                return False
            for one in list(self._members):
                if not one.turn():
                    self._members.remove(one)
                    self._lost(one)
        return True

    def _lost(self, member: Member) -> None:
        """A process has ended by itself: a device's that had begun gets a fresh one.

        Raises:
            HostError: Nothing can be served without it.
        """
        how = f"The process of {member.name} {member.child.epitaph()}"
        if not member.ready or member.serve == SCHEDULER:
            last = member.child.lines[-1:]
            raise HostError(": ".join([how, *last]))
        self._say(f"{how}; a fresh one takes its place.")
        self.start(member.name, member.serve, member.settings)

    def end(self) -> None:
        """End them: all devices at once, and then their scheduler."""
        devices = [one for one in self._members if one.serve != SCHEDULER]
        _end(devices, DEVICE_END_S)
        _end([one for one in self._members if one not in devices], RUNG_S)
        self._members.clear()


def _end(members: list[Member], patience_s: float) -> None:
    for one in members:
        one.child.end(ask=True, patience_s=patience_s)
    while members := [one for one in members if one.turn()]:
        wait([source for one in members for source in one.child.waitables], _timeout(members))


def _timeout(members: Sequence[Member]) -> float | None:
    dues = [due for one in members if (due := one.due) is not None]
    return max(0.0, min(dues) - time.monotonic()) if dues else None
