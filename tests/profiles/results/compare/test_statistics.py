"""How often verdicts err: on 21 recordings of one sweep by one build, and on a large sweep drawn from one.

`h200_repeats.npz` holds the times (`ms`) and clocks (`mhz`) of every round of 21 sessions, recorded one after
the other on one NVIDIA H200 on 2026-11-22 (driver 580.159.04): (sessions, points, rounds) in running order,
and their plan as JSON. Four kernels at N = 1k, 4k and 8k, 20 rounds each, and the drift check.
"""

import random
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path

import msgspec
import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.compare import Pair, compare
from flashscope.profiles.results.model.session import PointState, Session
from flashscope.profiles.results.statistics.bootstrap import Doubles
from flashscope.profiles.store import load
from flashscope.profiles.wire.measurement import Sample
from tests.end_to_end.program import ROOT
from tests.matrix import chosen
from tests.profiles.sessions import MACHINE
from tests.profiles.store import builders

REPEATS = np.load(Path(__file__).with_name("h200_repeats.npz"))
PLAN = msgspec.json.decode(REPEATS["plan"].tobytes(), type=Plan)
MS: NDArray[np.float64] = REPEATS["ms"].astype(float)
MHZ: NDArray[np.float64] = REPEATS["mhz"].astype(float)
COUPLES = list(combinations(range(len(MS)), 2))
SLOWED = 1.02


def session(plan: Plan, ms: Doubles, mhz: Doubles) -> Session:
    """A session by the times and clocks of its rounds, (points, rounds) each."""
    states = [
        PointState(point, 1, "done", measurement=builders.measurement(tuple(map(_sample, times, clocks))))
        for point, times, clocks in zip(plan.points(), ms, mhz, strict=True)
    ]
    return Session("a" * 32, plan, MACHINE, "2026-11-22T18:46:00+00:00", 0, states)


def _sample(ms: float, mhz: float) -> Sample:
    return Sample(float(ms), None, None, None, float(mhz))


@cache
def repeat(number: int) -> Session:
    return session(PLAN, MS[number], MHZ[number])


def changed(number: int, kernel: str, factor: float) -> Session:
    """A repeat whose kernel takes so many times as long, at the clock it had."""
    slower = np.array([factor if point.kernel == kernel else 1.0 for point in PLAN.points()])
    return session(PLAN, MS[number] * slower[:, None], MHZ[number])


def verdicts(base: Session, other: Session) -> list[Pair]:
    """The pairs that are said to have changed."""
    return [pair for pair in compare(base, [other]).contrasts[0].pairs if pair.better is not None]


@pytest.mark.matrix  # it takes seconds
def test_210_comparisons_of_a_sweep_with_its_repeats_have_at_most_two_false_verdicts() -> None:
    found = [compare(repeat(one), [repeat(two)]).contrasts[0].pairs for one, two in COUPLES]
    pairs = [pair for pairs in found for pair in pairs]
    assert (len(found), len(pairs)) == (210, 2520)
    assert sum(pair.better is not None for pair in pairs) <= 2
    assert sum(pair.verdict == "same" for pair in pairs) > 0.9 * len(pairs)


@chosen("factor", [SLOWED, 1 / SLOWED], ())
@pytest.mark.parametrize(
    "kernel",
    ["flash3", *(pytest.param(other, marks=pytest.mark.long) for other in PLAN.kernels if other != "flash3")],
)
def test_a_kernel_that_is_two_percent_off_is_found_in_95_of_100(kernel: str, factor: float) -> None:
    drawn = random.Random(0).sample(COUPLES, 100)  # noqa: S311 - a choice, not a secret
    told = [verdicts(repeat(one), changed(two, kernel, factor)) for one, two in drawn]
    assert sum(any(pair.kernel == kernel for pair in pairs) for pairs in told) >= 95
    assert all(pair.kernel == kernel and pair.better is (factor < 1) for pairs in told for pair in pairs)


def test_a_slower_clock_alone_is_named_and_is_no_change() -> None:
    bound = np.array([point.kernel == "standard" for point in PLAN.points()])  # by memory: no clock slows it
    for one, two in COUPLES[::20]:
        slower = session(PLAN, MS[two] / np.where(bound, 1, 0.87)[:, None], MHZ[two] * 0.87)
        contrast = compare(repeat(one), [slower]).contrasts[0]
        assert not [pair for pair in contrast.pairs if pair.better is not None]
        assert {pair.by_clock for pair in contrast.pairs if pair.kernel != "standard"} == {True}
        assert "SM clock while sampling" in {difference.title for difference in contrast.differences}


@cache
def large() -> Session:
    return load(ROOT / "assets" / "sessions" / "h200-peers.flashscope")


def drawn(seed: int) -> Session:
    """A repeat of the large sweep: rounds drawn with replacement, and what moves a session as a whole.

    That is 0.2% a point and up to 1% of clock, which time follows; the recorded repeats move less in cycles.
    """
    source, noise = large(), np.random.default_rng(seed)
    clock = 1 - 0.01 * noise.random()
    states = [_drawn(state, noise, clock) for state in source.points if state.status == "done"]
    return Session(source.id, source.plan, source.machine, source.started_at, 0, states)


def _drawn(state: PointState, noise: np.random.Generator, clock: float) -> PointState:
    assert state.measurement is not None
    samples = state.measurement.samples
    own = (1 + 0.002 * noise.standard_normal()) / clock
    moved = tuple(
        _moved(samples[place], own, clock) for place in noise.integers(len(samples), size=len(samples))
    )
    return PointState(state.point, 1, "done", measurement=replace(state.measurement, samples=moved))


def _moved(sample: Sample, own: float, clock: float) -> Sample:
    assert sample.sm_clock_mhz is not None
    return replace(sample, ms=sample.ms * own, sm_clock_mhz=sample.sm_clock_mhz * clock)


def false_verdicts(count: int) -> Iterator[int]:
    """How many there are in each of so many comparisons of 492 points."""
    for seed in range(0, 2 * count, 2):
        yield len(verdicts(drawn(seed), drawn(seed + 1)))


@pytest.mark.matrix
@pytest.mark.parametrize("count", [5, pytest.param(200, marks=pytest.mark.long)])
def test_of_492_points_hardly_one_in_ten_thousand_is_called_changed(count: int) -> None:
    assert sum(false_verdicts(count)) <= max(1, count * 492 / 10_000)
