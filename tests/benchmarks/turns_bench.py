"""Two identical kernels in turns, over the peers preset: pytest -m benchmark -s turns_bench.py.

flash3 against itself, each with outputs of its own, in turns with flash2, first always in the same order and
then as a sweep draws it: what the place in a round does to a figure. Prints the second over the first of the
two in each cell; gates on nothing.
"""

from collections.abc import Callable, Iterable
from math import exp, log
from statistics import fmean, median

import pytest

from flashscope.kernels.catalogue.ladder import FLASH2, FLASH3
from flashscope.kernels.launching.launch import Launch, make_inputs, prepare
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.plan.presets import preset_plan
from flashscope.profiles.worker.turns import take_turns
from tests.benchmarks.kernels_bench import label

WARMUP, ROUNDS = 2, 30
FIRST, SECOND = 0, 1
NOTABLE = 0.002  # of a ratio from 1

Samples = list[list[float]]  # in ms, by member
Turns = Callable[[Samples, Callable[[int], None]], None]


def in_one_order(samples: Samples, turn: Callable[[int], None]) -> None:
    """A B C, A B C, ..."""
    for _ in range(ROUNDS):
        for member in range(len(samples)):
            turn(member)


def as_drawn(samples: Samples, turn: Callable[[int], None]) -> None:
    """As the points of a sweep."""
    members = range(len(samples))
    take_turns(members, lambda one: len(samples[one]) >= ROUNDS, lambda one, _: turn(one), seed=0)


def ratio(launches: list[Launch], turns: Turns) -> float:
    """The second of the two identical kernels over the first, by the medians of their samples."""
    from flashscope.profiles.worker.instruments.bench_cuda import CudaBench  # noqa: PLC0415 - imports CuPy; collected on machines without it

    bench = CudaBench(None)
    samples: Samples = [[] for _ in launches]
    for launch in launches * WARMUP:
        bench.sample(launch.run, cold=True)
    turns(samples, lambda one: samples[one].append(bench.sample(launches[one].run, cold=True).ms))
    return median(samples[SECOND]) / median(samples[FIRST])


def cell(problem: Problem) -> tuple[float, float]:
    """Both ratios of a problem: in one order, and as drawn."""
    inputs = make_inputs(problem, "cuda")
    launches = [prepare(spec, problem, inputs, "cuda") for spec in (FLASH3, FLASH3, FLASH2)]
    return ratio(launches, in_one_order), ratio(launches, as_drawn)


def summary(title: str, ratios: Iterable[float]) -> str:
    """Who won how often, and by how much."""
    found = list(ratios)
    faster = sum(one < 1 for one in found)
    notable = sum(abs(one - 1) > NOTABLE for one in found)
    mean = exp(fmean(map(log, found)))
    return (
        f"{title}: the second won {faster} of {len(found)}, geometric mean {mean:.4f},"
        f" {min(found):.4f} to {max(found):.4f}, {notable} beyond {NOTABLE:.1%}"
    )


@pytest.mark.gpu
@pytest.mark.benchmark
@pytest.mark.timeout(600)
def test_identical_kernels_in_turns() -> None:
    table = []
    for problem in preset_plan("peers", "cuda", Protocol()).problems:
        table.append(cell(problem))
        fixed, drawn = table[-1]
        print(f"{label(problem):<22}one order {fixed:.4f}  drawn {drawn:.4f}")  # noqa: T201 - the table
    print(summary("one order", (fixed for fixed, _ in table)))  # noqa: T201 - the table
    print(summary("drawn", (drawn for _, drawn in table)))  # noqa: T201 - the table
