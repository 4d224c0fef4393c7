"""Decoding from pages beside decoding from arrays on this GPU: pytest -m benchmark -s paged_bench.py.

bfloat16, causal. Cold: the L2 cache is overwritten before every sample. Layouts take turns within a problem,
each only after the oracle has agreed with it. Prints microseconds, the rate of K and V alone in GB/s, and the
ratio to arrays; gates on nothing.
"""

import math
from collections.abc import Iterable
from statistics import median
from typing import Any, NamedTuple

import pytest

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.launching.launch import make_inputs, prepare
from flashscope.kernels.oracle.verify import verify
from flashscope.kernels.workload.lengths import PAGE_SIZES
from flashscope.kernels.workload.problem import Problem

WARMUP, ROUNDS = 3, 15
KERNELS = ("flash3", "flash2")


class Cache(NamedTuple):
    """A batch of caches, of which `ragged` ones hold from an eighth of the keys to all."""

    batch: int
    seqlen_q: int
    seqlen_k: int
    ragged: bool = False
    head_dim: int = 128

    def problem(self, page_size: int | None) -> Problem:
        """With 32 query heads on 8 K/V heads."""
        steps = range(1, self.batch + 1)
        lengths = tuple(max(self.seqlen_k // 8, self.seqlen_k * step // self.batch - 5) for step in steps)
        return Problem(
            batch=self.batch,
            heads=32,
            kv_heads=8,
            seqlen_q=self.seqlen_q,
            seqlen_k=self.seqlen_k,
            head_dim=self.head_dim,
            dtype="bfloat16",
            causal=True,
            key_lengths=lengths if self.ragged else None,
            page_size=page_size,
        )


CACHES = (
    *(Cache(1, 1, 8192), Cache(1, 1, 131072), Cache(16, 1, 8192), Cache(64, 1, 4096)),
    *(Cache(16, 1, 8192, ragged=True), Cache(64, 1, 4096, ragged=True), Cache(16, 4, 8192, ragged=True)),
    *(Cache(16, 1, 8192, head_dim=64), Cache(8, 1, 16384, head_dim=256), Cache(4, 2048, 2048, ragged=True)),
)


def key_bytes(problem: Problem) -> int:
    """K and V of the keys that there are."""
    return 2 * sum(problem.key_counts) * problem.key_heads * problem.head_dim * problem.itemsize


def measure(name: str, problems: Iterable[Problem]) -> list[float]:
    """Microseconds of each problem, from the median of its samples."""
    from flashscope.profiles.worker.instruments.bench_cuda import CudaBench  # noqa: PLC0415 - imports CuPy; collected on machines without it

    launches: list[Any] = []
    for problem in problems:
        inputs = make_inputs(problem, "cuda")
        launches.append(prepare(find_kernel(name), problem, inputs, "cuda"))
        launches[-1].run()
        assert verify(problem, inputs, launches[-1].output, launches[-1].lse).passed, problem
    bench = CudaBench(None)
    samples: list[list[float]] = [[] for _ in launches]
    for _ in range(WARMUP + ROUNDS):
        for launch, times in zip(launches, samples, strict=True):
            times.append(bench.sample(launch.run, cold=True).ms)
    return [1000 * median(times[WARMUP:]) for times in samples]


@pytest.mark.benchmark
@pytest.mark.gpu
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", KERNELS)
def test_pages_beside_arrays(name: str) -> None:
    for cache in CACHES:
        problems = [cache.problem(page_size) for page_size in (None, *PAGE_SIZES)]
        if find_kernel(name).unsupported(problems[0], describe()) is not None:
            pytest.skip(f"{name} does not run here")
        times = measure(name, problems)
        cells = (
            f"{p.page_size or 'arrays'} {us:.1f} us {key_bytes(p) / us / 1e3:.0f} GB/s x{times[0] / us:.3f}"
            for p, us in zip(problems, times, strict=True)
        )
        print(name, *cache, " | ".join(cells))  # noqa: T201 - the table that -s shows
        assert all(map(math.isfinite, times))
