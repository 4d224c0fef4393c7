"""Medians beside nvbench's: python -m tests.benchmarks.nvbench_bench [KERNELS [N,N ...]].

Needs the packages cuda-bench and cuda-bindings. In each state nvbench measures between two halves of our own
samples; both flush the L2 cache before each run. Prints both medians in ms, in cycles of the SM clock that
each side read itself, and their ratios: of two runs at different clocks only the cycles can be compared.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import cupy
from cuda import bench as nvbench  # whoever runs this brings it
from cuda.bench.results import BenchmarkResult

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.launching.launch import make_inputs, prepare
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.wire.measurement import Sample
from flashscope.profiles.worker.instruments.bench_cuda import CudaBench

KERNELS = "standard,flash1,flash2,flash3,torch-cudnn"
SEQLENS = "4096,8192"
HALF = 50  # samples of ours before nvbench's, and as many after


def main(kernels: str = KERNELS, seqlens: str = SEQLENS) -> None:
    """Measure every kernel at every N, here and by nvbench."""
    bench, ours = CudaBench(None), {}

    def measure(state: Any) -> None:
        kernel, seqlen = state.get_string("kernel"), state.get_int64("N")
        run = _run(kernel, seqlen)
        for _ in range(5):
            bench.time_ms(run)
        first = _samples(bench, run)
        state.exec(lambda launch: _on(launch, run), batched=False)
        ours[kernel, seqlen] = [*first, *_samples(bench, run)]

    made = nvbench.register(measure)
    made.add_string_axis("kernel", kernels.split(","))
    made.add_int64_axis("N", [int(seqlen) for seqlen in seqlens.split(",")])
    with TemporaryDirectory() as folder:
        file = Path(folder) / "nvbench.json"
        nvbench.run_all_benchmarks(["nvbench", "--jsonbin", os.fspath(file), "--quiet"])
        for state in next(iter(BenchmarkResult.from_json(file).values())):
            _tell(state, ours[state.point["kernel"], int(state.point["N"])])


def _run(kernel: str, seqlen: int) -> Callable[[], None]:
    problem = Problem(seqlen_q=seqlen, seqlen_k=seqlen, heads=16, head_dim=128, dtype="bfloat16")
    return prepare(find_kernel(kernel), problem, make_inputs(problem, "cuda"), "cuda").run


def _samples(bench: CudaBench, run: Callable[[], None]) -> list[Sample]:
    taken = [bench.sample(run, cold=True) for _ in range(HALF)]
    return [sample for sample in taken if not sample.rejected]


def _on(launch: Any, run: Callable[[], None]) -> None:
    with cupy.cuda.ExternalStream(launch.get_stream().addressof()):
        run()


def _tell(state: Any, ours: list[Sample]) -> None:
    ms, theirs_ms = median(one.ms for one in ours), median(state.samples) * 1e3
    line = f"{state.point['kernel']:12} N={state.point['N']:>5} ms: ours {ms:.4f} nvbench {theirs_ms:.4f}"
    line += f" ratio {ms / theirs_ms:.4f}"
    clocks = [one.ms * one.sm_clock_mhz * 1e3 for one in ours if one.sm_clock_mhz]
    if clocks and state.frequencies:
        pairs = zip(state.samples, state.frequencies, strict=True)
        cycles = median(clocks), median(seconds * hertz for seconds, hertz in pairs)
        line += f"; cycles: ours {cycles[0]:.0f} nvbench {cycles[1]:.0f} ratio {cycles[0] / cycles[1]:.4f}"
    sys.stdout.write(f"{line}; {len(ours)} and {len(state.samples)} samples\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
