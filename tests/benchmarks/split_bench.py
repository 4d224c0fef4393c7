"""What splitting a sweep over the GPUs of a host gains: python -m tests.benchmarks.split_bench [--gpus 4]

The same sweep on one device and split over all of them, in turns, through one `serve` on the loopback, as
`sweep --connect FILE --devices all` runs it. Before each, every device measures a small problem with all
kernels, so that imports and compilers are left out of the sweep's own time; they are in the time with the
start. `--out DIR` keeps every session. `--backend cpu`: in miniature, the CPU lent under several names.
"""

import argparse
import signal
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from threading import Timer
from typing import NamedTuple

from flashscope.app.commands.hosts import Hosts
from flashscope.app.commands.local import local_driver
from flashscope.app.commands.sweep import SweepRun
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.results.model.session import PointState, Session
from flashscope.profiles.store import Recorder
from tests.end_to_end.hosts import RunningHost, host_of, running_host

CUDA_KERNELS = ("standard", "flash2", "flash3", "torch-flash", "torch-cudnn")
CPU_KERNELS = ("standard", "flash2")


def say(text: str) -> None:
    """Print a line of the table at once."""
    print(text, flush=True)  # noqa: T201 - the table


class Timed(NamedTuple):
    """A sweep and what it took, in s: from its first point to its last outcome, and with the start."""

    devices: int
    session: Session
    sweep_s: float
    whole_s: float

    @property
    def busy_s(self) -> list[float]:
        """How long each device was at its problems."""
        spent = [0.0] * self.devices
        for group in self.session.plan.groups():
            states = [self.session.points[point.index] for point in group]
            known = [(one.started_ns, one.ended_ns) for one in states if one.started_ns and one.ended_ns]
            if known:
                spent[states[0].device] += (max(e for _, e in known) - min(b for b, _ in known)) / 1e9
        return spent


def plan_of(backend: Backend, problems: int, *, small: bool = False) -> Plan:
    """Problems of about the same cost; `small`: ones that have all kernels compiled and imported."""
    if backend == "cuda":
        lengths = range(1024, 1024 + 256 * problems, 256) if small else spread(6144, 14336, problems, 128)
    else:
        lengths = range(64, 64 + 64 * problems, 64) if small else spread(256, 512, problems, 16)
    gpu = backend == "cuda"
    every = CUDA_KERNELS if gpu else CPU_KERNELS
    return Plan(
        backend=backend,
        kernels=tuple(name for name in every if find_kernel(name).library_is_here()),
        problems=tuple(
            Problem(
                seqlen_q=length,
                seqlen_k=length,
                heads=16 if gpu else 1,
                head_dim=128 if gpu else 32,
                dtype="bfloat16" if gpu else "float32",
            )
            for length in lengths
        ),
        protocol=Protocol(repeats=3 if small else 20, drift_check=False),
    )


def spread(low: int, high: int, count: int, step: int) -> list[int]:
    """So many lengths from low to high, multiples of a step."""
    return [low + step * round((high - low) * place / max(1, count - 1) / step) for place in range(count)]


def measured(host: RunningHost, devices: int, plan: Plan, path: Path, until: float) -> Timed | None:
    """One sweep on so many devices of the host; None: it did not end in time."""
    begun = time.monotonic()
    hosts = Hosts((str(host.file),), devices)
    with local_driver(hosts) as (driver, events):
        timer = Timer(max(0.1, until - begun), events.put, (signal.SIGTERM,))
        timer.daemon = True
        timer.start()
        small = SweepRun(driver, events)
        small.run(plan_of(plan.backend, devices, small=True))
        sweep = SweepRun(driver, events, Recorder(path))
        if small.stopped_by is None:
            sweep.run(plan)
        timer.cancel()
    session = sweep.session
    if small.stopped_by is not None or sweep.stopped_by is not None or session is None:
        return None
    begins = [one.started_ns for one in session.points if one.started_ns is not None]
    ends = [one.ended_ns for one in session.points if one.ended_ns is not None]
    return Timed(devices, session, (max(ends) - min(begins)) / 1e9, time.monotonic() - begun)


def typical(state: PointState) -> float | None:
    """The median of a point's samples that count, in ms."""
    if state.status != "done" or state.measurement is None:
        return None
    return median(one.ms for one in state.measurement.samples if one.rejected is None)


def ratios(session: Session) -> list[dict[str, float]]:
    """The runtime of each kernel over that of the fastest of ours, problem by problem."""
    found = []
    for group in session.plan.groups():
        taken = {point.kernel: typical(session.points[point.index]) for point in group}
        base = taken["flash3" if "flash3" in taken else "flash2"]
        found.append({name: ms / base for name, ms in taken.items() if ms and base and ms != base})
    return found


