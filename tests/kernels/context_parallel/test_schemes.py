"""Schemes as data: every pair is some rank's, in blocks that kernels take, and bytes are exact."""

import numpy as np
import pytest
from hypothesis import given, settings

from flashscope.kernels.context_parallel.schemes import (
    SCHEMES,
    Partition,
    RankStep,
    Scheme,
    sent_bytes,
)
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import Problem
from tests.kernels.context_parallel.running import partitions

CAUSAL = Problem(seqlen_q=64, seqlen_k=64, heads=8, kv_heads=4, causal=True)
K_AND_V = 2 * 4 * 64 * 4  # bytes of a token: both, heads, head dim, float32


def kept(problem: Problem) -> np.ndarray:
    """Which pairs the mask keeps."""
    all_of_them = np.ones((problem.seqlen_q, problem.seqlen_k), int)
    return np.tril(all_of_them, problem.seqlen_k - problem.seqlen_q) if problem.causal else all_of_them


def counted(partition: Partition, rank: int, step: RankStep) -> np.ndarray:
    """How often a step computes each pair of the whole problem."""
    problem, found = (
        partition.problem,
        np.zeros((partition.problem.seqlen_q, partition.problem.seqlen_k), int),
    )
    by_heads = partition.scheme == "ulysses"
    rows = [range(problem.seqlen_q)] if by_heads else partition.holdings[rank].rows
    row_at = np.concatenate([np.array(one) for one in rows])
    key_at = np.sort(
        np.concatenate([np.array(one) for of in step.keys_of for one in partition.holdings[of].keys])
    )
    for block in step.blocks:
        for place, row in enumerate(block.rows):
            seen = block.keys - len(block.rows) + place + 1 if block.causal else block.keys
            found[row_at[row], key_at[:seen]] += 1
    return found


@given(partitions())
@settings(max_examples=200)
def test_every_pair_that_is_kept_is_computed_once(partition: Partition) -> None:
    found = np.zeros_like(kept(partition.problem))
    for rank in range(partition.ranks):
        for step in partition.forward(rank):
            found += counted(partition, rank, step) if step.keys_of else 0
    times = partition.ranks if partition.scheme == "ulysses" else 1  # there each has heads of its own
    assert (found == times * kept(partition.problem)).all()


@given(partitions())
def test_rows_of_a_step_are_in_one_block_at_most_and_see_a_key(partition: Partition) -> None:
    for rank in range(partition.ranks):
        for step in partition.forward(rank):
            rows = [row for block in step.blocks for row in block.rows]
            assert len(rows) == len(set(rows))
            assert all(block.keys >= (len(block.rows) if block.causal else 1) for block in step.blocks)


@pytest.mark.parametrize("ranks", range(1, 9))
def test_zigzag_gives_all_ranks_the_same_pairs_in_every_step(ranks: int) -> None:
    partition = Partition("zigzag", Problem(seqlen_q=16 * ranks, seqlen_k=16 * ranks, causal=True), ranks)
    steps = zip(*map(partition.forward, range(ranks)), strict=True)
    assert all(len({step.pairs for step in of_ranks}) == 1 for of_ranks in steps)


def test_zigzag_takes_one_launch_a_step() -> None:
    partition = Partition("zigzag", CAUSAL, 4)
    assert {len(step.blocks) for rank in range(4) for step in partition.forward(rank)} == {1}


def test_a_rank_of_the_contiguous_ring_has_no_product_while_later_keys_pass() -> None:
    first = Partition("ring", CAUSAL, 4).forward(0)
    assert [len(step.blocks) for step in first] == [1, 0, 0, 0]


@pytest.mark.parametrize("scheme", ["ring", "zigzag", "all-gather"])
def test_forward_a_rank_sends_the_keys_of_all_but_one(scheme: Scheme) -> None:
    assert sent_bytes(Partition(scheme, CAUSAL, 4).forward(1)) == 3 * 16 * K_AND_V


def test_backward_sums_of_gradients_go_all_the_way_round() -> None:
    assert sent_bytes(Partition("ring", CAUSAL, 4).backward(1)) == (3 + 4) * 16 * K_AND_V
    assert sent_bytes(Partition("all-gather", CAUSAL, 4).backward(1)) == (3 + 3) * 16 * K_AND_V


def test_ulysses_sends_less_the_more_ranks_there_are() -> None:
    tokens, of_heads = 16, 2  # of a rank, of another rank's heads
    q_and_o, keys = 2 * of_heads * 64 * 4, 2 * 1 * 64 * 4
    assert sent_bytes(Partition("ulysses", CAUSAL, 4).forward(0)) == 3 * tokens * (q_and_o + keys)


def test_ulysses_replicates_heads_that_are_fewer_than_ranks() -> None:
    problem = Problem(seqlen_q=64, seqlen_k=64, heads=8, kv_heads=2)
    shares = [Partition("ulysses", problem, 4).head_share(rank) for rank in range(4)]
    assert [list(one.kv_heads) for one in shares] == [[0], [0], [1], [1]]


@pytest.mark.parametrize(
    ("scheme", "problem", "ranks", "words"),
    [
        ("ulysses", Problem(seqlen_q=64, seqlen_k=64, heads=6), 4, "heads in equal parts"),
        ("ulysses", Problem(seqlen_q=64, seqlen_k=64, heads=12, kv_heads=3), 4, "multiple or a divisor"),
        ("ring", Problem(seqlen_q=64, seqlen_k=64, window=(8, 0)), 2, "plain and causal"),
    ],
)
def test_what_a_scheme_cannot_share_is_refused(
    scheme: Scheme, problem: Problem, ranks: int, words: str
) -> None:
    with pytest.raises(UnsupportedError, match=words):
        Partition(scheme, problem, ranks)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_sequence_shorter_than_its_chunks_is_refused(scheme: Scheme) -> None:
    with pytest.raises(InputError, match="chunks"):
        Partition(scheme, Problem(seqlen_q=3, seqlen_k=3, heads=8), 8)


def test_a_scheme_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="zigzag"):
        Partition("star", CAUSAL, 2)  # type: ignore[arg-type]
