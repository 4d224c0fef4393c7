"""Kills processes of real CPU sweeps at random moments, resumes them, and counts what was lost.

    python -m tests.end_to_end.kills [KILLS] [SEED]

Each sweep is begun once and resumed, killed again and resumed, until its session is complete. Prints a line
for them so far and exits with 1 when a point that was told of as measured is not in the file as it was told
or was measured twice, a session ends without one of its points, a file cannot be read, or a sweep does not
end.
"""

import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import psutil

from flashscope.app.words.units import ms_text
from flashscope.profiles.results.model.remaining import remaining_of
from flashscope.profiles.results.model.session import PointState
from flashscope.profiles.results.statistics.stats import quartiles
from flashscope.profiles.store import SessionFileError, load
from flashscope.profiles.store.sidecars import leftovers
from flashscope.profiles.wire.process import MARK
from tests.end_to_end import program

SWEEP = (
    *("sweep", "--backend", "cpu", "--heads", "1", "--head-dim", "16", "--repeats", "60"),
    *("--seqlen", "64:1024:64", "--no-drift-check"),
)
TOLD = re.compile(r"^(\d+) of \d+  \S+  N = \d+: (.+)$")
Kind = Literal["main", "worker", "telemetry"]


class Run:
    """One sweep, what it told, and what was killed of it.

    Attributes:
        told: The time that was told of a point, by its index.
        killed: How many processes were killed.
        parts: How many parts its session has in the end.
        lost: Points that were told, and are not in the file as they were told or were told again.
    """

    def __init__(
        self,
        path: Path,
        sweep: Sequence[str] = SWEEP,
        longest_s: float = 4.0,
        victims: Sequence[Kind] = ("main", "worker", "telemetry"),
    ) -> None:
        self.told: dict[int, str] = {}
        self.killed: Counter[Kind] = Counter()
        self.parts = 0
        self.lost: set[int] = set()
        self._path, self._sweep, self._longest_s, self._victims = path, sweep, longest_s, victims

    def run(self, dice: random.Random, most: int) -> None:
        """Run the sweep to its end, resume it as often as need be, and kill up to so many processes of it."""
        while not self._complete():
            self._launch(dice, most)
            self._compare()
        session = load(self._path)
        self.parts = len(session.resumed) + 1
        assert session.outcome == "finished"
        assert {state.status for state in session.planned} == {"done"}
        assert [state.point for state in session.planned] == list(session.plan.points())

    def _complete(self) -> bool:
        return self._begun() and remaining_of(load(self._path)).nothing

    def _begun(self) -> bool:
        """Whether there is a session; what was left of a sweep that was killed before that is taken away."""
        with suppress(SessionFileError):
            return bool(load(self._path).points)
        for left in (self._path, *leftovers(self._path)):
            left.unlink(missing_ok=True)
        return False

    def _launch(self, dice: random.Random, most: int) -> None:
        """Begin the sweep or go on with it, and kill processes of it until it has ended."""
        begun = (
            ("sweep", "--resume", str(self._path))
            if self._begun()
            else (*self._sweep, "--out", str(self._path))
        )
        with program.started(*begun) as process:
            reader = threading.Thread(target=self._read, args=(process,))
            reader.start()
            wait = self._longest_s
            while self.killed.total() < most and not ended(process, dice.uniform(0, wait)):
                self._kill(psutil.Process(process.pid), dice)
                wait = self._longest_s / 4
            process.wait(program.TIMEOUT_S)
            reader.join()
            assert process.returncode in {0, 1, -signal.SIGKILL}, process.returncode
            assert process.returncode != 1 or self._begun(), self.told

    def _compare(self) -> None:
        if self.told:
            points = load(self._path).points
            self.lost |= {index for index, told in self.told.items() if time_of(points[index]) != told}

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        for line in process.stderr:
            found = TOLD.match(line.rstrip("\n")) if line.endswith("\n") else None
            if found and found[2].endswith("s"):  # `1.25 ms`; a failure ends in its reason
                index = int(found[1]) - 1
                if index in self.told:
                    self.lost.add(index)
                self.told[index] = found[2]

    def _kill(self, main: psutil.Process, dice: random.Random) -> None:
        with suppress(psutil.NoSuchProcess):
            victim = dice.choice([*[main] * 4, *children_of(main) * 3])
            kind = kind_of(victim, main)
            if kind not in self._victims:
                return
            victim.send_signal(signal.SIGKILL)
            self.killed[kind] += 1


def ended(process: subprocess.Popen[str], timeout_s: float) -> bool:
    """Whether a process ends within that time."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(timeout_s)
    return process.poll() is not None


def children_of(main: psutil.Process) -> list[psutil.Process]:
    """The worker and the telemetry child, those that run."""
    return [child for child in main.children() if any(MARK in part for part in child.cmdline())]


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
    dice, killed, told, lost = random.Random(seed), Counter[Kind](), 0, 0  # noqa: S311 - no secret
    parts: list[int] = []
    with tempfile.TemporaryDirectory() as folder:
        while killed.total() < kills:
            run = Run(Path(folder) / f"{len(parts)}.flashscope")
            run.run(dice, most=min(dice.randrange(4, 16), kills - killed.total()))
            killed += run.killed
            told, lost = told + len(run.told), lost + len(run.lost)
            parts.append(run.parts)
            say = f"{killed.total()} kills ({dict(killed)}) in {len(parts)} sweeps of {sum(parts)} parts"
            print(f"{say}: {told} points told, {lost} lost", flush=True)  # noqa: T201 - the result so far
    return lost


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    sys.exit(bool(main(*(given + [200, 1][len(given) :]))))
