"""Ratios by rounds: what slows a whole round down is no difference between kernels."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Point
from flashscope.profiles.results.findings.rounds import speedup_interval
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import PointState
from flashscope.profiles.results.statistics.bootstrap import LEAST_ROUNDS
from flashscope.profiles.wire.events import PointStatus
from flashscope.profiles.wire.measurement import Sample
from tests.matrix import in_rounds
from tests.profiles.store import builders

PROBLEM = Problem(seqlen_q=64, seqlen_k=64)


def point(
    ms: Sequence[float],
    *,
    sampling_ns: int | None = 7,
    status: PointStatus = "done",
    rejected: frozenset[int] = frozenset(),
) -> PointRow:
    samples = tuple(Sample(t, "throttled" if n in rejected else None, n) for n, t in enumerate(ms))
    state = PointState(Point(index=0, kernel="k", problem=PROBLEM), 1)
    state.status, state.sampling_ns, state.measurement = status, sampling_ns, builders.measurement(samples)
    return PointRow.of("cpu", state)


@in_rounds(4)
@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0.1, 10.0), min_size=LEAST_ROUNDS, max_size=20))
def test_a_drift_of_both_leaves_their_ratio_as_it_is(turn: int, drift: list[float]) -> None:
    if len(drift) % 2 == 0:
        drift.append(drift[0])  # the median of an odd number is one of them
    found = speedup_interval(point(drift), point([2 * t for t in drift]))
    assert found is not None
    assert found == pytest.approx((2.0, 2.0))


def test_an_interval_holds_the_ratio_and_narrows_with_more_rounds() -> None:
    noise = np.random.default_rng(1).normal(1, 0.02, (2, 1000))

    def interval(rounds: int) -> tuple[float, float]:
        ours, peers = noise[:, :rounds]
        found = speedup_interval(point([*ours]), point([*(1.5 * peers)]))
        assert found is not None
        return found

    few, many = interval(10), interval(1000)
    assert few[0] < 1.5 < few[1]
    assert many[0] < 1.5 < many[1]
    assert many[1] - many[0] < (few[1] - few[0]) / 3


def test_kernels_that_took_no_turns_with_each_other_have_no_pairs() -> None:
    series = [1.0] * 10
    assert speedup_interval(point(series), point(series, sampling_ns=8)) is None
    assert speedup_interval(point(series, sampling_ns=None), point(series, sampling_ns=None)) is None
    assert speedup_interval(point(series), point(series, status="wrong")) is None
    assert speedup_interval(point(series[:4]), point(series)) is None


def test_a_rejected_sample_takes_its_round_out() -> None:
    ours, peers = [1.0] * 4 + [50.0] * 5, [2.0] * 9
    with_them = speedup_interval(point(ours), point(peers))
    assert with_them is not None
    assert with_them.low < 1
    assert speedup_interval(point(ours, rejected=frozenset(range(4, 9))), point(peers)) is None
