"""What busy GPUs beside it do to a GPU's figures: python -m tests.benchmarks.neighbour_bench [--seconds 60]

The first GPU is measured in rounds: all others idle, multiplying (flash3 in a loop), and copying (within
their memory, and to and from the host's). In each state: flash3 cold, as a sweep samples it, and back to
back; copies within memory and to and from the host's; clock, power, temperature. Prints medians, and the
ratio of a busy to the idle state of its round with its 95% interval; `--out FILE` has all rounds as JSON.
`--backend cpu`: in miniature.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from math import exp, log
from pathlib import Path
from statistics import fmean, median, stdev
from threading import Event, Thread, Timer
from typing import Any, NamedTuple

import msgspec

from flashscope.kernels.catalogue.ladder import FLASH2, FLASH3
from flashscope.kernels.cuda.cache import settle_cache
from flashscope.kernels.launching.launch import Launch, make_inputs, prepare
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.profiles.results.statistics.student import quantile
from flashscope.profiles.wire.ceilings import COPY
from flashscope.profiles.worker.ceilings import reach
from flashscope.profiles.worker.instruments.bench import Bench, CeilingLoad
from flashscope.profiles.worker.nvml import find_gpu, listed_gpus, open_nvml, power_instant

STATES = ("idle", "products", "copies")
SETTLE_S = 0.4  # after the neighbours have begun or ended
SAMPLES, LEAST_ROUNDS, LEVEL = 12, 5, 0.05
STRETCH_S = 0.6
HOST_BYTES = {"cuda": 256 << 20, "cpu": 1 << 20}
READ_S = 0.02  # between two readings
START_S = 45.0  # that a neighbour may take to compile
FOLDER = Path(__file__).parents[2]


Values = list[float | None]  # of each round; None: it could not be had
Found = dict[str, dict[str, Values]]  # by state and figure


class Figure(NamedTuple):
    """One figure of a state: what it is of, its unit, and whether others beside it may matter to a point."""

    key: str
    unit: str
    judged: bool


FIGURES = (
    Figure("cold", "ms", judged=True),
    Figure("back to back", "ms", judged=True),
    Figure("copy", "GB/s", judged=True),
    Figure("from host", "GB/s", judged=True),
    Figure("to host", "GB/s", judged=True),
    Figure("clock cold", "MHz", judged=False),
    Figure("clock back to back", "MHz", judged=False),
    Figure("rejected", "of 1", judged=False),
    Figure("power", "W", judged=False),
    Figure("temperature", "C", judged=False),
)


def problem_of(backend: Backend) -> Problem:
    """What is measured and what the neighbours multiply."""
    if backend == "cuda":
        return Problem(
            batch=2, seqlen_q=8192, seqlen_k=8192, heads=16, head_dim=128, dtype="bfloat16", causal=True
        )
    return Problem(seqlen_q=256, seqlen_k=256, heads=2, head_dim=32, causal=True)


def product_of(backend: Backend) -> Launch:
    """Attention on the current device."""
    problem = problem_of(backend)
    spec = FLASH3 if backend == "cuda" else FLASH2
    return prepare(spec, problem, make_inputs(problem, backend), backend)


def bench_of(backend: Backend, uuid: str | None) -> Bench:
    """The instruments of a worker."""
    settle_cache()
    from flashscope.profiles.worker.serve import make_bench  # noqa: PLC0415 - after the GPU was chosen

    return make_bench(Device(backend=backend, name="", memory_bytes=0, uuid=uuid))


def host_loads(backend: Backend) -> dict[str, CeilingLoad]:
    """Copies between a GPU's memory and the host's, pinned; none on a CPU."""
    if backend == "cpu":
        return {}
    import cupy  # noqa: PLC0415 - after the GPU was chosen
    from cupy.cuda import runtime  # noqa: PLC0415 - as above

    nbytes = HOST_BYTES[backend]
    there, here = cupy.cuda.Memory(nbytes), cupy.cuda.alloc_pinned_memory(nbytes)
    stream = cupy.cuda.get_current_stream()

    def copy(target: Any, source: Any, kind: int) -> None:
        runtime.memcpyAsync(target.ptr, source.ptr, nbytes, kind, stream.ptr)

    kinds = {
        "from host": (there, here, runtime.memcpyHostToDevice),
        "to host": (here, there, runtime.memcpyDeviceToHost),
    }
    return {
        name: CeilingLoad(partial(copy, *each), nbytes / 1e6, f"a copy {name}")
        for name, each in kinds.items()
    }


def be_neighbour(backend: Backend) -> None:
    """Do what stdin says, a state a line, until it is closed; each is told when it has begun."""
    state = ["idle"]
    heard = Event()

    def hear() -> None:
        for line in sys.stdin:
            state[0] = line.strip()
            heard.set()
        os._exit(0)  # also where a GPU hangs

    bench, product = bench_of(backend, None), product_of(backend)
    runs = {
        "products": [product.run],
        "copies": [bench.loads[COPY]().run, *(one.run for one in host_loads(backend).values())],
        "idle": [],
    }
    for run in runs["products"] + runs["copies"]:
        run()
    bench.wait()
    tell("ready")
    Thread(target=hear, daemon=True).start()
    while True:
        if heard.is_set():
            heard.clear()
            tell(state[0])
        if not (now := runs[state[0]]):
            heard.wait()
        for run in now * 8:
            run()
        bench.wait()


def tell(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)  # noqa: T201 - the table, and what a neighbour says


class Neighbours:
    """One process on each of the other devices."""

    def __init__(self, backend: Backend, uuids: list[str]) -> None:
        command = [sys.executable, "-m", "tests.benchmarks.neighbour_bench", "--neighbour"]
        self._all = [
            subprocess.Popen(
                [*command, "--backend", backend],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=FOLDER,
                env=os.environ | {"CUDA_VISIBLE_DEVICES": uuid},
            )
            for uuid in uuids
        ]

    def wait_for(self, word: str) -> None:
        """Return when all of them have said this."""
        for one in self._all:
            assert one.stdout is not None
            for line in one.stdout:
                if line.strip() == word:
                    break
            else:
                raise SystemExit(f"A neighbour ended before it said {word!r}, exit code {one.wait()}.")

    def become(self, state: str) -> None:
        """Have all of them idle, multiply or copy."""
        for one in self._all:
            assert one.stdin is not None
            one.stdin.write(state + "\n")
            one.stdin.flush()
        self.wait_for(state)
        time.sleep(SETTLE_S)

    def end(self) -> None:
        """End all of them."""
        for one in self._all:
            with one:
                one.kill()


@contextmanager
def neighbours(backend: Backend, uuids: list[str]) -> Iterator[Neighbours]:
    """Processes that are ready; none is left."""
    beside = Neighbours(backend, uuids)
    given_up = Timer(START_S, beside.end)
    given_up.start()
    try:
        beside.wait_for("ready")
        given_up.cancel()
        yield beside
    finally:
        given_up.cancel()
        beside.end()


class Readings(NamedTuple):
    """Power in W and temperature in degrees Celsius while something ran."""

    power: list[float]
    heat: list[float]


@contextmanager
def readings(uuid: str | None) -> Iterator[Readings]:
    """Read a GPU for as long as this lasts; nothing is read without one."""
    read, ended = Readings([], []), Event()

    def go_on() -> None:
        nvml = open_nvml()
        gpu = find_gpu(nvml, uuid)
        while not ended.wait(READ_S):
            with suppress(nvml.NVMLError):
                read.power.append(power_instant(nvml, gpu))
            with suppress(nvml.NVMLError):
                heat = nvml.nvmlDeviceGetTemperature(gpu, nvml.NVML_TEMPERATURE_GPU)
                read.heat.append(float(heat))

    thread = Thread(target=go_on if uuid else ended.wait, daemon=True)
    thread.start()
    try:
        yield read
    finally:
        ended.set()
        thread.join()


class Measured:
    """The device that is measured.

    Attributes:
        found: For each state and figure the value of each round.
    """

    def __init__(self, backend: Backend, uuid: str | None) -> None:
        self._uuid = uuid
        self._bench = bench_of(backend, uuid)
        self._launch = product_of(backend)
        self._loads = {"copy": self._bench.loads[COPY](), **host_loads(backend)}
        for _ in range(3):
            self._bench.time_ms(self._launch.run)
        once = self._bench.stretch(self._launch.run, 5).ms
        self._runs = max(3, round(STRETCH_S * 1e3 / once)) if backend == "cuda" else 3
        self.found: Found = {state: {one.key: [] for one in FIGURES} for state in STATES}

    def round(self, state: str) -> None:
        """One value of each figure that there is."""
        kept = self.found[state]

        def keep(key: str, values: Values) -> None:
            known = [one for one in values if one is not None]
            kept[key].append(median(known) if known else None)

        samples = [self._bench.sample(self._launch.run, cold=True) for _ in range(SAMPLES)]
        with readings(self._uuid) as read:
            stretch = self._bench.stretch(self._launch.run, self._runs)
        keep("cold", [one.ms for one in samples])
        keep("rejected", [fmean(one.rejected is not None for one in samples)])
        keep("clock cold", [one.sm_clock_mhz for one in samples])
        keep("back to back", [stretch.ms])
        keep("clock back to back", [stretch.sm_clock_mhz])
        keep("power", [*read.power[len(read.power) // 2 :]])
        keep("temperature", [*read.heat[-1:]])
        for key, load in self._loads.items():
            keep(key, [self._rate(load)])

    def _rate(self, load: CeilingLoad) -> float | None:
        """What a load reaches; None: every run was rejected."""
        try:
            return reach(self._bench, load).figure.value
        except RuntimeError:
            return None


class Change(NamedTuple):
    """A figure beside busy GPUs over that beside idle ones: the mean ratio and its interval."""

    ratio: float
    low: float
    high: float

    @classmethod
    def of(cls, idle: Values, busy: Values) -> "Change | None":
        """By the ratios of the rounds; None: there are too few."""
        logs = [log(b / i) for i, b in zip(idle, busy, strict=False) if i and b]
        if len(logs) < 2:
            return None
        reach_of = quantile(LEVEL, len(logs) - 1) * stdev(logs) / len(logs) ** 0.5
        mean = fmean(logs)
        return cls(exp(mean), exp(mean - reach_of), exp(mean + reach_of))


def known(values: Values) -> list[float]:
    """Those that could be had."""
    return [one for one in values if one is not None]


def table(found: Found, busy: int) -> None:
    """Print medians, spreads, ratios and what they mean."""
    rounds = len(found["copies"]["cold"])
    tell(f"{rounds} rounds, {busy} GPUs beside it; [least, most] of the idle rounds; ratio busy / idle")
    said = []
    for figure in FIGURES:
        idle = known(found["idle"][figure.key])
        if not idle:
            continue
        words = f"{figure.key:<20}{median(idle):>9.4g} [{min(idle):.4g}, {max(idle):.4g}] {figure.unit:<5}"
        for state in STATES[1:]:
            beside = known(found[state][figure.key])
            if not beside:
                continue
            words += f"  {state} {median(beside):.4g}"
            change = Change.of(found["idle"][figure.key], found[state][figure.key])
            if change is None:
                continue
            words += f", x{change.ratio:.4f} [{change.low:.4f}, {change.high:.4f}]"
            if figure.judged and not change.low <= 1 <= change.high:
                size = (change.ratio - 1) * 100
                said.append(f"{figure.key} {size:+.2f}% beside {state}")
        tell(words)
    if rounds < LEAST_ROUNDS:
        tell(f"{rounds} rounds are too few to tell; give more with --seconds.")
        return
    told = "; ".join(said) or "no figure of a point or a copy changes"
    tell(f"Busy GPUs of the same host: {told} (95% intervals that leave out 1).")


def measure(backend: Backend, gpus: int, rounds: int, seconds: float, out: Path | None) -> None:
    """So many rounds, or until the time is over, every other one backwards; each goes to the file at once."""
    until = time.monotonic() + seconds
    every: list[str] = [one.uuid for one in listed_gpus()] if backend == "cuda" else [""] * (gpus or 2)
    every = every[: gpus or None]
    if backend == "cuda":
        os.environ["CUDA_VISIBLE_DEVICES"] = every[0]  # before CuPy is imported
    with neighbours(backend, every[1:]) as beside:
        measured = Measured(backend, every[0] or None)
        number, longest = 0, 0.0
        while (begun := time.monotonic()) + longest < until and (not rounds or number < rounds):
            for state in STATES if number % 2 == 0 else STATES[::-1]:
                beside.become(state)
                measured.round(state)
            longest, number = max(longest, time.monotonic() - begun), number + 1
            if out is not None:
                out.write_bytes(msgspec.json.encode(measured.found))
        beside.become("idle")
    table(measured.found, len(every) - 1)


def main(words: list[str]) -> None:
    """Measure, or be a neighbour."""
    parser = argparse.ArgumentParser(description="A GPU beside busy ones.")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--gpus", type=int, default=0, help="0: all")
    parser.add_argument("--rounds", type=int, default=0, help="0: as many as there is time for")
    parser.add_argument("--backend", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--out", type=Path, help="a JSON file of all rounds")
    parser.add_argument("--neighbour", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args(words)
    if asked.neighbour:
        be_neighbour(asked.backend)
    if asked.out is not None:
        asked.out.parent.mkdir(parents=True, exist_ok=True)
    measure(asked.backend, asked.gpus, asked.rounds, asked.seconds, asked.out)


if __name__ == "__main__":
    main(sys.argv[1:])
