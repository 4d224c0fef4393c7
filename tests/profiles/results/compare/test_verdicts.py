"""Verdicts: what it takes to be called faster, slower or the same, and what is left open."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.profiles.results.compare import Pair, compare
from flashscope.profiles.results.compare.wording import percent
from flashscope.profiles.results.quantities.registry import QUANTITIES, THROUGHPUT
from flashscope.profiles.results.statistics.ranks import EXACT, _tail, _tails, holm, p_value
from tests.matrix import in_rounds
from tests.profiles.results.compare.built import CLOCK, contrast, pair, rounds, session

INVERSE = {"faster": "slower", "slower": "faster", "more": "less", "less": "more"}


def one(times: Sequence[float], **others: float | None) -> Pair:
    """Rounds around 1 ms beside these."""
    return pair(session({("k", 512): rounds(1.0)}), session({("k", 512): times}, **others))  # type: ignore[arg-type]


def test_two_percent_more_time_is_slower_and_two_percent_less_is_faster() -> None:
    slower, faster = one(rounds(1.02)), one(rounds(0.98))
    assert (slower.verdict, slower.better, faster.verdict, faster.better) == ("slower", False, "faster", True)
    assert slower.ratio == pytest.approx(1.02)
    assert slower.reason == ""


def test_the_words_follow_from_which_way_is_better() -> None:
    base, other = session({("k", 512): rounds(1.0)}), session({("k", 512): rounds(1.1)})
    found = pair(base, other, THROUGHPUT)
    assert (found.verdict, found.better) == ("slower", False)
    assert found.ratio == pytest.approx(1 / 1.1)


def test_a_change_under_one_percent_is_never_told_as_one() -> None:
    found = one(rounds(1.009))
    assert found.p is not None
    assert found.p < 0.001  # the rounds differ beyond doubt
    assert found.verdict == "same"
    assert found.reason == "within 1.0%"


def test_the_noise_of_the_rounds_raises_what_counts() -> None:
    noisy = rounds(1.0, spread=0.04)
    found = pair(session({("k", 512): noisy}), session({("k", 512): rounds(1.05)}))
    assert found.threshold == pytest.approx(3 * 0.02, rel=0.2)
    assert found.verdict == "inconclusive"
    assert found.reason == "5.0% slower, 5.0% more in clock cycles, but it takes 6.7% to count here"


def test_same_takes_evidence_too() -> None:
    wide = [1.0] * 6 + [1.0 + 0.1 * n for n in range(1, 5)]  # MAD 0 to 0.05, the interval far wider than 1%
    found = pair(session({("k", 512): wide}), session({("k", 512): wide[::-1]}))
    assert found.ratio == 1
    assert found.verdict == "inconclusive"
    assert found.reason == "medians alike, but the interval holds 1"


@pytest.mark.parametrize("count", [1, 3, 4])
def test_too_few_rounds_are_inconclusive_with_the_reason(count: int) -> None:
    found = one([1.5] * count)
    assert found.verdict == "inconclusive"
    assert found.reason == f"too few rounds: {count}, and it takes 5 in both sessions"
    assert found.ratio == pytest.approx(1.5)
    assert found.ratio_low is None


def test_a_slower_clock_alone_is_named_as_such() -> None:
    found = one(rounds(CLOCK / 1720), clock=1720.0)
    assert found.verdict == "inconclusive"
    assert found.by_clock
    assert found.reason == "15% slower by the clock alone: 1.98 → 1.72 GHz"
    assert found.cycles == pytest.approx(1)


def test_time_and_cycles_that_disagree_are_no_verdict() -> None:
    found = one(rounds(1.05), clock=CLOCK * 0.8)  # 5% more time, 16% fewer cycles
    assert found.verdict == "inconclusive"
    assert found.by_clock


def test_a_kernel_that_takes_more_cycles_at_a_slower_clock_is_slower() -> None:
    assert one(rounds(1.05), clock=CLOCK * 0.98).verdict == "slower"


def test_where_a_gpu_s_clock_was_not_read_it_takes_what_clocks_alone_make() -> None:
    base = session({("k", 512): rounds(1.0)})
    found = pair(base, session({("k", 512): rounds(1.05)}, clock=None))
    assert (found.verdict, found.cycles) == ("inconclusive", None)
    assert found.reason == "5.0% slower, but it takes 7.0% to count here, as a clock was not recorded"
    assert pair(base, session({("k", 512): rounds(1.08)}, clock=None)).verdict == "slower"
    assert pair(base, session({("k", 512): rounds(1.0)}, clock=None)).reason == "within 1.0%"


@pytest.mark.parametrize(("factor", "verdict"), [(1.05, "inconclusive"), (1.09, "slower")])
def test_one_run_a_side_on_a_cpu_decides_above_what_a_clock_may_do(factor: float, verdict: str) -> None:
    base, other = (session({("k", 512): rounds(ms)}, clock=None) for ms in (1.0, factor))
    for one in (base, other):
        one.plan = replace(one.plan, backend="cpu")
    found = pair(base, other)
    assert (found.verdict, found.threshold) == (verdict, 0.07)


def test_a_doubtful_point_decides_nothing_and_says_why() -> None:
    apart = [1.0, 1.01, 1.0, 1.01, 1.0, 2.0, 2.01, 2.0, 2.01, 2.0]
    found = pair(session({("k", 512): rounds(9.0)}), session({("k", 512): apart}))
    assert (found.verdict, found.better, found.detectable) == ("inconclusive", None, None)
    assert found.reason.startswith("the other's point is doubtful: ")
    assert found.ratio == pytest.approx(1.505 / 9)


def test_what_the_drift_check_saw_raises_what_counts() -> None:
    points = {("k", 512): rounds(1.0), ("k", 1024): rounds(4.0)}
    drifting = session(points, again={("k", 512): rounds(1.06)})
    later = session({("k", 512): rounds(1.055), ("k", 1024): rounds(4.22)})
    short, long = contrast(drifting, later).pairs
    assert short.threshold == pytest.approx(0.06 / 1.06, rel=0.01)
    assert short.verdict == "inconclusive"
    assert long.threshold == pytest.approx(0.06 / 4, rel=0.01)  # what is added is less of a longer run
    assert long.verdict == "slower"


@pytest.mark.parametrize(
    ("was", "now", "better", "told"),
    [
        (rounds(1.0), "wrong", False, "was done, now wrong"),
        (rounds(1.0), "will-not-fit", False, "was done, now not launched as it will not fit"),
        (rounds(1.0), "cancelled", False, "was done, now cancelled"),
        ("oom", rounds(1.0), True, "was out of memory, now done"),
        ("pending", rounds(1.0), None, "was not measured, now done"),
        ("wrong", "wrong", None, "wrong in both"),
        ("wrong", "failed", None, "was wrong, now failed"),
    ],
)
def test_points_that_are_not_done_are_states_of_their_own(
    was: list[float] | str, now: list[float] | str, better: bool | None, told: str
) -> None:
    found = pair(session({("k", 512): was}), session({("k", 512): now}))
    assert (found.verdict, found.better, found.reason) == (None, better, told)
    assert found.broke == (better is False)


def test_exact_figures_are_equal_or_not() -> None:
    base, other = session({("k", 512): rounds(1.0)}), session({("k", 512): rounds(2.0)})
    footprint = pair(base, other, QUANTITIES["footprint"])
    assert (footprint.verdict, footprint.ratio, footprint.ratio_low) == ("equal", 1, 1)
    more = pair(base, session({("k", 512): rounds(2.0, count=11)}), QUANTITIES["samples"])
    assert (more.verdict, more.ratio, more.better) == ("more", 1.1, None)


def test_a_figure_without_rounds_is_never_called_a_change() -> None:
    base = session({("k", 512): rounds(1.0)})
    once = pair(base, base, QUANTITIES["prepare_ms"])
    assert once.verdict == "inconclusive"
    assert once.reason == "it is read once a session: nothing tells how far it scatters"
    assert (
        pair(base, base, QUANTITIES["speed-up"]).reason == "it is of two kernels: compare the runtime of each"
    )
    missing = pair(base, base, QUANTITIES["sustained_ms"])
    assert (missing.verdict, missing.reason) == (None, "the baseline has none")


@pytest.mark.parametrize("bad", [0.0, -1.0, float("inf"), float("nan")])
def test_rounds_that_are_no_positive_numbers_are_not_compared(bad: float) -> None:
    found = one([bad] * 10)
    assert (found.verdict, found.ratio) == ("inconclusive", None)


def test_every_quantity_of_the_registry_compares() -> None:
    base = session({("k", 512): rounds(1.0), ("k", 1024): "oom"})
    for quantity in QUANTITIES.values():
        for found in contrast(base, base, quantity).pairs:
            assert found.verdict not in {"faster", "slower", "more", "less"}
            assert found.verdict is not None or found.reason


def test_what_is_corrected_for_is_the_whole_comparison() -> None:
    base = session({("k", 512): rounds(1.0, count=5)})
    changed = session({("k", 512): rounds(1.1, count=5)})
    alone = pair(base, changed)
    assert alone.verdict == "slower"
    of_five = compare(base, [changed, *[base] * 4]).contrasts[0].pairs[0]
    assert of_five.p == pytest.approx(5 * (alone.p or 0))
    many = {("k", 2**n): rounds(1.0, count=5) for n in range(5, 15)}
    (first, *_) = contrast(session(many), session(many | {("k", 32): rounds(1.1, count=5)})).pairs
    assert first.verdict == "inconclusive"
    assert first.reason == (
        "10% slower, 10% more in clock cycles, but p = 0.079 over all points; take more repeats"
    )


TIMES = st.lists(st.floats(0.5, 2.0), min_size=5, max_size=12)


@given(TIMES, TIMES, st.floats(1e-3, 1e3))
def test_the_ratio_lies_in_its_interval_and_scaling_both_sides_changes_nothing(
    base: list[float], other: list[float], scale: float
) -> None:
    found = pair(session({("k", 512): base}), session({("k", 512): other}))
    scaled = pair(
        session({("k", 512): [scale * ms for ms in base]}),
        session({("k", 512): [scale * ms for ms in other]}),
    )
    assert found.ratio is not None
    assert found.ratio_low is not None
    assert found.ratio_high is not None
    assert found.ratio_low <= found.ratio <= found.ratio_high
    assert scaled.ratio == pytest.approx(found.ratio)
    assert scaled.ratio_low == pytest.approx(found.ratio_low)


@given(TIMES, TIMES)
def test_swapping_the_sessions_inverts_ratio_interval_and_verdict(
    base: list[float], other: list[float]
) -> None:
    one, two = session({("k", 512): base}), session({("k", 512): other})
    there, back = pair(one, two), pair(two, one)
    assert there.ratio is not None
    assert there.ratio_low is not None
    assert there.verdict is not None
    assert back.ratio == pytest.approx(1 / there.ratio)
    assert back.ratio_high == pytest.approx(1 / there.ratio_low)
    assert back.verdict == INVERSE.get(there.verdict, there.verdict)
    assert back.p == there.p


@in_rounds(4)
@settings(max_examples=25, deadline=None)
@given(st.permutations(range(4)), st.randoms(use_true_random=False))
def test_the_order_of_points_and_rounds_changes_nothing(
    turn: int, order: list[int], random: st.DataObject
) -> None:
    noise = np.random.default_rng(0).normal(1, 0.02, (2, 4, 10))
    cells = [("k", 2 ** (9 + place)) for place in range(4)]
    sides = [{cell: [*row] for cell, row in zip(cells, side, strict=True)} for side in noise]
    expected = {p.base.seqlen: p for p in contrast(session(sides[0]), session(sides[1])).pairs}
    for side in sides:
        for times in side.values():
            random.shuffle(times)  # type: ignore[attr-defined] # hypothesis' own random.Random
    mixed = [{cells[place]: side[cells[place]] for place in order} for side in sides]
    for found in contrast(session(mixed[0]), session(mixed[1])).pairs:
        same = expected[found.base.seqlen]
        assert (found.ratio, found.ratio_low, found.verdict) == (same.ratio, same.ratio_low, same.verdict)


def test_a_rank_test_of_ten_rounds_a_side_reaches_one_in_92378() -> None:
    low, high = np.arange(10.0), np.arange(10.0) + 10
    assert p_value(low, high) == pytest.approx(2 / 184756)
    assert p_value(low, low) == 1


def test_the_rank_test_is_that_of_the_books() -> None:
    # 4 pairs of 20 favour the first: 1 + 1 + 2 + 3 + 5 of the 126 orders are as extreme (partitions).
    assert p_value(np.array([1, 2, 3, 8.0]), np.array([4, 5, 6, 7, 9.0])) == pytest.approx(2 * 12 / 126)


@given(
    st.lists(st.integers(0, 5), min_size=5, max_size=9), st.lists(st.integers(0, 5), min_size=5, max_size=9)
)
def test_ties_never_make_a_difference_surer(base: list[int], other: list[int]) -> None:
    tied = p_value(np.sort(np.array(base, float)), np.sort(np.array(other, float)))
    apart = p_value(np.sort(np.array(base, float)), np.sort(np.array(other, float)) + 1e-9)
    below = p_value(np.sort(np.array(base, float)), np.sort(np.array(other, float)) - 1e-9)
    assert tied >= min(apart, below)


def test_many_rounds_have_the_same_tail_by_the_normal_law() -> None:
    counted = _tails(EXACT + 1, EXACT + 1)
    for pairs in (900, 1000, 1100, 1200):
        assert _tail(EXACT + 1, EXACT + 1, pairs) == pytest.approx(counted[pairs], rel=0.25)
    assert _tail(EXACT + 1, EXACT + 1, 1600) > counted[1600]  # far out it is too large, never too small


def test_holm_asks_most_of_the_smallest() -> None:
    assert holm([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert holm([]) == []


@pytest.mark.parametrize("ms", [1e-320, 1e-200, 1e200, 1e308, float("inf"), float("nan")])
def test_rounds_that_no_run_can_have_taken_are_not_compared(ms: float) -> None:
    found = one([ms] * 10)
    assert (found.verdict, found.ratio) == ("inconclusive", None)
    assert found.reason == "there are no rounds that can be compared"


@pytest.mark.parametrize("clock", [1e-320, 1e308])
def test_a_clock_that_no_device_has_is_none(clock: float) -> None:
    assert one(rounds(1.1), clock=clock).cycles is None


def test_a_change_of_many_times_is_told_as_a_factor() -> None:
    words = [percent(share) for share in (0.0994, 0.1, 8.99, 9.0, 119.4, 12345.0)]
    assert words == ["9.9%", "10%", "899%", "10×", "120×", "12,346×"]
