"""The CUDA backend's instruments. Imports CuPy: child processes only."""

import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from statistics import quantiles
from typing import Any

import cupy
from cupy.cuda import runtime
from msgspec.structs import replace

from flashscope.kernels.workload.problem import DTYPES
from flashscope.profiles.wire.ceilings import COPY, EXPONENTIALS, L2_READS, SHARED_READS, matmul_key
from flashscope.profiles.wire.measurement import Figure, Sample
from flashscope.profiles.worker.ceilings import reach
from flashscope.profiles.worker.instruments.bench import (
    CeilingLoad,
    HeldRun,
    KeptSettings,
    MemoryPeak,
    Reader,
    Run,
)
from flashscope.profiles.worker.instruments.conditions import Condition
from flashscope.profiles.worker.instruments.counter_samples import CounterRuns
from flashscope.profiles.worker.instruments.energy import Counter
from flashscope.profiles.worker.instruments.gate import LONGEST_S, Gate
from flashscope.profiles.worker.instruments.gpu_settings import gpu_settings
from flashscope.profiles.worker.instruments.gpu_state import GpuState
from flashscope.profiles.worker.instruments.held_run import held_run
from flashscope.profiles.worker.instruments.loads_cuda import copy_load, exponentials_load, matmul_load
from flashscope.profiles.worker.instruments.loads_memory_cuda import l2_load, shared_load
from flashscope.profiles.worker.instruments.pm_sampling import PmSampling
from flashscope.profiles.worker.instruments.set_aside import give_back_l2
from flashscope.profiles.worker.instruments.sm_clock import SmClock

ASSUMED_L2_BYTES = 64 << 20
HOST_RUNS, LEAST_HOST_RUNS = 9, 2  # of which the host's time is taken
HOST_S = 1.0  # after which no further one is begun
ATTEMPTS = 3  # at a sample for which the host was too slow
TOO_SLOW = f"the host took over {LONGEST_S * 1e3:g} ms to enqueue it, and the GPU waited meanwhile"
LEAST_COPY = 2  # times the buffer that flushes the L2 cache


