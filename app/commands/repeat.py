"""`sweep --spread repeat`: the same sweep on each of several devices at once, to compare them.

Each device has a session of its own, measured by a run of its own beside the others: what becomes of one
device is no matter of another's.
"""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from threading import Thread
from types import FrameType
from typing import NamedTuple

from flashscope.app.commands import compare
from flashscope.app.commands.exit_codes import SIGNALLED
from flashscope.app.commands.hosts import Hosts, connected, local_gpus
from flashscope.app.commands.local import LIFE
from flashscope.app.commands.messages import pasteable, say, say_json, tell
from flashscope.app.commands.runs import life_of_this, signals_reach
from flashscope.installation import install_command
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.cluster.client.device_words import ALL
from flashscope.profiles.cluster.connection import ConnectError
from flashscope.profiles.results.compare import MOST_OTHERS
from flashscope.profiles.results.quantities.registry import RUNTIME
from flashscope.profiles.store import load
from flashscope.profiles.wire.process import python_command

MAIN = "flashscope.__main__:main"


class DeviceRun(NamedTuple):
    """The run of one device: what the device is called, what is run, into which file."""

    name: str
    command: tuple[str, ...]
    file: Path


def run(words: Sequence[str], hosts: Hosts, *, out: Path, as_json: bool) -> int:
    """Measure on every device that is meant; print the files and, of two or more, the comparison.

    Args:
        words: What is said to `sweep`, without where to measure and to save.
        hosts: Where to measure.
        out: The file whose name the files are numbered under.
        as_json: Whether to print the devices and their files as one JSON document.

    Returns:
        0 if every run ended with 0; the first other code; 128 plus the signal's number after a signal.
    """
    runs = _runs(words, hosts, out)
    relay = _Relay()
    with signals_reach(relay.pass_on):
        codes = relay.run(runs)
    made = [one for one in runs if one.file.exists()]
    _report(made, as_json=as_json)
    if relay.stopped_by is not None:
        return SIGNALLED + relay.stopped_by
    return next(filter(None, codes), 0)


def _runs(words: Sequence[str], hosts: Hosts, out: Path) -> list[DeviceRun]:
    """A run for each device, into a file that is not there.

    Raises:
        ConnectError: A host cannot be reached, or does not lend what is meant.
        DeviceUnavailableError: There is no such GPU here.
        InputError: A file is there.
    """
    runs = []
    for number, (name, where) in enumerate(_places(hosts), 1):
        file = out.with_name(f"{out.stem}-{number}{out.suffix}")
        if file.exists():
            raise InputError(f"{file} exists already; give another name to --out, or remove it")
        command = (*python_command(MAIN), "sweep", *words, *where, "--out", str(file))
        runs.append(DeviceRun(name, command, file))
    return runs


def _places(hosts: Hosts) -> list[tuple[str, tuple[str, ...]]]:
    """What each device that is meant is called, and the words that have a sweep measure there."""
    if not hosts.addresses:
        return [(one.name, ("--devices", one.word)) for one in local_gpus(hosts.devices or ALL)]
    try:
        from flashscope.profiles.cluster.client.choosing import chosen_devices  # noqa: PLC0415 - imports Dask
    except ModuleNotFoundError as error:
        remedy = install_command("cluster")
        raise ConnectError(f"--connect needs {error.name}, which is not installed: {remedy}") from error
    with connected(hosts.addresses) as connections:
        devices = chosen_devices(connections, hosts.devices or ALL)
    return [
        (one.name, ("--connect", hosts.addresses[one.place], "--devices", one.served.word)) for one in devices
    ]


class _Relay:
    """Runs children beside one another; a signal goes to all, which keep what they measured."""

    def __init__(self) -> None:
        self.stopped_by: int | None = None
        self._children: list[subprocess.Popen[str]] = []

    def run(self, runs: Sequence[DeviceRun]) -> list[int]:
        """Their exit codes; what they say goes on as it comes, behind the number of the device."""
        with life_of_this() as life:
            tellers = [self._start(number, one, life) for number, one in enumerate(runs, 1)]
            codes = [child.wait() for child in self._children]
        for teller in tellers:
            teller.join()
        return codes

    def _start(self, number: int, one: DeviceRun, life: int) -> Thread:
        """Begin a run, which stops when this process is killed; what passes on what it says."""
        tell(f"device {number}: {one.name}, {one.file}")
        child = subprocess.Popen(
            one.command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
            pass_fds=(life,),
            env={**os.environ, LIFE: str(life)},
        )
        self._children.append(child)
        if self.stopped_by is not None:
            child.send_signal(self.stopped_by)
        teller = Thread(target=_pass_on, args=(child, f"device {number}: "), daemon=True)
        teller.start()
        return teller

    def pass_on(self, number: int, _frame: FrameType | None) -> None:
        """Send a signal on to every child that runs."""
        self.stopped_by = number
        for child in self._children:
            if child.poll() is None:
                child.send_signal(number)


def _pass_on(child: "subprocess.Popen[str]", before: str) -> None:
    if child.stderr is not None:
        with child.stderr as said:
            for line in said:
                tell(before + line.rstrip("\n"))


def _report(runs: Sequence[DeviceRun], *, as_json: bool) -> None:
    if as_json:
        say_json({"devices": [{"device": one.name, "file": str(one.file)} for one in runs]})
        return
    for one in runs:
        say(f"{one.name}: saved as {pasteable(one.file)}")
    measured = [one.file for one in runs if any(state.status == "done" for state in load(one.file).points)]
    if 1 < len(measured) <= 1 + MOST_OTHERS:
        say("")
        sides = [(file,) for file in measured]
        compare.run(
            sides,
            as_json=False,
            quantity=RUNTIME,
            fail_on=None,
            allow_inconclusive=False,
            page=None,
            force=False,
        )
