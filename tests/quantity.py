"""A quantity that the program does not have: one entry, and a reader on the CPU bench.

A worker that is given this module's KERNELS imports it, and so has the reader.
"""

import time

from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.wire.measurement import Figure
from flashscope.profiles.worker.instruments.bench import Run
from flashscope.profiles.worker.instruments.bench_cpu import CpuBench

__all__ = ["KERNELS", "PROCESSOR_TIME"]

PROCESSOR_TIME = Quantity(
    "processor_ms", "Processor time", "time", "What all threads of one run take together.", group="Time"
)


def read(run: Run) -> Figure:
    begun = time.process_time_ns()
    run()
    return Figure(value=(time.process_time_ns() - begun) / 1e6, source="process_time")


CpuBench.readers[PROCESSOR_TIME.key] = read
