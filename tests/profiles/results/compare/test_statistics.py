"""How often verdicts err, on rounds drawn from a recording of a real GPU and moved as real sessions are."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from msgspec.structs import replace

from profiles.results.compare import compare
from profiles.results.session import PointState, Session
from profiles.store import load
from profiles.wire.measurement import Sample
from tests.end_to_end.program import ROOT

RECORDED = ROOT / "assets" / "sessions" / "h200-peers.flashscope"
SLOWED = 1.02


@cache
def recorded() -> Session:
    return load(RECORDED)


def drawn(seed: int, slowed: str = "", kernels: frozenset[str] = frozenset()) -> Session:
    """A session that might have been recorded in place of the one that was.

    Rounds are drawn with replacement, time and clock together. What moves a session as a whole is added: 0.2%
    a point, as the drift check of the recording saw, and up to 1% of clock, which time follows.
    """
    random = np.random.default_rng(seed)
    clock = 1 - 0.01 * random.random()
    source = recorded()
    states = [
        _drawn(state, random, clock, SLOWED if state.point.kernel == slowed else 1.0)
        for state in source.points
        if not kernels or state.point.kernel in kernels
    ]
    plan = replace(source.plan, kernels=tuple(k for k in source.plan.kernels if not kernels or k in kernels))
    for state, point in zip(states, plan.points(), strict=True):
        state.point = point
    return Session(source.id, plan, source.machine, source.started_at, 0, states)


def _drawn(state: PointState, random: np.random.Generator, clock: float, slowed: float) -> PointState:
    assert state.measurement is not None
    own = slowed * (1 + 0.002 * random.standard_normal()) / clock
    chosen = random.integers(len(state.measurement.samples), size=len(state.measurement.samples))
    samples = tuple(_moved(state.measurement.samples[place], own, clock) for place in chosen)
    return PointState(state.point, 1, state.status, measurement=replace(state.measurement, samples=samples))


def _moved(sample: Sample, own: float, clock: float) -> Sample:
    assert sample.sm_clock_mhz is not None
    return replace(sample, ms=sample.ms * own, sm_clock_mhz=sample.sm_clock_mhz * clock)


def comparisons(count: int, slowed: str = "", kernels: frozenset[str] = frozenset()) -> Iterator[list[str]]:
    """The kernels that were said to have changed, point by point, in each of so many comparisons."""
    for seed in range(0, 2 * count, 2):
        found = compare(drawn(seed, kernels=kernels), [drawn(seed + 1, slowed, kernels)]).contrasts[0]
        yield [f"{pair.kernel} {pair.verdict}" for pair in found.pairs if pair.better is not None]


SOME = frozenset({"flash2", "flash3", "standard"})


@pytest.mark.parametrize(
    ("count", "kernels"),
    [(20, SOME), pytest.param(200, frozenset(), marks=pytest.mark.long)],
    ids=["20 of 90 points", "200 of 480 points"],
)
def test_a_sweep_beside_its_own_repeat_has_hardly_ever_a_verdict(count: int, kernels: frozenset[str]) -> None:
    false = [told for told in comparisons(count, kernels=kernels) if told]
    assert sum(map(len, false)) <= 2 * count / 200, false


@pytest.mark.parametrize(
    ("count", "kernels"),
    [(10, SOME), pytest.param(100, frozenset(), marks=pytest.mark.long)],
    ids=["10 of 90 points", "100 of 480 points"],
)
def test_a_kernel_slowed_by_two_percent_is_found(count: int, kernels: frozenset[str]) -> None:
    found = list(comparisons(count, "flash3", kernels))
    named = sum(told.count("flash3 slower") >= 15 for told in found)  # of its 30 points
    assert named >= 0.95 * count
    assert not [one for told in found for one in told if one != "flash3 slower"]