class CudaBench:
    """CUDA events, the driver's own memory pool and NVML, on the current CUDA device."""

    timer = "CUDA events"
    memory_source = "cudaMemPoolAttrUsedMemHigh"

    def __init__(self, uuid: str | None) -> None:
        device = runtime.getDevice()
        self._pool = cupy.cuda.MemoryAsyncPool()
        cupy.cuda.set_allocator(self._pool.malloc)
        self._handle = runtime.deviceGetMemPool(device)
        self._start, self._end = cupy.cuda.Event(), cupy.cuda.Event()
        l2_bytes = runtime.getDeviceProperties(device)["l2CacheSize"] or ASSUMED_L2_BYTES
        self.cache_bytes: int | None = l2_bytes
        self.core_cache_bytes: int | None = None
        # From cudaMalloc: apart from the pool whose peak is measured.
        self._flush_buffer = cupy.cuda.Memory(2 * l2_bytes)
        self._sm_clock, self._gate = SmClock(), Gate()
        self._state = GpuState(uuid)
        give_back_l2(self._stream())
        self._counters = PmSampling(self._sm_clock, l2_bytes)
        self.readers: Mapping[str, Reader] = {
            "host_ms": self._host_ms,
            COPY: lambda _: reach(self, self._copy()).figure,
        }
        self.loads: Mapping[str, Callable[[], CeilingLoad]] = {
            COPY: self._copy,
            L2_READS: partial(l2_load, l2_bytes),
            SHARED_READS: shared_load,
            **{matmul_key(dtype): partial(matmul_load, dtype) for dtype in DTYPES},
            EXPONENTIALS: exponentials_load,
        }

    def free_bytes(self) -> int:
        """Device memory nobody holds, once the pool has given back what it caches."""
        self.release()
        return int(runtime.memGetInfo()[0])

    def time_ms(self, run: Run) -> float:
        """Run once between two events; their distance in ms."""
        self._start.record()
        run()
        self._end.record()
        return self._elapsed_ms()

    @property
    def settings(self) -> KeptSettings:
        """Allocators, streams, what is set aside of the L2 cache, clocks."""
        return gpu_settings(self._state)

    def wait(self) -> None:
        """Return when the whole device has nothing left to do."""
        runtime.deviceSynchronize()

    def held(self, run: Run, answer: Callable[[], Iterable[Any]], ms: float) -> HeldRun:
        """See `held_run`."""
        return held_run(self._gate, run, answer, ms)

    def sample(self, run: Run, *, cold: bool, after: Run | None = None) -> Sample:
        """Run once between two events, and these between two stamps of the multiprocessors' clock.

        The GPU is held until all of it is enqueued. What kernels set aside of the L2 cache is taken back
        before; cold, the cache is flushed then. Rejected: NVML names a slowdown, or the host was too slow
        every time.
        """
        give_back_l2(self._stream())
        for _ in range(ATTEMPTS):
            sample, in_time = self._held(run, cold=cold, after=after)
            if in_time:
                return sample
        return replace(sample, rejected=TOO_SLOW)

    def stretch(self, run: Run, runs: int) -> Sample:
        """Runs back to back between two events and two stamps; what one of them takes."""

        def all_of_them() -> None:
            for _ in range(runs):
                run()

        give_back_l2(self._stream())
        self._between(all_of_them)
        sample = self._read()
        return replace(sample, ms=sample.ms / runs)

    def counted(self, run: Run, *, cold: bool) -> CounterRuns:
        """CUPTI's PM sampling over a few runs, each of them enqueued while the GPU is held."""
        self.release()
        give_back_l2(self._stream())
        return self._counters.sample(run, self.time_ms(run), cold=cold, enqueue=self._enqueue)

    def _enqueue(self, run: Run) -> None:
        with self._gate.closed():
            run()

    def _held(self, run: Run, *, cold: bool, after: Run | None) -> tuple[Sample, bool]:
        """A sample, and whether the GPU was held until the host was through."""
        if cold:
            self._flush()
        with self._gate.closed():
            self._between(run)
            in_time = not self._start.done
            if after is not None:
                after()
        return self._read(), in_time

    def _between(self, run: Run) -> None:
        """Enqueue a run between both events and both stamps."""
        self._sm_clock.start()
        self._start.record()
        run()
        self._end.record()
        self._sm_clock.end()

    def _read(self) -> Sample:
        """Wait, and read what came between."""
        ms, mhz = self._elapsed_ms(), self._sm_clock.mhz()
        return Sample(ms, self._rejection(), t_ns=time.monotonic_ns(), sm_clock_mhz=mhz)

    def _elapsed_ms(self) -> float:
        self._end.synchronize()
        return float(cupy.cuda.get_elapsed_time(self._start, self._end))

    def _host_ms(self, run: Run) -> Figure:
        """What the host takes to enqueue a run on an idle GPU: median and quartiles."""
        taken: list[float] = []
        begun = time.monotonic()
        while len(taken) < LEAST_HOST_RUNS or (len(taken) < HOST_RUNS and time.monotonic() - begun < HOST_S):
            self._synchronize()
            start = time.perf_counter_ns()
            run()
            taken.append((time.perf_counter_ns() - start) / 1e6)
        self._synchronize()
        low, median, high = quantiles(taken, n=4, method="inclusive")
        return Figure(value=median, low=low, high=high, source="perf_counter around the launch")

    def _copy(self) -> CeilingLoad:
        self.release()
        return copy_load(LEAST_COPY * self._flush_buffer.size)

    def _rejection(self) -> str | None:
        """The slowdowns in force, as NVML names them."""
        words = self._state.slowdowns()
        return f"throttled: {', '.join(words)}" if words else None

    def condition(self) -> Condition:
        """What NVML says of the GPU right after a sample."""
        return self._state.condition()

    def others(self, ours: Collection[int]) -> Figure:
        """How many other processes have a CUDA context on the GPU, but for these."""
        return self._state.others(ours)

    def is_exclusive(self) -> bool:
        """Whether the GPU takes the CUDA context of one process at a time."""
        return self._state.is_exclusive()

    def energy_counter(self) -> Counter:
        """The energy counter of the GPU that NVML reads.

        Raises:
            NoCounterError: The GPU has none.
        """
        return self._state.energy_counter()

    def peak(self, make: Run, run: Run) -> MemoryPeak:
        """The pool's high-water mark; each allocation is rounded up to 512 bytes by CuPy."""
        self.release()
        before = self._state.memory_used()
        make()
        self._synchronize()
        runtime.memPoolSetAttribute(self._handle, runtime.cudaMemPoolAttrUsedMemHigh, 0)
        run()
        self._synchronize()
        peak = int(runtime.memPoolGetAttribute(self._handle, runtime.cudaMemPoolAttrUsedMemHigh))
        after = self._state.memory_used()
        return MemoryPeak(peak, None if before is None or after is None else after - before)

    def healthy(self) -> bool:
        """Whether the CUDA context still answers."""
        try:
            runtime.deviceSynchronize()
        except runtime.CUDARuntimeError:
            return False
        return True

    def rest(self) -> None:
        """Leave the counters to others, and the memory that CuPy and PyTorch cache."""
        self._counters.close()
        self.release()
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            torch.cuda.empty_cache()

    def release(self) -> None:
        """Give the pool's cached memory back to the device."""
        self._pool.free_all_blocks()

    def _flush(self) -> None:
        """Write a buffer twice the size of the L2 cache, in stream order before the next launch."""
        runtime.memsetAsync(self._flush_buffer.ptr, 0, self._flush_buffer.size, self._stream())

    def _stream(self) -> int:
        return int(cupy.cuda.get_current_stream().ptr)

    def _synchronize(self) -> None:
        cupy.cuda.get_current_stream().synchronize()
