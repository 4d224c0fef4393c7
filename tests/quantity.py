"""A quantity that the program does not have: one entry, and a reader on the CPU bench.

A worker that is given this module's KERNELS imports it, and so has the reader.
"""

import time

from kernels.registry import KERNELS
from profiles.results.quantity import Quantity
from profiles.wire.measurement import Figure
from profiles.worker.bench import Run
from profiles.worker.bench_cpu import CpuBench

__all__ = ["KERNELS", "PROCESSOR_TIME"]

PROCESSOR_TIME = Quantity(
    "processor_ms", "Processor time", "time", "What all threads of one run take together."
)


def read(run: Run) -> Figure:
    begun = time.process_time_ns()
    run()
    return Figure(value=(time.process_time_ns() - begun) / 1e6, source="process_time")


CpuBench.readers[PROCESSOR_TIME.key] = read
