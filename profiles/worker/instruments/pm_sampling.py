"""The device's hardware counters, sampled while kernels run. Imports CuPy and CUPTI: child processes only.

Sources: CUPTI's PM sampling (docs.nvidia.com/cupti-python), and for the permission NVIDIA's page on
ERR_NVGPUCTRPERM.
"""

import ctypes
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import cupy
from cupy.cuda import runtime

from flashscope.installation import install_command
from flashscope.profiles.worker.instruments.bench import Run
from flashscope.profiles.worker.instruments.cache_fill import cache_fill
from flashscope.profiles.worker.instruments.counter_samples import (
    CounterRuns,
    CounterSample,
    CountersError,
    CounterSpan,
    Counts,
    Window,
)
from flashscope.profiles.worker.instruments.counting import MARGIN_NS
from flashscope.profiles.worker.instruments.sm_clock import SmClock

METRICS = ("dram__bytes_read.sum", "dram__bytes_write.sum", "lts__t_bytes.sum")
"""Bytes read from DRAM, written to DRAM, through L2: one pass of the counters, in the order of Counts."""
INTERVAL_NS = 10_000
MOST_SAMPLES = 2000  # of one run: longer ones are sampled less often
RUNS = 5
SPARE = 1000  # samples more than there should be
GAP_S = 0.0004  # before a run and after it, without anything on the device
NO_PERMISSION = (
    "this user may not read the GPU's counters; run as root, or give all users the permission: "
    "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/flashscope.conf, "
    "then reboot"
)
NOT_INSTALLED = f"cupti-python is not installed: {install_command('counters')}"


class PmSampling:
    """The counters of the current device: taken when they are first read, and held until `close`."""

    def __init__(self, sm_clock: SmClock, l2_bytes: int) -> None:
        self._sm_clock, self._l2_bytes = sm_clock, l2_bytes
        self._collector: Any = None
        self._interval_ns = 0

    def sample(self, run: Run, ms: float, *, cold: bool, enqueue: Callable[[Run], None]) -> CounterRuns:
        """Run some times, each alone between two gaps.

        Args:
            run: One run.
            ms: How long it takes, about.
            cold: Whether the L2 cache is filled with other data before each and after the last; else an
                unrecorded run comes before each.
            enqueue: Enqueues a run without a gap in it.

        Returns:
            The device's samples, and where the runs are among them.

        Raises:
            CountersError: Counters cannot be read here.
        """
        collector = self._configured(_interval_ns(ms))
        before = cache_fill(self._l2_bytes) if cold else run
        begun = time.monotonic()
        collector.start()
        try:
            pairs = [(self._stamped(before, enqueue), self._stamped(run, enqueue)) for _ in range(RUNS)]
            last = self._stamped(before, enqueue) if cold else None
        finally:
            collector.stop()
        lasted_ns = (time.monotonic() - begun) * 1e9
        data = collector.decode(max_samples=round(lasted_ns / self._interval_ns) + SPARE)
        return _samples(data), _windows(pairs, last)

    def close(self) -> None:
        """Leave the counters to others."""
        if self._collector is not None:
            self._collector.disable()
        self._collector, self._interval_ns = None, 0

    def _configured(self, interval_ns: int) -> Any:
        """The collector, for samples of that length; making one takes 0.4 s.

        One that has run is never given another interval: CUPTI 13.4 ends the process then.
        """
        if interval_ns != self._interval_ns:
            self.close()
            self._collector = _enabled()
            self._collector.configure(metrics=list(METRICS), sampling_interval=interval_ns)
            self._interval_ns = interval_ns
        return self._collector

    def _stamped(self, run: Run, enqueue: Callable[[Run], None]) -> CounterSpan:
        """Run, then rest; when it began and ended."""

        def between() -> None:
            self._sm_clock.start()
            run()
            self._sm_clock.end()

        enqueue(between)
        cupy.cuda.get_current_stream().synchronize()
        time.sleep(GAP_S)
        return self._sm_clock.times_ns()


def _windows(pairs: Sequence[tuple[CounterSpan, CounterSpan]], last: CounterSpan | None) -> list[Window]:
    """Each run with what ran before it and what after it, where that says something of it."""
    after = [None if last is None else before for before, _ in pairs[1:]] + [last]
    gap = round(GAP_S * 1e9) - MARGIN_NS
    return [
        Window(start, end, end + gap, before, then)
        for (before, (start, end)), then in zip(pairs, after, strict=True)
    ]


def _interval_ns(ms: float) -> int:
    """The shortest interval, doubled until a run of so many ms has not too many samples."""
    interval = INTERVAL_NS
    while ms * 1e6 > MOST_SAMPLES * interval:
        interval *= 2
    return interval


def _enabled() -> Any:
    """A collector of the current device.

    Raises:
        CountersError: Counters cannot be read here.
    """
    collector = _module().Collector(device_index=runtime.getDevice())
    try:
        collector.enable()
    except PermissionError:
        raise CountersError(NO_PERMISSION) from None
    except RuntimeError as error:
        raise CountersError(f"another program may be reading the GPU's counters: {error}") from error
    return collector


@cache
def _module() -> Any:
    """cupti.pm_sampling, with the libraries that it loads by name.

    Raises:
        CountersError: It is not installed, or does not load.
    """
    try:
        for library in _libraries():
            ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
        return import_module("cupti.pm_sampling")
    except ModuleNotFoundError:
        raise CountersError(NOT_INSTALLED) from None
    except (ImportError, OSError, RuntimeError) as error:
        raise CountersError(f"CUPTI does not load: {error}") from error


def _libraries() -> Iterator[Path]:
    """Those of the wheel nvidia-cuda-cupti, which no loader looks for where the wheel puts them."""
    nvidia = find_spec("nvidia")
    for folder in (nvidia.submodule_search_locations or ()) if nvidia else ():
        home = Path(folder) / "cu13" / "lib"
        found = [home / name for name in ("libnvperf_host.so", "libnvperf_target.so", "libcupti.so.13")]
        if all(path.exists() for path in found):
            yield from found
            return


def _samples(data: Any) -> list[CounterSample]:
    return [
        CounterSample(one.start_timestamp, one.end_timestamp, Counts(*one.metric_values))
        for one in data
        if one.start_timestamp  # the first has none
    ]
