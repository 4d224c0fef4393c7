"""Rows that are drawn meet a fault in a tenth of any rank's rows of any K/V head, as surely as is said."""

from math import comb

import pytest
from hypothesis import given
from msgspec.structs import replace

from flashscope.kernels.context_parallel.drawing import (
    MOST_PAIRS,
    ROWS,
    SURE,
    HeadPlace,
    all_compared,
    draw_heads,
    draw_rows,
    rows_to_meet,
    share_met,
)
from flashscope.kernels.context_parallel.schemes import SCHEMES, Partition, Scheme
from flashscope.kernels.workload.problem import Problem
from tests.kernels.context_parallel.running import partitions

LONG = Problem(batch=2, seqlen_q=4000, seqlen_k=4800, heads=8, kv_heads=4, head_dim=16, causal=True)


def missed(wrong: int, of: int, rows: int) -> float:
    """The probability that none of the wrong rows is drawn, counted."""
    return comb(of - wrong, rows) / comb(of, rows)


@pytest.mark.parametrize("share", [0.5, 0.1, 0.05, 0.01])
def test_so_many_rows_meet_that_share_and_one_row_less_does_not(share: float) -> None:
    rows = rows_to_meet(share)
    for of in (1000, 4000, 100_000):
        assert missed(round(share * of), of, rows) <= 1 - SURE
    assert missed(round(share * 10**7), 10**7, rows - 1) > 1 - SURE
    assert share_met(rows) <= share < share_met(rows - 1)


def test_as_many_rows_as_usual_meet_a_fault_in_a_tenth_of_a_ranks_rows() -> None:
    assert rows_to_meet(0.1) == ROWS


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("ranks", [1, 4])
def test_every_rank_gets_its_rows_and_the_ends_of_its_chunks(scheme: Scheme, ranks: int) -> None:
    partition = Partition(scheme, LONG, ranks)
    rows, keys = draw_rows(partition, HeadPlace(1, 3), ROWS)
    for held in partition.holdings:
        for drawn, stretches in ((rows, held.rows), (keys, held.keys)):
            own = [one for one in drawn if any(one in stretch for stretch in stretches)]
            ends = {end for one in stretches for end in (one[0], one[-1])}
            assert ROWS <= len(own) <= ROWS + len(ends)
            assert ends <= set(own)
    assert rows == sorted(set(rows))
    assert keys == sorted(set(keys))


def test_another_head_and_another_seed_get_other_rows_and_the_same_get_the_same() -> None:
    partition = Partition("ring", LONG, 4)
    heads = draw_heads(LONG, 0)
    drawn = [tuple(draw_rows(partition, head, ROWS).rows) for head in heads]
    assert len(set(drawn)) == len(heads) == LONG.batch * LONG.key_heads
    assert tuple(draw_rows(partition, heads[0], ROWS).rows) == drawn[0]
    other = Partition("ring", replace(LONG, seed=1), 4)
    assert tuple(draw_rows(other, heads[0], ROWS).rows) != drawn[0]


@given(partitions())
def test_of_fewer_rows_than_are_to_be_drawn_all_are(partition: Partition) -> None:
    problem = partition.problem
    drawn = draw_rows(partition, HeadPlace(0, 0), max(problem.seqlen_q, problem.seqlen_k))
    assert drawn == (list(range(problem.seqlen_q)), list(range(problem.seqlen_k)))


def test_all_heads_are_compared_or_so_many_that_are_drawn() -> None:
    every = [HeadPlace(b, h) for b in range(2) for h in range(4)]
    assert draw_heads(LONG, 0) == draw_heads(LONG, 99) == every
    some = draw_heads(LONG, 3)
    assert len(some) == 3
    assert set(some) < set(every)
    assert some == sorted(some)


@pytest.mark.parametrize("backend", MOST_PAIRS)
def test_a_short_problem_is_compared_in_all_rows_and_a_long_one_is_not(backend: str) -> None:
    short = Problem(seqlen_q=1024, seqlen_k=1024, heads=32, head_dim=16)
    assert all_compared(short, backend)  # type: ignore[arg-type]
    assert not all_compared(replace(short, seqlen_q=1 << 17, seqlen_k=1 << 17), backend)  # type: ignore[arg-type]
