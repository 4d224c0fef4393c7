"""Kills processes of hosts, and clients of them, at random moments of real CPU sweeps; counts what was lost.

    python -m tests.end_to_end.host_kills [KILLS] [SEED]

Each sweep is begun once and resumed until its session is complete; a host that is gone is started anew.
Prints a line for each sweep, and exits with 1 when a point that was told of as measured is not in the file
as it was told or was measured twice, a session ends without one of its points, or a process is left of
what was killed.
"""

import random
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from flashscope.profiles.results.model.remaining import remaining_of
from flashscope.profiles.store import load
from tests.end_to_end import program
from tests.end_to_end.hosts import DEVICE, PATIENCE_S, SCHEDULER, RunningHost, assert_gone, start_host
from tests.end_to_end.kills import TOLD, ended, time_of

SWEEP = (
    *("sweep", "--backend", "cpu", "--kernels", "standard,flash2", "--heads", "1", "--head-dim", "16"),
    *("--repeats", "10", "--seqlen", "64:1024:64", "--no-drift-check"),
)
VICTIMS = ("device", "device", "scheduler", "host", "client")
LONGEST_S = 6.0  # from a sweep's first point to the kill


class FarRun:
    """One sweep on hosts that are killed, until it is complete.

    Attributes:
        told: The time that was told of a point, by its index.
        lost: Points that are not in the file as they were told, or were told again.
        killed: How many of what were killed.
    """

    def __init__(self, folder: Path) -> None:
        self.told: dict[int, str] = {}
        self.lost: set[int] = set()
        self.killed: Counter[str] = Counter()
        self._folder, self._path = folder, folder / "a.flashscope"

    def run(self, dice: random.Random, most: int) -> None:
        """Run it to its end, with so many kills."""
        with _hosts(self._folder) as hosts:
            while not self._complete():
                self._part(next(hosts), dice, kill=self.killed.total() < most)
                self._compare()

    def _compare(self) -> None:
        if self.told:
            points = load(self._path).points
            self.lost |= {index for index, told in self.told.items() if time_of(points[index]) != told}

    def _complete(self) -> bool:
        return self._path.exists() and remaining_of(load(self._path)).nothing

    def _part(self, host: RunningHost, dice: random.Random, *, kill: bool) -> None:
        begun = ("sweep", "--resume", str(self._path)) if self._path.exists() else SWEEP
        out = () if self._path.exists() else ("--out", str(self._path))
        with program.started(*begun, *out, "--connect", str(host.file)) as process:
            if kill and self._first(process):
                ended(process, dice.uniform(0, LONGEST_S))
                self._kill(dice.choice(VICTIMS), host, process)
            _, errors = process.communicate(timeout=program.TIMEOUT_S)
        for line in errors.splitlines(keepends=True):
            self._hear(line)

    def _first(self, process: subprocess.Popen[str]) -> bool:
        """Whether a point is told before the sweep ends."""
        assert process.stderr is not None
        while line := process.stderr.readline():
            if self._hear(line):
                return True
        return False

    def _hear(self, line: str) -> bool:
        found = TOLD.match(line.rstrip("\n")) if line.endswith("\n") else None
        if not found or not found[2].endswith("s"):
            return False
        index = int(found[1]) - 1
        if index in self.told:
            self.lost.add(index)
        self.told[index] = found[2]
        return True

    def _kill(self, victim: str, host: RunningHost, client: subprocess.Popen[str]) -> None:
        """Kill one of them; what it had started ends, too."""
        chosen: list[psutil.Process] = []
        with suppress(psutil.NoSuchProcess):
            chosen = {
                "device": lambda: host.members(DEVICE),
                "scheduler": lambda: host.members(SCHEDULER),
                "host": lambda: [psutil.Process(host.process.pid)],
                "client": lambda: [psutil.Process(client.pid)] if client.poll() is None else [],
            }[victim]()
        for one in chosen:
            children = one.children(recursive=True)
            one.send_signal(signal.SIGKILL)
            self.killed[victim] += 1
            assert_gone(children)


@contextmanager
def _hosts(folder: Path) -> Iterator[Iterator[RunningHost]]:
    """Hosts, each for as long as it runs; the last is ended."""
    running: list[RunningHost] = []

    def each() -> Iterator[RunningHost]:
        while True:
            if not running or ended(running[-1].process, 1):
                running.append(start_host(folder, "--hold", "5"))
            yield running[-1]

    try:
        yield each()
    finally:
        for host in running:
            host.process.terminate()
            host.process.wait(PATIENCE_S)


def main(kills: int, seed: int) -> int:
    """Kill so often; returns how many points were lost."""
    dice, killed, told, lost = random.Random(seed), Counter[str](), 0, 0  # noqa: S311 - no secret
    while killed.total() < kills:
        with tempfile.TemporaryDirectory() as folder:
            run = FarRun(Path(folder))
            run.run(dice, most=min(8, kills - killed.total()))
        killed += run.killed
        told, lost = told + len(run.told), lost + len(run.lost)
        say = f"{killed.total()} kills ({dict(killed)}): {told} points told, {lost} lost"
        print(say, flush=True)  # noqa: T201 - the result so far
    return lost


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    sys.exit(bool(main(*(given + [50, 1][len(given) :]))))
