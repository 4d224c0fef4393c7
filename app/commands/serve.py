"""`serve`: lend the devices of this machine to who connects with the file that is made here, or there.

Exit codes: 128 plus the signal's number after Ctrl-C or SIGTERM, which are how it ends; 0 with `--once`,
after its client has left; 1 when it cannot serve, or no longer.
"""

import os
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection as Stopper
from pathlib import Path
from threading import Thread

from flashscope.app.commands.arguments import STDOUT
from flashscope.app.commands.exit_codes import FAILED, SIGNALLED
from flashscope.app.commands.local import hear_signals
from flashscope.app.commands.messages import complain, pasteable, say, say_json, tell
from flashscope.installation import install_command
from flashscope.kernels.catalogue.registry import AUTO
from flashscope.kernels.catalogue.spec import installed
from flashscope.kernels.workload.errors import DeviceUnavailableError, InputError
from flashscope.profiles.cluster.connection import (
    JOINING_SUFFIX,
    RIGHTS,
    SUFFIX,
    Connection,
    connections_dir,
    is_loopback,
    joining_to,
    withdraw_connection,
    write_connection,
)
from flashscope.profiles.cluster.host.run_folder import HostError
from flashscope.profiles.cluster.settings import CPU, HostSettings, Served
from flashscope.profiles.worker.nvml import NvmlError, listed_gpus

LOOPBACK = "127.0.0.1"
JOINED = (
    "Whoever holds a file of {}, or runs that host, can run any program on this machine with your rights, as "
    "in a shell of yours."
)


def run(  # what the command takes
    *,
    backend: str,
    gpus: tuple[int, ...],
    host: str | None,
    port: int,
    plain: bool,
    hold_s: float,
    once: bool,
    file: Path | None,
    scheduler: str | None,
    name: str | None,
    trust_code: bool,
) -> int:
    """Serve until a signal comes, or with `once` until the one client has left."""
    if missing := [name for name in ("distributed", "cryptography") if not installed(name)]:
        complain("serve", f"{' and '.join(missing)} must be installed: {install_command('cluster')}")
        return FAILED
    if plain and host is not None and not is_loopback(host):
        raise InputError(
            f"--plain would let anybody who reaches {host} run programs as you; leave --plain out, or --host"
        )
    devices = devices_of(backend, gpus)
    settings = HostSettings(
        folder="",
        host=host or (LOOPBACK if plain else ""),
        port=port,
        plain=plain,
        hold_s=hold_s,
        once=once,
        trust_code=trust_code,
    )
    if scheduler is not None:
        joined = tuple(device.on(name or socket.gethostname()) for device in devices)
        return _join(settings, joined, scheduler)
    path = file or connections_dir() / f"{socket.gethostname()}-{port}{SUFFIX}"
    return _serve(settings, devices, ConnectionOut(path, joining=not once))


def _serve(settings: HostSettings, devices: Sequence[Served], file: "ConnectionOut") -> int:
    """Lend devices by a scheduler of this machine."""
    from flashscope.profiles.cluster.host.serving import Serving  # noqa: PLC0415 - after what it needs was found

    try:
        serving = Serving(settings, devices, file.publish, tell if file.path == STDOUT else _say)
        return _until_stopped(serving.run, follow_input=settings.once)
    finally:
        file.withdraw()


def _join(settings: HostSettings, devices: Sequence[Served], scheduler: str) -> int:
    """Lend devices by another machine's scheduler."""
    from flashscope.profiles.cluster.host.joining import Joining  # noqa: PLC0415 - imports Dask

    connection = joining_to(scheduler)

    def say_joined() -> None:
        _say(JOINED.format(connection.address))
        _say(f"Joined {connection.address}: {'; '.join(device.name for device in devices)}")

    return _until_stopped(Joining(settings, devices, connection, say_joined, _say).run)


def _until_stopped(serve: Callable[[Stopper], None], *, follow_input: bool = False) -> int:
    """Serve until a signal comes, or whoever started this has closed its input; the exit code."""
    stop, stopper = Pipe(duplex=False)
    hear_signals(lambda number: stopper.send_bytes(bytes([number])))
    if follow_input:
        Thread(target=_follow_input, args=(stopper,), daemon=True).start()
    try:
        serve(stop)
    except HostError as error:
        complain("serve", str(error))
        return FAILED
    number = stop.recv_bytes()[0] if stop.poll() else 0
    return SIGNALLED + number if number else 0


class ConnectionOut:
    """Where what clients connect with goes: a file for as long as it is served, or stdout.

    Args:
        path: The file.
        joining: Whether there is to be another beside it, with which hosts join.

    Attributes:
        path: The file.

    Raises:
        InputError: Both would be one file.
    """

    def __init__(self, path: Path, *, joining: bool) -> None:
        self.path = path
        self._joining = path.with_suffix(JOINING_SUFFIX) if joining and path != STDOUT else None
        if self._joining == path:
            raise InputError(f"{path} is called as the file is for hosts that join; name another with --file")
        self._written: list[tuple[Connection, Path]] = []

    def publish(self, client: Connection, joining: Connection | None) -> None:
        """Write what clients and hosts connect with, and say what it is.

        Raises:
            ConnectError: It cannot be written.
        """
        if self.path == STDOUT:
            say_json(client)
            return
        self._write(client, self.path)
        if joining is not None and self._joining is not None:
            self._write(joining, self._joining)
        _say(f"Serving at {client.address}")
        _say(f"{RIGHTS} It ends with this run.")
        if joining is not None and self._joining is not None:
            _say(f"For other hosts (serve --scheduler): {pasteable(self._joining)}")
        _say(f"Connection file: {pasteable(self.path)}")

    def withdraw(self) -> None:
        """Take the files away."""
        for connection, path in self._written:
            withdraw_connection(connection, path)

    def _write(self, connection: Connection, path: Path) -> None:
        write_connection(connection, path)
        self._written.append((connection, path))


def _follow_input(stopper: Stopper) -> None:
    """Stop when whoever started this has closed its input, or is gone."""
    while os.read(0, 1 << 16):  # past the buffer, whose lock would be missed when this ends
        pass
    stopper.send_bytes(b"\0")


def _say(text: str) -> None:
    """A line on stdout, at once: whoever started this waits for it. A log on a full disk ends nothing."""
    with suppress(OSError):
        say(text)
        sys.stdout.flush()


def devices_of(backend: str, gpus: tuple[int, ...]) -> tuple[Served, ...]:
    """What is lent: GPUs by their numbers, or the CPU.

    Raises:
        DeviceUnavailableError: A GPU is asked for that there is not.
    """
    if backend == "cpu":
        if gpus:
            raise InputError("--gpus takes GPUs and --backend cpu lends none; leave one of them out")
        return (Served(name=CPU),)
    try:
        listed = listed_gpus()
    except NvmlError as error:
        if backend == AUTO and not gpus:
            complain("serve", f"no GPU is lent: {error}")
            return (Served(name=CPU),)
        raise DeviceUnavailableError(f"There is no GPU to lend: {error}") from error
    there = {one.number: Served(name=f"GPU {one.number}, {one.name}", gpu=one.uuid) for one in listed}
    if absent := [number for number in gpus if number not in there]:
        told = ", ".join(map(str, absent))
        raise DeviceUnavailableError(f"There is no GPU {told} here; there are {', '.join(map(str, there))}.")
    return tuple(there[number] for number in gpus or there)
