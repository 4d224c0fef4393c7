"""flash3 beside FlashAttention-3 on this GPU: pytest -m benchmark -s fa3_bench.py.

Needs JAX and the wheel flash-attn3-jax (head dims up to 128). 16384 tokens and a width of 2048 in each
problem, bfloat16: Q, K and V are several times the L2 cache, so that every run starts cold. JAX takes no CUDA
events, so either kernel is timed as the difference between a chain of many runs and one of few; in
FlashAttention-3's each run's O is the next one's V. The two take turns. Prints TFLOP/s and the ratio; gates
on nothing.
"""

import time
from collections.abc import Callable
from functools import partial
from math import exp, log
from statistics import fmean, median
from typing import Any

import pytest

from kernels.launch import Launch, make_inputs, prepare
from kernels.problem import Problem
from kernels.registry import FLASH3
from tests.benchmarks.kernels_bench import label, problems

FEW, MANY, ROUNDS = 2, 22, 5


def chain_of_fa3(jax: Any, flash_mha: Any, problem: Problem, runs: int) -> Callable[[Any, Any, Any], Any]:
    """Compiled `runs` of FlashAttention-3 one after the other, on (batch, seqlen, heads, head_dim) arrays."""

    def attend(q: Any, k: Any, _: int, v: Any) -> Any:
        return flash_mha(q, k, v, is_causal=problem.causal)

    def chain(q: Any, k: Any, v: Any) -> Any:
        return jax.lax.fori_loop(0, runs, partial(attend, q, k), v)

    compiled: Callable[[Any, Any, Any], Any] = jax.jit(chain)
    return compiled


def seconds(work: Callable[[], Any]) -> float:
    """Wall time of work that waits for the GPU."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def of_one_run(many: float, few: float) -> float:
    """Seconds of one run, without what a chain costs however long it is."""
    return (many - few) / (MANY - FEW)


def flash3_chain(cupy: Any, launch: Launch, runs: int) -> None:
    """Run flash3 so many times and wait."""
    for _ in range(runs):
        launch.run()
    cupy.cuda.Device().synchronize()


def measure(problem: Problem) -> tuple[float, float]:
    """TFLOP/s of flash3 and of FlashAttention-3."""
    cupy, jax = pytest.importorskip("cupy"), pytest.importorskip("jax")
    flash_mha = pytest.importorskip("flash_attn3_jax").flash_mha
    launch = prepare(FLASH3, problem, make_inputs(problem, "cuda"), "cuda")
    shape = (problem.batch, problem.seqlen_q, problem.heads, problem.head_dim)
    keys = jax.random.split(jax.random.key(problem.seed), 3)
    arrays = [jax.random.normal(key, shape, jax.numpy.bfloat16) for key in keys]
    chains = {runs: chain_of_fa3(jax, flash_mha, problem, runs) for runs in (FEW, MANY)}
    for compiled in chains.values():
        compiled(*arrays).block_until_ready()
    ours, theirs = [], []
    for _ in range(ROUNDS):
        times = {runs: seconds(partial(flash3_chain, cupy, launch, runs)) for runs in (FEW, MANY)}
        ours.append(of_one_run(times[MANY], times[FEW]))
        times = {runs: seconds(lambda c=c: c(*arrays).block_until_ready()) for runs, c in chains.items()}  # type: ignore[misc]  # a default binds the chain
        theirs.append(of_one_run(times[MANY], times[FEW]))
    return problem.flops / median(ours) / 1e12, problem.flops / median(theirs) / 1e12


@pytest.mark.gpu
@pytest.mark.benchmark
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("ignore")
def test_rates_beside_flash_attention_3() -> None:
    ratios = []
    for problem in problems():
        ours, theirs = measure(problem)
        ratios.append(ours / theirs)
        print(f"{label(problem):<22}flash3 {ours:4.0f}  FA3 {theirs:4.0f}  x{ratios[-1]:4.2f}")  # noqa: T201 - the table
    mean = exp(fmean(map(log, ratios)))
    print(f"geometric mean x{mean:.3f}, worst x{min(ratios):.3f}")  # noqa: T201 - the table
