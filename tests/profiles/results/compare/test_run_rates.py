"""How often verdicts on several runs err, and what they find: on runs of one build, drawn without overlap.

`cpu_runs.npz` holds the times (`ms`) of every round of 60 runs of one plan, each in processes of its own,
made one after the other by `sweep --runs 60` on two cores of an AMD EPYC: (runs, points, rounds) in running
order without the drift check, and the plan as JSON. `h100_runs.npz` holds the times and the clocks (`mhz`) of
40 such runs on one NVIDIA H100 of 2026-11-25: two checkouts in turns (`--beside`) whose machine code is the
same. `cpu_slowed_runs.npz` holds those (`ms`) of 40 runs in turns with 40 (`slowed_ms`) of a checkout whose
flash2 does every fifth block of query rows twice, on two such cores. `h100_slowed_runs.npz` holds 20 and 20
on an H100, with their clocks: in the slowed checkout each key tile of flash2's CUDA source waits for twelve
more dependent additions and products, which takes it 2.0% to 4.2% from N = 2k on. The runs of the H200 are
those of `test_statistics`, repeats within one process.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from msgspec import structs

from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.compare import Pair, compare
from flashscope.profiles.results.model.session import PointState, Session
from tests.matrix import chosen
from tests.profiles.results.compare import test_statistics as recorded

CPU = np.load(Path(__file__).with_name("cpu_runs.npz"))
H100 = np.load(Path(__file__).with_name("h100_runs.npz"))
SLOWED = np.load(Path(__file__).with_name("cpu_slowed_runs.npz"))
GPU_SLOWED = np.load(Path(__file__).with_name("h100_slowed_runs.npz"))
A_SIDE = 5
Run = Callable[[int], Session]
Sides = tuple[list[Session], list[Session]]


def plan_of(archive: Any) -> Plan:
    """The plan of recorded runs, without the drift check, which is not in them."""
    made = msgspec.json.decode(archive["plan"].tobytes(), type=Plan)
    return structs.replace(made, protocol=structs.replace(made.protocol, drift_check=False))


CPU_PLAN, H100_PLAN, SLOWED_PLAN, GPU_SLOWED_PLAN = map(plan_of, (CPU, H100, SLOWED, GPU_SLOWED))


@cache
def cpu_run(number: int) -> Session:
    ms = CPU["ms"][number].astype(float)
    return replace(recorded.session(CPU_PLAN, ms, np.zeros_like(ms)), id=f"{number:032x}")


@cache
def h100_run(number: int) -> Session:
    ms, mhz = (H100[name][number].astype(float) for name in ("ms", "mhz"))
    return replace(recorded.session(H100_PLAN, ms, mhz), id=f"{number:032x}")


@cache
def h200_run(number: int) -> Session:
    return replace(recorded.repeat(number), id=f"{number:032x}")


POOLS: dict[str, tuple[Run, int]] = {
    "cpu": (cpu_run, len(CPU["ms"])),
    "h100": (h100_run, len(H100["ms"])),
    "h200": (h200_run, len(recorded.MS)),
}


def drawn(pool: str, count: int) -> Iterator[Sides]:
    """So many times five runs and five others of a pool."""
    run, runs = POOLS[pool]
    random = np.random.default_rng(0)
    for _ in range(count):
        chosen = [run(int(number)) for number in random.permutation(runs)[: 2 * A_SIDE]]
        yield chosen[:A_SIDE], chosen[A_SIDE:]


def pairs(base: list[Session], other: list[Session]) -> tuple[Pair, ...]:
    return compare(base, [other]).contrasts[0].pairs


def slowed(runs: list[Session], index: int, factor: float) -> list[Session]:
    """Runs of which one point takes so many times as long."""
    return [replace(run, points=[_slowed(state, index, factor) for state in run.points]) for run in runs]


def _slowed(state: PointState, index: int, factor: float) -> PointState:
    if state.point.index != index or state.measurement is None:
        return state
    samples = tuple(structs.replace(sample, ms=sample.ms * factor) for sample in state.measurement.samples)
    return replace(state, measurement=structs.replace(state.measurement, samples=samples))


@pytest.mark.parametrize("count", [20, pytest.param(200, marks=pytest.mark.matrix)])
@chosen("pool", POOLS, {"h200"})
def test_of_200_comparisons_of_a_build_with_itself_at_most_two_have_a_false_verdict(
    pool: str, count: int
) -> None:
    assert sum(any(pair.better is not None for pair in pairs(*sides)) for sides in drawn(pool, count)) <= 2


@pytest.mark.matrix
@pytest.mark.parametrize("count", [10, pytest.param(100, marks=pytest.mark.matrix)])
@pytest.mark.parametrize("pool", POOLS)
def test_the_least_change_that_is_told_to_be_found_is_found_in_95_of_100(pool: str, count: int) -> None:
    found = 0
    for place, (base, other) in enumerate(drawn(pool, count)):
        told = pairs(base, other)
        index = place % len(told)
        least = told[index].detectable
        assert least is not None
        point = told[index].other.point.index
        found += pairs(base, slowed(other, point, 1 + least))[index].better is False
    assert found >= 0.95 * count


@pytest.mark.matrix  # a hundred comparisons
def test_two_percent_are_found_on_a_gpu_from_2k_on_in_95_of_100() -> None:
    points = recorded.PLAN.points()[: recorded.PLAN.cells]
    places = [place for place, point in enumerate(points) if point.problem.seqlen_q >= 2048]
    found = 0
    for number, (base, other) in enumerate(drawn("h200", 100)):
        index = places[number % len(places)]
        slower = pairs(base, slowed(other, index, 1.02))
        found += any(pair.better is False and pair.other.point.index == index for pair in slower)
    assert found >= 95


@pytest.mark.parametrize("count", [10, pytest.param(100, marks=pytest.mark.matrix)])
def test_on_an_h100_five_runs_against_five_find_two_percent_of_a_long_launch(count: int) -> None:
    long = [point for point in H100_PLAN.points() if point.problem.seqlen_q >= 2048]
    found = 0
    for place, (base, other) in enumerate(drawn("h100", count)):
        point = long[place % len(long)]
        index = H100_PLAN.points().index(point)
        found += pairs(base, slowed(other, point.index, 1.02))[index].better is False
    assert found >= 0.95 * count


@pytest.mark.parametrize("count", [10, pytest.param(100, marks=pytest.mark.matrix)])
def test_work_that_was_put_into_a_kernels_source_is_found_and_no_other_kernel_blamed(count: int) -> None:
    random = np.random.default_rng(0)
    blamed: list[str] = []
    for _ in range(count):
        chosen = random.permutation(len(SLOWED["ms"]))[:A_SIDE]
        base, other = ([_of_pool(name, int(one)) for one in chosen] for name in ("ms", "slowed_ms"))
        blamed += [pair.other.point.kernel for pair in pairs(base, other) if pair.better is False]
    lengths = len(SLOWED_PLAN.problems)
    assert blamed.count("flash2") >= 0.95 * count * lengths
    assert len(blamed) - blamed.count("flash2") <= 0.02 * count * lengths


@cache
def _of_pool(name: str, number: int) -> Session:
    ms = SLOWED[name][number].astype(float)
    return replace(
        recorded.session(SLOWED_PLAN, ms, np.zeros_like(ms)), id=f"{number:031x}{int(name == 'ms')}"
    )


@pytest.mark.parametrize("count", [10, pytest.param(100, marks=pytest.mark.matrix)])
def test_work_that_was_put_into_a_gpu_kernels_source_is_found_and_no_other_kernel_blamed(count: int) -> None:
    """Of five runs a side, at every length from 2k on; what is blamed wrongly, at every length."""
    random = np.random.default_rng(0)
    found = wrong = 0
    for _ in range(count):
        chosen = random.permutation(len(GPU_SLOWED["ms"]))[:A_SIDE]
        told = pairs(*([_of_gpu_pool(side, int(one)) for one in chosen] for side in ("", "slowed_")))
        worse = [pair.other.point for pair in told if pair.better is False]
        found += sum(one.kernel == "flash2" and one.problem.seqlen_q >= 2048 for one in worse)
        wrong += sum(one.kernel != "flash2" for one in worse) + sum(pair.better is True for pair in told)
    lengths = [one.seqlen_q for one in GPU_SLOWED_PLAN.problems]
    assert found >= 0.95 * count * sum(length >= 2048 for length in lengths)
    assert wrong <= 0.02 * count * len(lengths)


@cache
def _of_gpu_pool(side: str, number: int) -> Session:
    ms, mhz = (GPU_SLOWED[f"{side}{name}"][number].astype(float) for name in ("ms", "mhz"))
    return replace(recorded.session(GPU_SLOWED_PLAN, ms, mhz), id=f"{number:031x}{int(not side)}")
