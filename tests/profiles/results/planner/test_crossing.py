"""Where tiled overtakes standard: between two measured N, found by bisection."""

from dataclasses import replace
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.model.rows import rows
from flashscope.profiles.results.planner.crossing import (
    FINE,
    STEP,
    LeadAt,
    Search,
    crossing,
    recorded_crossing,
)
from flashscope.profiles.results.planner.crossing import leads as compared
from flashscope.profiles.store import load

PEERS = Path(__file__).parents[4] / "assets" / "sessions" / "h200-peers.flashscope"
FIRST = (16, 32, 64, 128, 256, 512, 1024, 2048, 4096)


def beside(n: int, *, wins: bool) -> LeadAt:
    return LeadAt(n, 1 if wins else -1)


@given(st.integers(17, 4096))
def test_a_search_ends_with_an_interval_that_holds_the_crossing_and_is_fine(change: int) -> None:
    """Standard is faster below `change`, tiled from there on."""
    search, sweeps = Search(FIRST), 0
    while wanted := search.wanted():
        assert not {one.seqlen for one in search.points} & set(wanted)
        search.take([beside(n, wins=n >= change) for n in wanted])
        sweeps += 1
    found = search.found
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < change <= found.high
    assert found.high - found.low <= max(2 * STEP, found.low // FINE + STEP)
    assert sweeps <= 5


@given(st.integers(17, 2000), st.integers(1, 2000))
def test_where_the_two_are_as_fast_for_a_while_both_ends_of_that_are_found(first: int, width: int) -> None:
    search, last = Search(FIRST, 16_384), first + width
    while wanted := search.wanted():
        search.take([LeadAt(n, -1 if n < first else int(n >= last)) for n in wanted])
    found = search.found
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < first <= found.low + max(2 * STEP, found.low // FINE + STEP)
    assert last <= found.high <= last + max(2 * STEP, last // FINE + STEP)


def test_quartiles_that_overlap_put_neither_kernel_ahead() -> None:
    measured = [one for one in rows(load(PEERS)) if one.problem.seqlen_q == 1024]
    assert {one.ahead for one in compared(measured, "flash3")} == {1}
    assert {one.ahead for one in compared(measured, "standard")} == {0}


def test_a_kernel_that_is_faster_at_every_n_or_at_none_ends_a_search_after_one_sweep() -> None:
    for wins in (True, False):
        search = Search(FIRST)
        search.take([beside(n, wins=wins) for n in search.wanted()])
        assert search.wanted() == ()
        found = search.found
        assert found is not None
        assert (found.low, found.high) == ((None, 16) if wins else (4096, None))


def test_a_search_goes_on_to_longer_n_where_standard_is_not_slower_yet_but_not_for_ever() -> None:
    search = Search(FIRST, 10_000)
    search.take([beside(n, wins=False) for n in search.wanted()])
    assert search.wanted() == (8192,)
    search.take([beside(8192, wins=False)])
    assert search.wanted() == ()


def test_kernels_that_change_places_several_times_cross_somewhere_in_all_of_that() -> None:
    order = {16: False, 32: True, 64: False, 128: True}
    found = crossing([beside(n, wins=wins) for n, wins in order.items()])
    assert found == (16, 128, (16, 32, 64, 128), False)


def test_nothing_measured_is_no_crossing() -> None:
    assert crossing([]) is None
    assert recorded_crossing([], ("flash2",), Problem(seqlen_q=1, seqlen_k=1)) is None


def test_points_of_few_query_rows_say_nothing_of_where_a_whole_sequence_is_faster() -> None:
    whole = Problem(seqlen_q=4096, seqlen_k=4096, heads=32, head_dim=128, dtype="bfloat16", causal=True)
    measured = [one for one in rows(load(PEERS)) if one.problem.head_dim == whole.head_dim]
    decodes = [
        replace(
            one,
            point=structs.replace(one.point, problem=structs.replace(one.problem, seqlen_q=1)),
        )
        for one in measured
    ]
    assert recorded_crossing(decodes, ("flash3",), whole) is None
    found = recorded_crossing([*decodes, *measured], ("flash3",), whole)
    assert found is not None
    assert found.shape == "d 128, causal"


def test_a_recording_tells_of_the_last_kernel_measured_on_the_curve_nearest_to_the_model() -> None:
    asked = Problem(
        seqlen_q=8192, seqlen_k=8192, heads=32, kv_heads=8, head_dim=128, dtype="bfloat16", causal=True
    )
    measured = rows(load(PEERS))
    found = recorded_crossing(measured, ("flash1", "flash2", "flash3", "flash4"), asked)
    assert found is not None
    assert (found.tiled, found.shape) == ("flash3", "d 128, causal")
    assert (found.crossing.low, found.crossing.high) == (None, 1024)
    without = [one for one in measured if one.kernel != "flash3"]
    fallen_back = recorded_crossing(without, ("flash1", "flash2", "flash3"), asked)
    assert fallen_back is not None
    assert fallen_back.tiled == "flash2"
