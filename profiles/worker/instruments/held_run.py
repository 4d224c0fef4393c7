"""One run while the GPU is held: on which stream does it work, and is it over when that is? Imports CuPy.

The stream that it is called on waits at the gate until the host has enqueued the run. What stands in its
answer before the gate opens was written by a stream that does not wait for ours; what is written after a copy
that ours makes behind the run, by one that ours does not wait for.
"""

import time
from collections.abc import Callable, Iterable
from threading import Event as Flag
from typing import Any, NamedTuple

import cupy
import numpy as np
from cupy.cuda import runtime

from flashscope.profiles.worker.instruments.bench import HeldRun, Run
from flashscope.profiles.worker.instruments.gate import LONGEST_S, Gate

PART = 1 << 20  # bytes at the end of an array that are looked at
TIMES = 4  # as long as a run, for which work that is not held is given time ...
LEAST_S, MOST_S = 2e-3, LONGEST_S / 2  # ... within these bounds


class PinnedCopies(NamedTuple):
    """Page-locked memory of the host, and a stream that waits for no other."""

    memory: Any
    stream: Any

    def copied(self, array: Any) -> Any:
        """What stands in an array of the device by now, uint8, whatever else is enqueued."""
        runtime.memcpyAsync(
            self.memory.ptr, array.data.ptr, array.nbytes, runtime.memcpyDeviceToHost, self.stream.ptr
        )
        self.stream.synchronize()
        return np.frombuffer(self.memory, np.uint8, array.nbytes).copy()


def held_run(gate: Gate, run: Run, answer: Callable[[], Iterable[Any]], ms: float) -> HeldRun:
    """Run once, held until the host has enqueued it and work on other streams had time to be done.

    Args:
        gate: Holds the current stream, though not for ever.
        run: Enqueues it; it has run before, so that nothing is compiled or loaded any more.
        answer: The arrays that it wrote, CuPy's, without gaps.
        ms: What a run takes.
    """
    copies = PinnedCopies(cupy.cuda.alloc_pinned_memory(PART), cupy.cuda.Stream(non_blocking=True))
    begun, ended, copied = (cupy.cuda.Event() for _ in range(3))
    runtime.deviceSynchronize()
    with gate.closed():
        begun.record()
        called_ns = time.perf_counter_ns()
        run()
        host_ms = (time.perf_counter_ns() - called_ns) / 1e6
        ended.record()
        parts = [_end_of(array) for array in answer()]
        at_end = [part.copy() for part in parts]
        copied.record()
        waited = begun.done
        Flag().wait(min(MOST_S, max(LEAST_S, TIMES * ms / 1e3)))
        early = [copies.copied(part) for part in parts]
    copied.synchronize()
    left_ms = _busy_ms()
    late = [_end_of(array).get() for array in answer()]
    taken = float(cupy.cuda.get_elapsed_time(begun, ended))
    return HeldRun(waited, (*early,), tuple(one.get() for one in at_end), (*late,), host_ms, taken, left_ms)


def _end_of(array: Any) -> Any:
    """The last bytes of an array without gaps, uint8, in its own memory."""
    return array.reshape(-1).view("uint8")[-PART:]


def _busy_ms() -> float:
    """For how long the device has something to do, beside what it takes to ask an idle one."""
    stamps = [time.perf_counter_ns()]
    for _ in range(2):
        runtime.deviceSynchronize()
        stamps.append(time.perf_counter_ns())
    first, idle = stamps[1] - stamps[0], stamps[2] - stamps[1]
    return max(0, first - idle) / 1e6
