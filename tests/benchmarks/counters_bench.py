"""Counters in process beside ncu: python -m tests.benchmarks.counters_bench [KERNELS [N,N ...]].

Prints for each kernel and N what a run moves by PM sampling and by ncu, their ratio, and what counting takes.
"""

import sys
import time

from kernels.launch import make_inputs, prepare
from kernels.problem import Problem
from kernels.registry import find_kernel
from profiles.engine.ncu import NcuError, find_ncu, ncu_bytes
from profiles.worker.bench_cuda import CudaBench
from profiles.worker.counting import KEYS, count

KERNELS = "standard,flash1,flash2,flash3,torch-cudnn"
SEQLENS = "4096,8192"


def main(kernels: str = KERNELS, seqlens: str = SEQLENS) -> None:
    """Count every kernel at every N, here and by ncu."""
    bench, ncu = CudaBench(None), find_ncu()
    for seqlen in map(int, seqlens.split(",")):
        problem = Problem(seqlen_q=seqlen, seqlen_k=seqlen, heads=16, head_dim=128, dtype="bfloat16")
        for kernel in kernels.split(","):
            launch = prepare(find_kernel(kernel), problem, make_inputs(problem, "cuda"), "cuda")
            bench.time_ms(launch.run)
            begun = time.perf_counter()
            counted = count(bench, launch.run, cold=True)
            took = time.perf_counter() - begun
            told(f"{kernel} N={seqlen}: {counted.missing or f'counted in {took:.2f} s'}")
            try:
                other = ncu_bytes(ncu, kernel, problem) if ncu else {}
            except NcuError as error:
                other = {}
                told(f"  {error}")
            for key in KEYS:
                figure, by_ncu = counted.figures[key], other.get(key)
                if figure.value is not None:
                    ratio = f"{figure.value / by_ncu:.4f}" if by_ncu else "-"
                    spread = f"{figure.low:.0f}..{figure.high:.0f}"
                    told(f"  {key:16} {figure.value:14.0f} ({spread}) ncu {by_ncu} ratio {ratio}")
            if counted.traffic is not None:
                curve = counted.traffic
                told(f"  {len(curve.bins)} bins of {curve.bin_ns:.0f} ns, run {curve.run_ns / 1e3:.1f} us")


def told(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
