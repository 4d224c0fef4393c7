"""Kernel times on this GPU, side by side: python -m tests.benchmarks.kernels_bench or pytest -m benchmark -s.

Cold: the L2 cache is overwritten before every sample. Kernels take turns within a problem. Prints a table and
gates on nothing.
"""

import sys
from statistics import quantiles
from typing import Any

import pytest

from kernels.launch import Launch, make_inputs, prepare
from kernels.problem import Dtype, Problem
from kernels.registry import LADDER

SEQLENS = (1024, 4096, 16384)
HEAD_DIMS = (64, 128)
TYPES: tuple[Dtype, ...] = ("float32", "bfloat16")
HEADS = 16
WARMUP = 3
ROUNDS = 15
SLOW_MS = 200.0  # beyond it three rounds say enough
FLUSH_BYTES = 256 * 2**20


def measure(problem: Problem) -> dict[str, list[float]]:
    """Milliseconds of each kernel on one problem, interleaved."""
    import cupy  # noqa: PLC0415 - collected on machines without it

    inputs = make_inputs(problem, "cuda")
    launches = {spec.name: prepare(spec, problem, inputs, "cuda") for spec in LADDER}
    flush = cupy.empty(FLUSH_BYTES, cupy.uint8)
    samples: dict[str, list[float]] = {name: [] for name in launches}
    for turn in range(WARMUP + ROUNDS):
        for name, launch in launches.items():
            if samples[name] and max(samples[name]) > SLOW_MS and len(samples[name]) >= WARMUP:
                continue
            elapsed = _time_once(cupy, launch, flush)
            if turn >= WARMUP:
                samples[name].append(elapsed)
    return samples


def _time_once(cupy: Any, launch: Launch, flush: Any) -> float:
    flush.fill(1)
    start, stop = cupy.cuda.Event(), cupy.cuda.Event()
    start.record()
    launch.run()
    stop.record()
    stop.synchronize()
    return float(cupy.cuda.get_elapsed_time(start, stop))


def report(problem: Problem) -> None:
    """Print one line a kernel: median and quartiles, TFLOP/s, and times faster than standard."""
    samples = measure(problem)
    medians = {}
    for name, times in samples.items():
        low, median, high = quantiles(times, n=4, method="inclusive")
        medians[name] = median
        ratio = medians["standard"] / median
        print(  # noqa: T201 - the table is what this is for
            f"N={problem.seqlen_q:<6} d={problem.head_dim:<4} {problem.dtype:<9} "
            f"{'causal' if problem.causal else 'full':<7}{name:<9} {median:9.3f} ms ({low:.3f}-{high:.3f}) "
            f"{problem.flops / median / 1e9:7.1f} TFLOP/s  x{ratio:.2f}"
        )


def table(*, causal: bool = False) -> None:
    """Print the whole table."""
    for dtype in TYPES:
        for head_dim in HEAD_DIMS:
            for seqlen in SEQLENS:
                report(
                    Problem(
                        heads=HEADS,
                        seqlen_q=seqlen,
                        seqlen_k=seqlen,
                        head_dim=head_dim,
                        dtype=dtype,
                        causal=causal,
                    )
                )


@pytest.mark.gpu
@pytest.mark.benchmark
def test_kernel_times() -> None:
    table()
    table(causal=True)


if __name__ == "__main__":
    table(causal="causal" in sys.argv[1:])
