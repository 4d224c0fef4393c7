"""Like with like only: what pairs, and what stands alone beside what is nearest."""

from msgspec.structs import replace

from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.results.compare.pairing import Pairing, pairings
from flashscope.profiles.results.model.session import Session
from tests.profiles.results.compare.built import contrast, rounds, session

TIMES = rounds(1.0)


def paired(base: Session, other: Session) -> Pairing:
    (found,) = pairings(base, [other])
    return found


def alone(base: Session, other: Session) -> list[str]:
    return [lone.reason for lone in paired(base, other).base_only]


def test_points_pair_by_kernel_and_problem_whatever_their_order() -> None:
    base = session({("flash2", 512): TIMES, ("flash2", 1024): TIMES, ("flash3", 512): TIMES})
    other = session({("flash3", 1024): TIMES, ("flash2", 1024): TIMES, ("flash2", 512): TIMES})
    found = paired(base, other)
    assert all(mine.kernel == yours.kernel and mine.problem == yours.problem for mine, yours in found.pairs)
    assert [(mine.kernel, mine.seqlen) for mine, _ in found.pairs][:2] == [("flash2", 512), ("flash3", 512)]
    assert len(found.pairs) == 4
    assert not found.base_only


def test_cold_and_warm_points_never_pair_and_are_told_as_nearest() -> None:
    base = session({("flash2", 512): TIMES})
    warm = session({("flash2", 512): TIMES}, protocol=Protocol(cold=False))
    assert not paired(base, warm).pairs
    assert alone(base, warm) == ["warm instead of cold"]
    assert alone(warm, base) == ["cold instead of warm"]


def test_points_sampled_in_turns_and_alone_never_pair() -> None:
    base = session({("flash2", 512): TIMES})
    after = session({("flash2", 512): TIMES}, protocol=Protocol(interleave=False))
    assert alone(base, after) == ["one kernel after the other instead of in turns"]


def test_the_nearest_shares_what_decides_the_code_then_the_length() -> None:
    base = session({("flash2", 1024): TIMES}, heads=16, batch=16)
    other = session({("flash2", 512): TIMES, ("flash2", 4096): TIMES}, heads=32, batch=16)
    assert alone(base, other) == ["N = 512 instead of 1024, 32 heads instead of 16 heads"]
    (lone,) = paired(base, other).base_only
    assert lone.nearest is not None
    assert lone.nearest.seqlen == 512


def test_a_kernel_that_the_other_has_not_is_said_to_be_missing() -> None:
    base = session({("flash2", 512): TIMES, ("flash3", 512): TIMES})
    found = paired(base, session({("flash2", 512): TIMES}))
    assert [(lone.row.kernel, lone.nearest, lone.reason) for lone in found.base_only] == [
        ("flash3", None, "there is no flash3 there")
    ]


def test_what_differs_in_mask_seed_or_scale_is_named() -> None:
    base = session({("flash2", 512): TIMES})
    other = session({("flash2", 512): TIMES}, causal=True, seed=3, scale=0.5)
    (told,) = alone(base, other)
    assert told == "causal instead of no mask, scale 0.5 instead of the usual scale, seed 3 instead of seed 0"


def test_a_problem_listed_twice_pairs_repetition_by_repetition() -> None:
    once = session({("flash2", 512): TIMES, ("flash2", 1024): TIMES})
    plan = replace(once.plan, problems=(once.plan.problems[0],) * 2)
    twice = Session("b" * 32, plan, once.machine, once.started_at, 0, [*once.points])
    for state, point in zip(twice.points, plan.points(), strict=True):
        state.point = point
    assert len(paired(twice, twice).pairs) == 2
    alone_there = paired(twice, session({("flash2", 512): TIMES})).base_only
    assert [lone.reason for lone in alone_there] == ["it was measured more often here"]


def test_the_drift_check_is_no_point_of_its_own() -> None:
    points = {("flash2", 512): TIMES, ("flash2", 1024): TIMES}
    base, other = session(points, again={("flash2", 512): TIMES}), session(points)
    found = contrast(base, other)
    assert len(found.pairs) == 2
    assert not (*found.base_only, *found.other_only)


def test_the_baselines_points_are_the_same_beside_every_session() -> None:
    base = session({("flash2", 512): TIMES})
    first, second = pairings(base, [session({("flash2", 512): TIMES}) for _ in range(2)])
    assert first.pairs[0][0] is second.pairs[0][0]
