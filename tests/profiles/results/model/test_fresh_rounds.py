"""What fresh rounds say of cuts, and a landscape as it comes to be."""

from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.kernels.workload.cut import CompiledCut, Cut
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.model.fresh_rounds import FreshRounds
from flashscope.profiles.results.model.landscape_made import NOT_TIMED, LandscapeMaker
from flashscope.profiles.wire.cuts import CutCompiled, CutsEnded, CutsRound, CutsToTime, CutTimed, CutTimes

OWN = Cut(kernel="flash2", groups=4, subtiles=2)
OTHERS = tuple(replace(OWN, block_k=keys) for keys in (16, 32, 48, 80))
PROBLEM = Problem(seqlen_q=1024, seqlen_k=1024, dtype="bfloat16")
ENDED = CutsEnded(
    timer="CUDA events", device=Device(backend="cuda", name="A GPU", memory_bytes=1), build="0123456789ab"
)
AROUND = np.array([-0.01, -0.005, 0.0, 0.005, 0.01, 0.002, -0.002])


def rounds(middle: float) -> tuple[float, ...]:
    return tuple((middle * (1 + AROUND)).tolist())


def test_without_fresh_rounds_there_is_nothing_to_say() -> None:
    fresh = FreshRounds.of({OWN: ()}, OWN)
    assert (fresh.ranked, fresh.best, fresh.distance, fresh.interval, fresh.beaten) == (
        (),
        None,
        None,
        None,
        False,
    )


def test_a_shipped_cut_that_is_fastest_has_no_distance_to_go() -> None:
    fresh = FreshRounds.of({OWN: rounds(1.0), OTHERS[0]: rounds(2.0)}, OWN)
    assert (fresh.best, fresh.distance, fresh.interval, fresh.beaten) == (OWN, 1.0, None, False)


@pytest.mark.parametrize(("faster", "beaten"), [(0.5, True), (0.95, True), (0.999, False)])
def test_another_cut_beats_the_shipped_one_only_beyond_what_rounds_scatter(
    faster: float, beaten: bool
) -> None:
    fresh = FreshRounds.of({OWN: rounds(1.0), OTHERS[0]: rounds(faster)}, OWN)
    assert fresh.best == OTHERS[0]
    assert fresh.distance == pytest.approx(1 / faster)
    assert fresh.interval is not None
    assert fresh.interval.low <= 1 / faster <= fresh.interval.high
    assert fresh.beaten is beaten


def test_the_more_cuts_might_have_won_by_luck_the_wider_the_interval() -> None:
    both = {OWN: rounds(1.0), OTHERS[0]: rounds(0.9)}
    alone = FreshRounds.of(both, OWN).interval
    among = FreshRounds.of({**both, **{cut: rounds(0.95) for cut in OTHERS[1:]}}, OWN).interval
    assert alone is not None
    assert among is not None
    assert among.low <= alone.low < alone.high <= among.high
    assert among != alone


def test_too_few_rounds_have_no_interval() -> None:
    fresh = FreshRounds.of({OWN: (1.0, 1.1), OTHERS[0]: (0.5, 0.6)}, OWN)
    assert fresh.distance == pytest.approx(1.05 / 0.55)
    assert (fresh.interval, fresh.beaten) == (None, False)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.floats(0.1, 10), min_size=5, max_size=9), min_size=2, max_size=5))
def test_no_cut_is_faster_than_the_fastest(times: list[list[float]]) -> None:
    of = dict(zip((OWN, *OTHERS), times, strict=False))
    fresh = FreshRounds.of(of, OWN)
    assert fresh.best is not None
    assert median(of[fresh.best]) == min(map(median, times))
    assert fresh.distance is not None
    assert fresh.distance >= 1
    if fresh.interval is not None:
        assert 0 < fresh.interval.low <= fresh.interval.high


def test_a_landscape_has_every_cut_with_its_times_or_its_reasons() -> None:
    slow, refused, wrong, silent = OTHERS
    asked = CutsToTime(problem=PROBLEM, backend="cuda", cuts=(OWN, slow, wrong, silent), shipped=OWN)
    maker = LandscapeMaker(asked, "groups", {refused: ("It does not fit.",)})
    for answer in (
        CutCompiled(compiled=CompiledCut(cut=OWN, registers=200, spilled=4)),
        CutsRound(done=1, total=2),
        CutTimed(timed=CutTimes(cut=OWN, ms=(1.0, 1.1))),
        CutTimed(timed=CutTimes(cut=slow, ms=(2.0,))),
        CutTimed(timed=CutTimes(cut=wrong, failure="O differs.")),
        CutTimed(timed=CutTimes(cut=OWN, ms=(1.2,), anew=True)),
        CutTimed(timed=CutTimes(cut=slow, failure="It was right once.")),
    ):
        maker.take(answer)
    made = maker.made(ENDED)
    assert made is not None
    assert (made.rows, made.build, made.timed, len(made.cells)) == ("groups", "0123456789ab", 2, 5)
    of = made.by_cut
    assert (of[OWN].first_ms, of[OWN].anew_ms, of[OWN].registers, of[OWN].spilled) == (
        (1.0, 1.1),
        (1.2,),
        200,
        4,
    )
    assert (of[slow].first_ms, of[slow].refused) == ((2.0,), ())
    reasons = {cut: of[cut].refused for cut in (refused, wrong, silent)}
    assert reasons == {refused: ("It does not fit.",), wrong: ("O differs.",), silent: (NOT_TIMED,)}


def test_what_broke_off_or_timed_nothing_makes_no_landscape() -> None:
    asked = CutsToTime(problem=PROBLEM, backend="cuda", cuts=(OWN,), shipped=OWN)
    maker = LandscapeMaker(asked, "groups", {})
    maker.take(CutCompiled(compiled=CompiledCut(cut=OWN, failure="No.")))
    assert maker.made(ENDED) is None
    assert maker.first_reason == "No."
    maker.take(CutTimed(timed=CutTimes(cut=OWN, ms=(1.0,))))
    assert maker.made(replace(ENDED, reason="It died.")) is None
