"""`serve`: lend the devices of this machine to who connects with the file that is made here.

Exit codes: 128 plus the signal's number after Ctrl-C or SIGTERM, which are how it ends; 1 when it cannot
serve, or no longer.
"""

import socket
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from multiprocessing import Pipe
from pathlib import Path

from flashscope.app.commands.exit_codes import FAILED, SIGNALLED
from flashscope.app.commands.local import hear_signals
from flashscope.app.commands.messages import complain, say
from flashscope.installation import install_command
from flashscope.kernels.catalogue.registry import AUTO
from flashscope.kernels.workload.errors import DeviceUnavailableError, InputError
from flashscope.profiles.cluster.connection import SUFFIX, connections_dir, is_loopback
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
    file: Path | None,
) -> int:
    """Serve until a signal comes."""
    if missing := [name for name in ("distributed", "cryptography") if find_spec(name) is None]:
        complain("serve", f"{' and '.join(missing)} must be installed: {install_command('cluster')}")
        return FAILED
    if plain and host is not None and not is_loopback(host):
        raise InputError(
            f"--plain would let anybody who reaches {host} run programs as you; leave --plain out, or --host"
        )
    devices = devices_of(backend, gpus)
    settings = HostSettings(
        folder="", host=host or (LOOPBACK if plain else ""), port=port, plain=plain, hold_s=hold_s
    )
    path = file or connections_dir() / f"{socket.gethostname()}-{port}{SUFFIX}"
    return _serve(settings, devices, path)


def _serve(settings: HostSettings, devices: Sequence[Served], path: Path) -> int:
    from flashscope.profiles.cluster.serving import HostError, Serving  # noqa: PLC0415 - after what it needs was found

    stop, stopper = Pipe(duplex=False)
    hear_signals(lambda number: stopper.send_bytes(bytes([number])))
    try:
        Serving(settings, devices, path, _say).run(stop)
    except HostError as error:
        complain("serve", str(error))
        return FAILED
    return SIGNALLED + stop.recv_bytes()[0]


def _say(text: str) -> None:
    """A line on stdout, at once: whoever started this waits for it."""
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
