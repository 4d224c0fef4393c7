"""Ranks in host memory give what float64 gives, however late transfers come, and share no array."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from flashscope.kernels.context_parallel import ring, running
from flashscope.kernels.context_parallel.drawing import HeadPlace
from flashscope.kernels.context_parallel.judging import judge_forward
from flashscope.kernels.context_parallel.rank import Owned, SequenceRank
from flashscope.kernels.context_parallel.schemes import SCHEMES, Partition, Scheme, sent_bytes
from flashscope.kernels.context_parallel.steps import KeyValue, key_buffers
from flashscope.kernels.workload.problem import Problem
from tests.kernels.context_parallel.running import judged, on_host, partitions, run_both

WORKLOAD = Problem(seqlen_q=50, seqlen_k=50, heads=4, kv_heads=2, head_dim=16, causal=True)


@pytest.mark.matrix  # it takes a second
@given(partitions())
@settings(max_examples=60)
def test_both_passes_agree_with_float64(partition: Partition) -> None:
    ranks = on_host(partition, late=True)
    run_both(ranks)
    assert all(verdict.passed for verdict in judged(ranks))


@pytest.mark.matrix  # it takes a second
@given(partitions())
@settings(max_examples=40)
def test_bits_do_not_depend_on_when_a_transfer_ends(partition: Partition) -> None:
    at_once, late = on_host(partition), on_host(partition, late=True)
    for ranks in (at_once, late):
        run_both(ranks)
    for one, other in zip(at_once.members, late.members, strict=True):
        pairs = zip(
            (one.output, one.lse, *one.gradients), (other.output, other.lse, *other.gradients), strict=True
        )
        assert all(np.array_equal(a, b) for a, b in pairs)


@given(partitions())
@settings(max_examples=40)
def test_a_rank_sends_as_many_bytes_as_its_steps_say(partition: Partition) -> None:
    ranks = on_host(partition)
    ranks.forward()
    assert [one.sent_bytes for one in ranks.members] == [
        sent_bytes(partition.forward(one.index)) for one in ranks.members
    ]
    ranks.backward()
    assert [one.sent_bytes for one in ranks.members] == [
        sent_bytes(partition.backward(one.index)) for one in ranks.members
    ]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_second_run_takes_no_more_memory_and_gives_the_same_bits(scheme: Scheme) -> None:
    ranks = on_host(Partition(scheme, WORKLOAD, 2))
    run_both(ranks)
    held = [one.held_bytes for one in ranks.members]
    first = [np.array(array) for one in ranks.members for array in (one.output, one.lse, *one.gradients)]
    run_both(ranks)
    assert [one.held_bytes for one in ranks.members] == held
    again = [array for one in ranks.members for array in (one.output, one.lse, *one.gradients)]
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_rows_that_see_no_key_have_no_output_and_no_gradient(scheme: Scheme) -> None:
    problem = Problem(seqlen_q=60, seqlen_k=30, heads=4, head_dim=16, causal=True)
    ranks = on_host(Partition(scheme, problem, 4), late=True)
    run_both(ranks)
    assert all(verdict.passed for verdict in judged(ranks))
    rows, first = ranks.partition.holdings[0].rows[0], ranks.members[0]
    assert rows[-1] < 30
    assert not first.output[:, :, : len(rows)].any()
    assert np.isneginf(first.lse[:, :, : len(rows)]).all()
    assert not first.gradients.dq[:, :, : len(rows)].any()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_ranks_share_no_memory(scheme: Scheme) -> None:
    ranks = on_host(Partition(scheme, WORKLOAD, 2))
    run_both(ranks)
    first, second = ({id(base(array)) for array in arrays_of(one)} for one in ranks.members)
    assert not first & second


def arrays_of(rank: SequenceRank) -> list[np.ndarray]:
    given = [one for one in rank.owned if one is not None]
    return [*given, *rank._buffers.values(), rank.output, rank.lse, *rank.gradients]


def base(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def test_a_program_that_does_not_wait_for_what_it_was_sent_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks = on_host(Partition("ring", WORKLOAD, 2), late=True)
    monkeypatch.setattr(SequenceRank, "arrived", lambda _: None)
    with pytest.raises(RuntimeError, match="without waiting"):
        ranks.forward()


def test_one_buffer_for_what_comes_and_what_is_read_is_found_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_buffer(rank: SequenceRank, names: KeyValue, keys: int, dtype: str = "") -> KeyValue:
        return key_buffers(rank, (names[0].rstrip("01"), names[1].rstrip("01")), keys, dtype)

    monkeypatch.setattr(ring, "key_buffers", one_buffer)
    ranks = on_host(Partition("ring", replace(WORKLOAD, causal=False), 3), late=True)
    ranks.forward()
    assert not judge_forward(ranks, HeadPlace(0, 0)).passed


def test_what_nobody_takes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def deaf(rank: SequenceRank) -> Iterator[None]:
        rank.send(1 - rank.index, rank.owned.k)
        yield

    monkeypatch.setitem(running.FORWARD, "ring", deaf)
    with pytest.raises(RuntimeError, match="nobody takes"):
        on_host(Partition("ring", WORKLOAD, 2)).forward()


def test_what_is_taken_must_be_what_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    def mistaken(rank: SequenceRank) -> Iterator[None]:
        if rank.index == 0:
            rank.send(1, rank.owned.k)
        else:
            rank.receive(0, rank.buffer("too short", (1, 2, 3, 16)))
        yield

    monkeypatch.setitem(running.FORWARD, "ring", mistaken)
    with pytest.raises(RuntimeError, match="does not send what rank 1 takes"):
        on_host(Partition("ring", WORKLOAD, 2)).forward()


def test_a_program_sees_only_what_its_own_rank_owns() -> None:
    ranks = on_host(Partition("zigzag", WORKLOAD, 2))
    own = ranks.members[0].owned
    ranks.members[1].owned = Owned(*(None if one is None else np.full_like(one, np.nan) for one in own))
    walk = ring.forward(ranks.members[0])
    ranks.members[0].begin()
    next(walk)
    assert {to for to, _ in ranks.members[0].outbox} == {1}
    assert not any(np.isnan(array).any() for _, array in ranks.members[0].outbox)
