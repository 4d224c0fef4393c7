"""`serve`: lend the devices of this machine to who connects with the file that is made here.

Exit codes: 128 plus the signal's number after Ctrl-C or SIGTERM, which are how it ends; 0 with `--once`,
after its client has left; 1 when it cannot serve, or no longer.
"""

import os
import socket
import sys
from collections.abc import Sequence
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
    RIGHTS,
    SUFFIX,
    Connection,
    connections_dir,
    is_loopback,
    withdraw_connection,
    write_connection,
)
from flashscope.profiles.cluster.settings import CPU, HostSettings, Served
from flashscope.profiles.worker.nvml import NvmlError, listed_gpus

LOOPBACK = "127.0.0.1"


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
        folder="", host=host or (LOOPBACK if plain else ""), port=port, plain=plain, hold_s=hold_s, once=once
    )
    path = file or connections_dir() / f"{socket.gethostname()}-{port}{SUFFIX}"
    return _serve(settings, devices, path)


def _serve(settings: HostSettings, devices: Sequence[Served], path: Path) -> int:
    from flashscope.profiles.cluster.serving import HostError, Serving  # noqa: PLC0415 - after what it needs was found

    stop, stopper = Pipe(duplex=False)
    hear_signals(lambda number: stopper.send_bytes(bytes([number])))
    if settings.once:
        Thread(target=_follow_input, args=(stopper,), daemon=True).start()
    file = ConnectionOut(path)
    try:
        Serving(settings, devices, file.publish, tell if path == STDOUT else _say).run(stop)
    except HostError as error:
        complain("serve", str(error))
        return FAILED
    finally:
        file.withdraw()
    number = stop.recv_bytes()[0] if stop.poll() else 0
    return SIGNALLED + number if number else 0


class ConnectionOut:
    """Where what clients connect with goes: a file for as long as it is served, or stdout."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written: Connection | None = None

    def publish(self, connection: Connection) -> None:
        """Write it, and say what it is.

        Raises:
            ConnectError: It cannot be written.
        """
        if self._path == STDOUT:
            say_json(connection)
            return
        write_connection(connection, self._path)
        self._written = connection
        _say(f"Serving at {connection.address}")
        _say(f"{RIGHTS} It ends with this run.")
        _say(f"Connection file: {pasteable(self._path)}")

    def withdraw(self) -> None:
        """Take the file away."""
        if self._written is not None:
            withdraw_connection(self._written, self._path)


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
