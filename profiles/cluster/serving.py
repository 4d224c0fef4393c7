"""A host: a scheduler and a process for each device, none of which outlives it. No Dask in here."""

import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection as Pipe
from multiprocessing.connection import wait
from pathlib import Path

import msgspec
from msgspec.structs import replace

from flashscope.home import OWN_FILE
from flashscope.profiles.cluster.certificates import Certificates, make_certificates
from flashscope.profiles.cluster.connection import Connection
from flashscope.profiles.cluster.settings import HostSettings, Served
from flashscope.profiles.engine.children import SpawnedChild
from flashscope.profiles.wire.events import LogLine
from flashscope.profiles.wire.messages import DeviceLeft, Ready

SCHEDULER = "flashscope.profiles.cluster.scheduler_host:serve"
DEVICE = "flashscope.profiles.cluster.device_host:serve"
START_S = 60.0  # after which a process that is not ready is given up


class HostError(Exception):
    """A host cannot go on; the text says why."""


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
    """

    def __init__(self, name: str, serve: str, settings: HostSettings, say: Callable[[str], None]) -> None:
        self.ready = self.left = False
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
            elif isinstance(message, LogLine):
                self._log(message)
        if not alive:
            self.child.finish()
        elif not self.ready and time.monotonic() >= self._given_up:
            self.child.end(ask=False)
        else:
            self.child.tick()
        return alive

    def _log(self, line: LogLine) -> None:
        self._say(f"{line.source}: {line.text}")


class Serving:
    """A host from its begin to its end; used on one thread.

    Args:
        settings: Where its scheduler is reached, and how long a device is held.
        devices: What it lends.
        publish: Takes what clients connect with, once all devices are served.
        say: Takes the lines of its log.
    """

    def __init__(
        self,
        settings: HostSettings,
        devices: Sequence[Served],
        publish: Callable[[Connection], None],
        say: Callable[[str], None],
    ) -> None:
        self._settings, self._devices, self._publish, self._say = settings, devices, publish, say
        self._members: list[Member] = []

    def run(self, stop: Pipe) -> None:
        """Serve until something can be read from `stop`, or the one client has left.

        Raises:
            HostError: The scheduler has ended, a process does not start, or the disk takes no files.
        """
        with _own_folder() as folder:
            settings = replace(self._settings, folder=str(folder))
            certificates = None if settings.plain else make_certificates(socket.gethostname())
            if certificates is not None:
                _keep(certificates, folder)
            try:
                self._serve(settings, certificates, stop)
            finally:
                self._end()

    def _serve(self, settings: HostSettings, certificates: Certificates | None, stop: Pipe) -> None:
        scheduler = self._start("scheduler", SCHEDULER, settings)
        if not self._follow(lambda: scheduler.ready, stop):
            return
        for device in self._devices:
            self._start(device.name, DEVICE, replace(settings, device=device.name, gpu=device.gpu))
        if not self._follow(lambda: all(one.ready for one in self._members), stop):
            return
        self._announce(settings, certificates)
        self._follow(lambda: settings.once and any(one.left for one in self._members), stop)

    def _start(self, name: str, serve: str, settings: HostSettings) -> Member:
        member = Member(name, serve, settings, self._say)
        self._members.append(member)
        return member

    def _announce(self, settings: HostSettings, certificates: Certificates | None) -> None:
        """Say what clients connect with."""
        address = msgspec.json.decode(settings.scheduler_file.read_bytes())["address"]
        connection = Connection(address=address)
        if certificates is not None:
            ca, client = certificates.ca, certificates.client
            connection = replace(connection, ca=ca, certificate=client.certificate, key=client.key)
        self._publish(connection)

    def _follow(self, reached: Callable[[], bool], stop: Pipe) -> bool:
        """Serve until something is reached; False where it is to stop before."""
        while not reached():
            waitables = [source for one in self._members for source in one.child.waitables]
            ready = wait([stop, *waitables], self._timeout())
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
        self._start(member.name, member.serve, member.settings)

    def _timeout(self) -> float | None:
        dues = [due for one in self._members if (due := one.due) is not None]
        return max(0.0, min(dues) - time.monotonic()) if dues else None

    def _end(self) -> None:
        """End the devices, then the scheduler."""
        for one in reversed(self._members):
            one.child.end(ask=True)
            while one.turn():
                wait(one.child.waitables, max(0.0, (one.due or 0.0) - time.monotonic()))
        self._members.clear()


@contextmanager
def _own_folder() -> Iterator[Path]:
    """A folder for the run.

    Raises:
        HostError: There is no place for it.
    """
    try:
        made = tempfile.TemporaryDirectory(prefix="flashscope-serve-")
    except OSError as error:
        raise _no_room("The system's temporary folder", error) from error
    with made as folder:
        yield Path(folder)


def _keep(certificates: Certificates, folder: Path) -> None:
    """Write what the host's own processes prove themselves with, for nobody else to read.

    Raises:
        HostError: They cannot be written.
    """
    pair = certificates.host
    texts = {"ca.cert": certificates.ca, "host.cert": pair.certificate, "host.key": pair.key}
    try:
        for name, text in texts.items():
            path = folder / name
            path.touch(OWN_FILE, exist_ok=False)
            path.write_text(text, encoding="ascii")
    except OSError as error:
        raise _no_room(str(folder), error) from error


def _no_room(folder: str, error: OSError) -> HostError:
    remedy = "free some space there, or name another folder with TMPDIR"
    return HostError(f"{folder} takes no files ({error.strerror}); {remedy}.")
