"""The CPU backend's instruments."""

import time
import tracemalloc
from collections.abc import Callable, Collection, Iterable
from functools import partial
from statistics import median
from typing import Any, ClassVar

import numpy as np
import psutil

from flashscope.kernels.cpu.allowance import free_memory, memory_groups
from flashscope.profiles.wire.ceilings import COPY, CORE_CACHE, EXPONENTIALS, LAST_CACHE, matmul_key
from flashscope.profiles.wire.measurement import Sample
from flashscope.profiles.worker.instruments.bench import CeilingLoad, KeptSettings, MemoryPeak, Reader, Run
from flashscope.profiles.worker.instruments.counter_samples import CounterRuns, CountersError
from flashscope.profiles.worker.instruments.cpu_caches import cache_sizes
from flashscope.profiles.worker.instruments.energy import Counter
from flashscope.profiles.worker.instruments.rapl import cpu_counter

ASSUMED_CACHE_BYTES = 64 << 20  # where the system does not tell: larger than the last level of most CPUs
MATMULS = (128, 512)  # rows and columns
TRIES = 5  # of each size, before one is chosen
EXPONENTS = 1 << 15  # float32 at a time: they stay in a core's own cache, as a tile does
TIMES = 32
WITHIN = 4  # a cache has so many times what is copied in it, for it has other guests
LAST_LEVEL, CORE_LEVEL = 3, 2
LEAST_COPIED = 32 << 20  # bytes of a run, so that a clock sees it


class CpuBench:
    """perf_counter, psutil and tracemalloc."""

    timer = "perf_counter"
    memory_source = "tracemalloc"
    readers: ClassVar[dict[str, Reader]] = {}

    def __init__(self) -> None:
        self._caches = cache_sizes()
        self.cache_bytes = self._caches.get(LAST_LEVEL, ASSUMED_CACHE_BYTES)
        self.core_cache_bytes = self._caches.get(CORE_LEVEL)
        self._sweep = np.zeros(2 * self.cache_bytes, np.uint8)
        self.loads: dict[str, Callable[[], CeilingLoad]] = {
            COPY: self._copy,
            LAST_CACHE: partial(self._copy_within, LAST_LEVEL, "the last cache"),
            CORE_CACHE: partial(self._copy_within, CORE_LEVEL, "a core's own cache"),
            matmul_key("float32"): self._matmul,
            EXPONENTIALS: _exponentials,
        }

    def free_bytes(self) -> int:
        """RAM that can be had without swapping, nor past a container's limit."""
        return free_memory(psutil.virtual_memory().available, memory_groups())

    def time_ms(self, run: Run) -> float:
        """Run once; its duration in ms."""
        start = time.perf_counter_ns()
        run()
        return (time.perf_counter_ns() - start) / 1e6

    @property
    def settings(self) -> KeptSettings:
        """None beside those of the process."""
        return {}

    def wait(self) -> None:
        """A run is over when it returns."""

    def held(self, run: Run, answer: Callable[[], Iterable[Any]], ms: float) -> None:
        """There are no streams."""

    def sample(self, run: Run, *, cold: bool, after: Run | None = None) -> Sample:
        """Run once. Cold: a buffer twice the size of the cache is written first.

        No sample is rejected: nothing here tells when a CPU throttles, nor its clock.
        """
        if cold:
            self._sweep += 1
        ms = self.time_ms(run)
        taken = Sample(ms, t_ns=time.monotonic_ns())
        if after is not None:
            after()
        return taken

    def stretch(self, run: Run, runs: int) -> Sample:
        """So many runs on one clock; what one of them takes."""

        def all_of_them() -> None:
            for _ in range(runs):
                run()

        return Sample(self.time_ms(all_of_them) / runs, t_ns=time.monotonic_ns())

    def condition(self) -> None:
        """A CPU tells neither what slows it down nor, everywhere alike, how warm it is."""

    def others(self, ours: Collection[int]) -> None:
        """A CPU always runs other programs."""

    def is_exclusive(self) -> bool:
        """No CPU is."""
        return False

    def energy_counter(self) -> Counter:
        """That of the CPU's packages, where the system lets it be read.

        Raises:
            NoCounterError: It does not.
        """
        return cpu_counter()

    def counted(self, run: Run, *, cold: bool) -> CounterRuns:  # noqa: ARG002 - as every bench's
        """No counters are read on a CPU."""
        raise CountersError("hardware counters are read on an NVIDIA GPU alone")

    def _copy(self) -> CeilingLoad:
        """Half of the buffer into its other half: twice what the cache holds."""
        half = self._sweep.size // 2
        source, target = self._sweep[:half], self._sweep[half:]
        return CeilingLoad(
            lambda: np.copyto(target, source), 2 * half / 1e6, f"a copy of {half >> 20} MiB on one core"
        )

    def _copy_within(self, level: int, cache: str) -> CeilingLoad:
        """Copies within a cache.

        Raises:
            OSError: Its size is not known, so that nothing is known to stay in it.
        """
        if level not in self._caches:
            raise OSError(f"the system does not tell the size of {cache}")
        return copies_within(self._caches[level] // WITHIN, cache)

    def _matmul(self) -> CeilingLoad:
        """The product that goes fastest here and now.

        Where other programs want the cores a large one takes several times as long as it needs, for it loses
        its core, and its threads wait for each other; a short one is over before that.
        """
        loads = [_matmul(size) for size in MATMULS]
        return max(loads, key=lambda one: one.amount / median(self.time_ms(one.run) for _ in range(TRIES)))

    def peak(self, make: Run, run: Run) -> MemoryPeak:
        """Python's and NumPy's allocations, which tracemalloc sees both."""
        tracemalloc.start()
        try:
            make()
            tracemalloc.reset_peak()
            run()
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        return MemoryPeak(peak, None)

    def healthy(self) -> bool:
        """A fault that Python survived leaves nothing behind."""
        return True

    def rest(self) -> None:
        """Nothing is held."""

    def release(self) -> None:
        """Freed arrays have already gone back."""


def copies_within(nbytes: int, cache: str) -> CeilingLoad:
    """Copies of half of so many bytes into the other half, again and again: they stay in a cache."""
    half = nbytes // 2
    source, target = np.ones((2, half), np.uint8)
    times = max(1, LEAST_COPIED // nbytes)

    def run() -> None:
        for _ in range(times):
            np.copyto(target, source)

    return CeilingLoad(run, times * 2 * half / 1e6, f"copies of {half >> 10} KiB within {cache}, on one core")


def _matmul(size: int) -> CeilingLoad:
    """A product in float32, with BLAS as the kernels use it."""
    left, right = np.random.default_rng(0).standard_normal((2, size, size), np.float32)
    product = np.empty_like(left)
    what = f"NumPy's product of {size} × {size} matrices in float32"
    return CeilingLoad(lambda: np.matmul(left, right, out=product), 2 * size**3 / 1e9, what)


def _exponentials() -> CeilingLoad:
    """Exponentials of scores below their maximum, as in a softmax."""
    scores = np.linspace(-8, 0, EXPONENTS, dtype=np.float32)
    result = np.empty_like(scores)

    def run() -> None:
        for _ in range(TIMES):
            np.exp(scores, out=result)

    return CeilingLoad(run, TIMES * EXPONENTS / 1e6, f"NumPy's exp of {EXPONENTS} numbers in float32")
