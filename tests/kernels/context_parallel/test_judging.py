"""Where all rows are too many, drawn ones tell what is wrong wherever they meet it."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings

from flashscope.kernels.context_parallel.drawing import ComparedRows, HeadPlace, draw_rows
from flashscope.kernels.context_parallel.judging import judge_backward, judge_forward
from flashscope.kernels.context_parallel.rank import SequenceRank
from flashscope.kernels.context_parallel.running import Ranks
from flashscope.kernels.context_parallel.schemes import SCHEMES, Partition, Scheme
from flashscope.kernels.oracle.verdict import Verdict
from flashscope.kernels.workload.problem import Problem
from tests.kernels.context_parallel.running import on_host, partitions, run_both

WORKLOAD = Problem(seqlen_q=400, seqlen_k=400, heads=6, kv_heads=3, head_dim=16, causal=True)
HEAD = HeadPlace(0, 1)
FEW = 4  # rows of each rank
BLOCK = 8  # keys that are spoilt together


def drawn_of(ranks: Ranks, head: HeadPlace = HEAD) -> ComparedRows:
    return draw_rows(ranks.partition, head, FEW)


def told(verdict: Verdict) -> set[str]:
    """Which outputs are wrong."""
    return {one.output for one in verdict.outputs if not one.passed}


@given(partitions())
@settings(max_examples=60)
def test_what_passes_in_all_rows_passes_in_drawn_ones(partition: Partition) -> None:
    ranks = on_host(partition)
    run_both(ranks)
    for head in (HeadPlace(0, 0), HeadPlace(partition.problem.batch - 1, partition.problem.key_heads - 1)):
        drawn = drawn_of(ranks, head)
        assert judge_forward(ranks, head, drawn).passed
        assert judge_backward(ranks, head, drawn).passed


def place_of(rank: SequenceRank, drawn: list[int], *, met: bool) -> slice:
    """A block of the rank's keys that drawn ones meet, or that none does, by its place in the arrays."""
    own = [key for stretch in rank.holding.keys for key in stretch]
    blocks = [slice(first, first + BLOCK) for first in range(0, len(own) - BLOCK, BLOCK)]
    return next(one for one in blocks if bool(set(own[one]) & set(drawn)) is met)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("name", ["dk", "dv"])
@pytest.mark.parametrize("index", range(3))
def test_an_error_in_a_block_of_keys_is_told_where_a_drawn_row_meets_it(
    scheme: Scheme, name: str, index: int
) -> None:
    for met in (True, False):
        ranks = on_host(Partition(scheme, WORKLOAD, 3))
        run_both(ranks)
        drawn, rank = drawn_of(ranks), ranks.members[index]
        getattr(rank.gradients, name)[0, HEAD.kv_head, place_of(rank, drawn.keys, met=met)] *= 1.01
        expected = {f"d{name[1].upper()} of a row"} if met else set()
        assert told(judge_backward(ranks, HEAD, drawn)) >= expected
        assert judge_backward(ranks, HEAD, drawn).passed is not met
        assert not judge_backward(ranks, HEAD).passed


def wrong_output(ranks: Ranks) -> None:
    ranks.members[1].output *= 1.01


def wrong_lse(ranks: Ranks) -> None:
    ranks.members[1].lse += 0.01


def lse_that_is_no_number(ranks: Ranks) -> None:
    ranks.members[1].lse[0, 2, -1] = np.nan  # of a query head that is judged


@pytest.mark.parametrize(
    ("spoil", "seen_in"),
    [(wrong_output, "O of a row"), (wrong_lse, "LSE of a row"), (lse_that_is_no_number, "dK of a row")],
)
def test_gradients_of_a_wrong_forward_pass_are_told_by_the_answer_that_they_rest_on(
    spoil: Callable[[Ranks], None], seen_in: str
) -> None:
    ranks = on_host(Partition("zigzag", WORKLOAD, 2))
    ranks.forward()
    spoil(ranks)
    with np.errstate(invalid="ignore"):
        ranks.backward()
        assert seen_in in told(judge_backward(ranks, HEAD, drawn_of(ranks)))