def differences(one: Session, other: Session) -> list[tuple[float, int, str, float, float]]:
    """How far the ratios of two sessions are apart in %, with N, kernel and both ratios."""
    found = []
    for problem, mine, theirs in zip(one.plan.problems, ratios(one), ratios(other), strict=True):
        for name in mine.keys() & theirs.keys():
            apart = (theirs[name] / mine[name] - 1) * 100
            found.append((apart, problem.seqlen_k, name, mine[name], theirs[name]))
    return sorted(found, key=lambda each: (each[1], each[2]))


def compare(one: Timed, other: Timed) -> None:
    """Print the speed-up and how far the ratios are apart."""
    busy = other.busy_s
    say(
        f"{other.devices} devices: {one.sweep_s:.2f} s / {other.sweep_s:.2f} s ="
        f" {one.sweep_s / other.sweep_s:.2f}x;"
        f" with the start {one.whole_s:.2f} s / {other.whole_s:.2f} s = {one.whole_s / other.whole_s:.2f}x"
    )
    say(
        f"  at problems: {sum(one.busy_s):.2f} s on one; {sum(busy):.2f} s on all,"
        f" least {min(busy):.2f} s, most {max(busy):.2f} s"
    )


def agree(title: str, one: Timed, other: Timed, *, each: bool = False) -> None:
    """Print how far the ratios of two sessions are apart."""
    found = differences(one.session, other.session)
    if not found:
        say(f"{title}: no ratios")
        return
    for apart, seqlen, name, mine, theirs in found if each else ():
        say(f"  N {seqlen:>6}  {name:<12} {mine:8.4f}  {theirs:8.4f}  {apart:+6.2f}%")
    sizes = [abs(apart) for apart, *_ in found]
    beyond = sum(size > 1 for size in sizes)
    worst = max(found, key=lambda each_one: abs(each_one[0]))
    say(
        f"{title}: {len(found)} ratios, median {median(sizes):.2f}%, largest {worst[0]:+.2f}%"
        f" ({worst[2]}, N {worst[1]}), {beyond} beyond 1%"
    )


def host(backend: Backend, gpus: int, folder: Path) -> AbstractContextManager[RunningHost]:
    """A host that lends so many devices."""
    if backend == "cpu":
        return host_of(folder, *(f"CPU {number}" for number in range(gpus)))
    numbers = ",".join(map(str, range(gpus)))
    return running_host(folder, "--backend", "cuda", "--gpus", numbers)


def timed_in_turns(
    asked: argparse.Namespace, plan: Plan, folder: Path, until: float
) -> tuple[list[Timed], list[Timed]]:
    """The sweep on one device and split over all, by turns for as long as there is time."""
    folder.mkdir(parents=True, exist_ok=True)
    alone: list[Timed] = []
    split: list[Timed] = []
    with host(asked.backend, asked.gpus, folder) as serving:
        for turn in range(asked.rounds):
            for devices, kept in ((1, alone), (asked.gpus, split)):
                begun = time.monotonic()
                needed = min((one.whole_s for one in kept), default=0.0)
                if begun + needed > until:
                    continue
                path = folder / f"split-{devices}-{turn + 1}.flashscope"
                path.unlink(missing_ok=True)
                timed = measured(serving, devices, plan, path, until)
                if timed is None:
                    continue
                kept.append(timed)
                saved = f", saved as {path}" if asked.out else ""
                say(
                    f"{devices} device(s), run {turn + 1}: {timed.sweep_s:.2f} s,"
                    f" with the start {timed.whole_s:.2f} s{saved}"
                )
    return alone, split


def main(words: list[str]) -> int:
    """Measure in turns for as long as there is time, and print the table; 1: there was too little."""
    parser = argparse.ArgumentParser(description="A sweep on one device and split over all.")
    parser.add_argument("--gpus", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--rounds", type=int, default=4, help="at most")
    parser.add_argument("--problems", type=int, default=0, help="0: 6 a device, 24 at least")
    parser.add_argument("--out", type=Path, help="a folder that keeps the sessions")
    parser.add_argument("--backend", choices=("cuda", "cpu"), default="cuda")
    asked = parser.parse_args(words)
    until = time.monotonic() + asked.seconds
    plan = plan_of(asked.backend, asked.problems or max(24, 6 * asked.gpus))
    with nullcontext(asked.out) if asked.out else TemporaryDirectory(prefix="flashscope-") as folder:
        alone, split = timed_in_turns(asked, plan, Path(folder), until)
    if not alone or not split:
        say("There was too little time for both; give more with --seconds, or fewer --problems.")
        return 1
    say(f"{len(plan.problems)} problems, kernels {', '.join(plan.kernels)}")
    agree("last split against last single", alone[-1], split[-1], each=True)
    for one, other in zip(alone, split, strict=False):
        compare(one, other)
        agree("  split against single", one, other)
    for one, other in pairwise(alone):
        agree("single against single", one, other)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
