"""Kills processes of real CPU sweeps at random moments, and counts what was lost of what had been told.

    python -m tests.end_to_end.kills [KILLS] [SEED]

Prints a line for each kind of process and exits with 1 when a point that a sweep had told of as measured is
not in its file, a file cannot be read, or a sweep does not end.
"""

import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Literal

import psutil

from app.words.units import ms_text
from profiles.results.session import PointState
from profiles.results.stats import quartiles
from profiles.store import load
from tests.end_to_end import program

SWEEP = (
    *("sweep", "--backend", "cpu", "--heads", "1", "--head-dim", "16", "--repeats", "60"),
    *("--seqlen", "64:1024:64", "--no-drift-check"),
)
TOLD = re.compile(r"^(\d+) of \d+  \S+  N = \d+: (.+)$")
Kind = Literal["main", "worker", "telemetry"]


class Run:
    """One sweep, what it told, and what was killed of it."""

    def __init__(self, path: Path) -> None:
        self.told: dict[int, str] = {}  # the time that was told of a point, by its index
        self.killed: Counter[Kind] = Counter()
        self._path = path

    def run(self, dice: random.Random, most: int) -> None:
        """Run the sweep and kill up to so many processes of it."""
        with program.started(*SWEEP, "--out", str(self._path)) as process:
            reader = threading.Thread(target=self._read, args=(process,))
            reader.start()
            time.sleep(dice.uniform(0, 6))
            while process.poll() is None and not self.killed["main"] and self.killed.total() < most:
                self._kill(psutil.Process(process.pid), dice)
                time.sleep(dice.uniform(0, 1.5))
            process.wait(program.TIMEOUT_S)
            reader.join()

    def lost(self) -> list[int]:
        """Points that were told and are not in the file as they were told."""
        if not self.told:  # killed before its file held a session, perhaps
            return []
        points = load(self._path).points
        return [index for index, told in self.told.items() if time_of(points[index]) != told]

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        for line in process.stderr:
            found = TOLD.match(line.rstrip("\n")) if line.endswith("\n") else None
            if found and found[2].endswith("s"):  # `1.25 ms`; a failure ends in its reason
                self.told[int(found[1]) - 1] = found[2]

    def _kill(self, main: psutil.Process, dice: random.Random) -> None:
        with suppress(psutil.NoSuchProcess):
            victim = dice.choice([main, *children_of(main) * 5])
            kind = kind_of(victim, main)
            victim.send_signal(signal.SIGKILL)
            self.killed[kind] += 1


def children_of(main: psutil.Process) -> list[psutil.Process]:
    """The worker and the telemetry child, those that run."""
    return [child for child in main.children() if any("spawn_main" in part for part in child.cmdline())]


def kind_of(victim: psutil.Process, main: psutil.Process) -> Kind:
    """What a process does; the worker is the child that has loaded NumPy."""
    if victim == main:
        return "main"
    return "worker" if any("numpy" in part.path for part in victim.memory_maps()) else "telemetry"


def time_of(state: PointState) -> str:
    """The time of a point as a sweep tells it; empty when it is not done."""
    found = quartiles(state.measurement.samples) if state.status == "done" and state.measurement else None
    return ms_text(found.median) if found else ""


def main(kills: int, seed: int) -> int:
    """Kill so many processes; returns how many points were lost."""
    dice, killed, told, lost, sweeps = random.Random(seed), Counter[Kind](), 0, 0, 0  # noqa: S311 - no secret
    with tempfile.TemporaryDirectory() as folder:
        while killed.total() < kills:
            run = Run(Path(folder) / f"{sweeps}.flashscope")
            run.run(dice, most=min(6, kills - killed.total()))
            killed += run.killed
            told, lost, sweeps = told + len(run.told), lost + len(run.lost()), sweeps + 1
    print(f"{killed.total()} kills ({dict(killed)}) in {sweeps} sweeps: {told} points told, {lost} lost")  # noqa: T201
    return lost


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    sys.exit(bool(main(*(given + [200, 1][len(given) :]))))
