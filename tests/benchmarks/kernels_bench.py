"""The ladder beside PyTorch's FlashAttention-2 on this GPU: pytest -m benchmark -s kernels_bench.py.

16384 tokens and a width of 2048 in each problem, bfloat16. Cold: the L2 cache is overwritten before every
sample. Kernels take turns within a problem. Prints TFLOP/s and the ratio to PyTorch's; gates on nothing.
"""

from math import exp, log
from statistics import fmean, median

import pytest

from flashscope.kernels.catalogue.ladder import LADDER
from flashscope.kernels.catalogue.peers import TORCH_FLASH
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.launching.launch import make_inputs, prepare
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.plan.presets import preset_plan

HEAD_DIMS = (64, 128)
WARMUP, ROUNDS = 2, 9
PEER = TORCH_FLASH.name

Rates = dict[str, float]  # TFLOP/s by kernel


def problems() -> list[Problem]:
    """Those of the peers preset with heads that every peer takes."""
    return [p for p in preset_plan("peers", "cuda", Protocol()).problems if p.head_dim in HEAD_DIMS]


def label(problem: Problem) -> str:
    """What tells one of them from the others."""
    return f"d={problem.head_dim} {'causal' if problem.causal else 'full'} N={problem.seqlen_q}"


def measure(problem: Problem) -> Rates:
    """TFLOP/s of each kernel that can run the problem, from the median of its samples."""
    from flashscope.profiles.worker.instruments.bench_cuda import CudaBench  # noqa: PLC0415 - imports CuPy; collected on machines without it

    device, inputs = describe(), make_inputs(problem, "cuda")
    specs = [spec for spec in (TORCH_FLASH, *LADDER) if spec.unsupported(problem, device) is None]
    launches = {spec.name: prepare(spec, problem, inputs, "cuda") for spec in specs}
    bench = CudaBench(None)
    samples: dict[str, list[float]] = {name: [] for name in launches}
    for _ in range(WARMUP + ROUNDS):
        for name, launch in launches.items():
            samples[name].append(bench.sample(launch.run, cold=True).ms)
    return {name: problem.flops / median(times[WARMUP:]) / 1e9 for name, times in samples.items()}


def line(head: str, rates: Rates) -> str:
    """One row: each kernel's rate, and times PyTorch's where that ran."""
    peer = rates.get(PEER)
    cells = (
        f"{name} {rate:4.0f}" + (f" x{rate / peer:4.2f}" if peer else "") for name, rate in rates.items()
    )
    return f"{head:<22}" + "  ".join(cells)


@pytest.mark.gpu
@pytest.mark.benchmark
@pytest.mark.timeout(600)
def test_rates_beside_pytorch() -> None:
    table: list[Rates] = []
    for problem in problems():
        table.append(measure(problem))
        print(line(label(problem), table[-1]))  # noqa: T201 - the table is what this is for
    print(line("geometric mean", {name: _mean(table, name) for name in table[0]}))  # noqa: T201 - as above


def _mean(table: list[Rates], name: str) -> float:
    return exp(fmean(log(rates[name]) for rates in table))
