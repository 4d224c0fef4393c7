"""Hosts that lend a CPU, as processes of their own, and what stands between them and a client."""

import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import PIPE, STDOUT, Popen
from urllib.parse import urlsplit

import msgspec
import psutil

from flashscope.profiles.cluster.connection import (
    JOINING_SUFFIX,
    Connection,
    read_connection,
    write_connection,
)
from flashscope.profiles.wire.process import MARK
from tests.end_to_end import program

SCHEDULER, DEVICE = "scheduler_host:serve", "device_host:serve"
PATIENCE_S = 60
GIVEN_UP_S = 2 * PATIENCE_S


class RunningHost:
    """A `serve` that is ready.

    Attributes:
        process: The one that was started.
        file: Its connection file.
        said: The lines that it has printed so far, as far as they were read.
    """

    def __init__(self, process: Popen[str], file: Path) -> None:
        self.process, self.file = process, file
        self.said: list[str] = []

    def wait_for(self, words: str) -> str:
        """The next line with these words; a host that does not say them is ended, which ends the wait."""
        assert self.process.stdout is not None
        given_up = threading.Timer(GIVEN_UP_S, self.process.kill)
        given_up.start()
        try:
            for line in self.process.stdout:
                self.said.append(line.rstrip("\n"))
                if words in line:
                    return self.said[-1]
        finally:
            given_up.cancel()
        raise AssertionError(f"{words!r} was not said: {self.said}")

    @property
    def connection(self) -> Connection:
        return read_connection(self.file)

    def members(self, which: str) -> list[psutil.Process]:
        """Its processes that serve this."""
        children = psutil.Process(self.process.pid).children()
        return [one for one in children if any(which in word for word in words_of(one))]

    def everything(self) -> list[psutil.Process]:
        """All of its processes."""
        main = psutil.Process(self.process.pid)
        return [main, *main.children(recursive=True)]


def start_host(folder: Path, *options: str, inside: Sequence[str] = ()) -> RunningHost:
    """A host that lends its CPU on the loopback, to be ended by who starts it.

    Args:
        folder: Where its files are.
        options: Of `serve`; they come last.
        inside: A command that runs it.
    """
    file = folder / "host.connection"
    words = ("serve", "--backend", "cpu", "--host", "127.0.0.1", "--port", "0", "--file", str(file), *options)
    return _begun(folder, file, str(program.ROOT / "main.py"), *words, inside=inside)


def _begun(
    folder: Path, file: Path, *words: str, inside: Sequence[str] = (), ready: str = "Connection file: "
) -> RunningHost:
    process = Popen(
        [*inside, sys.executable, *words],
        stdout=PIPE,
        stderr=STDOUT,
        text=True,
        env=program.environment(folder / "home"),
        cwd=program.ROOT,
    )
    host = RunningHost(process, file)
    host.wait_for(ready)
    return host


@contextmanager
def joined_host(folder: Path, first: RunningHost, *options: str) -> Iterator[RunningHost]:
    """A host that lends its CPU by the scheduler of another; its file is the one that it has joined with."""
    file = first.file.with_suffix(JOINING_SUFFIX)
    words = ("serve", "--backend", "cpu", "--scheduler", str(file), *options)
    with _ended(_begun(folder, file, str(program.ROOT / "main.py"), *words, ready="Joined ")) as host:
        yield host


@contextmanager
def running_host(folder: Path, *options: str, inside: Sequence[str] = ()) -> Iterator[RunningHost]:
    """A host that lends its CPU on the loopback; none of its processes is left."""
    with _ended(start_host(folder, *options, inside=inside)) as host:
        yield host


@contextmanager
def host_of(folder: Path, *devices: str, name: str = "host") -> Iterator[RunningHost]:
    """A host that lends its CPU under several names, as if it were so many devices; its file has this one."""
    file = folder / f"{name}.connection"
    with _ended(_begun(folder, file, "-m", "tests.end_to_end.several.serving", str(file), *devices)) as host:
        yield host


@contextmanager
def _ended(host: RunningHost) -> Iterator[RunningHost]:
    everything = host.everything()
    try:
        yield host
    finally:
        with suppress(psutil.NoSuchProcess):
            everything = host.everything()
        with host.process as process:
            process.terminate()
        assert_gone(everything)


def assert_gone(processes: list[psutil.Process]) -> None:
    """Each of them ends by itself."""
    left = psutil.wait_procs(processes, PATIENCE_S)[1]
    assert not left, [one.cmdline() for one in left]


def measuring(device: psutil.Process) -> list[psutil.Process]:
    """The worker and the telemetry child that a device's process has."""
    return [child for child in device.children() if any(MARK in part for part in words_of(child))]


def words_of(process: psutil.Process) -> list[str]:
    """The words of its command line; none once it has ended, which may be at any moment."""
    try:
        return process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return []


class Relay:
    """Stands between a client and a host, and cuts what goes through it, or holds it back.

    Attributes:
        called: Set once somebody has connected anew, after a cut or since a pause.
    """

    def __init__(self, host: Connection) -> None:
        self.called = threading.Event()
        self._lets_through = threading.Event()
        self._lets_through.set()
        self._there = urlsplit(host.address)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def through(self, host: Connection) -> Connection:
        """A connection through here."""
        address = f"{self._there.scheme}://127.0.0.1:{self._listener.getsockname()[1]}"
        return msgspec.structs.replace(host, address=address)

    def connection(self, host: Connection, path: Path) -> Path:
        """The file of a connection through here."""
        write_connection(self.through(host), path)
        return path

    def cut(self) -> int:
        """End all connections; how many there were."""
        self.called.clear()
        ended, self._open = self._open, []
        for one in ended:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        return len(ended) // 2

    def pause(self) -> None:
        """Hold back what comes, of new connections, too, and end none."""
        self.called.clear()
        self._lets_through.clear()

    def go_on(self) -> None:
        """Let through what was held back, and what comes."""
        self._lets_through.set()

    def close(self) -> None:
        self._listener.close()
        self.cut()
        self.go_on()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                here, _ = self._listener.accept()
                there = socket.create_connection((self._there.hostname or "", self._there.port or 0))
                self._open += [here, there]
                self.called.set()
                for source, target in ((here, there), (there, here)):
                    threading.Thread(target=self._pump, args=(source, target), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                self._lets_through.wait()
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
