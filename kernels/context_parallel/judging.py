"""Correct before fast, on several ranks: one K/V head at a time is collected and compared with float64.

No single GPU need hold the problem: a K/V head with its query heads does with Q, K, V and O of its own. O and
LSE are judged in rows drawn at random and in those at the ends of chunks, gradients in all rows, by
`kernels.oracle.verify` and `kernels.oracle.verify_gradients`.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from flashscope.kernels.context_parallel.rank import SequenceRank
from flashscope.kernels.context_parallel.running import Ranks
from flashscope.kernels.context_parallel.schemes import Partition
from flashscope.kernels.oracle.verdict import Verdict
from flashscope.kernels.oracle.verify import criterion
from flashscope.kernels.oracle.verify_gradients import gradient_criterion
from flashscope.kernels.workload.problem import Passes, Problem
from flashscope.kernels.workload.tensors import Gradients, Inputs


class HeadPlace(NamedTuple):
    """A K/V head of a sequence."""

    sequence: int
    kv_head: int


class HeadAnswer(NamedTuple):
    """What is known of a K/V head and its query heads, whole, in host memory; without gradients None."""

    inputs: Inputs
    output: Any
    lse: Any
    grad_output: Any
    gradients: Gradients


def judge_forward(ranks: Ranks, head: HeadPlace, rows: Sequence[int]) -> Verdict:
    """Compare O and LSE of a K/V head in these rows with float64, where the first rank is."""
    first = ranks.members[0].place
    answer = collect(ranks, head)
    with first.here():
        inputs = Inputs(*map(first.from_host, answer.inputs.qkv))
        judging = criterion(_head_problem(ranks, "forward"), inputs, rows=rows)
        return judging.judge(first.from_host(answer.output), first.from_host(answer.lse))


def judge_backward(ranks: Ranks, head: HeadPlace) -> Verdict:
    """Compare the gradients of a K/V head with float64, where the first rank is."""
    first = ranks.members[0].place
    answer = collect(ranks, head)
    with first.here():
        inputs = Inputs(*map(first.from_host, answer.inputs.qkv))
        grad_output = first.from_host(answer.grad_output)
        judging = gradient_criterion(_head_problem(ranks, "backward"), inputs, grad_output)
        return judging.judge(Gradients(*map(first.from_host, answer.gradients)))


def drawn_rows(partition: Partition, count: int, seed: int) -> list[int]:
    """So many rows drawn at random, and those on both sides of where chunks meet; sorted."""
    length = partition.problem.seqlen_q
    drawn = np.random.default_rng(seed).choice(length, min(count, length), replace=False)
    ends = {row for held in partition.holdings for one in held.rows for row in (one[0], one[-1])}
    return sorted({*map(int, drawn), *ends})


def drawn_heads(problem: Problem, count: int, seed: int) -> list[HeadPlace]:
    """So many K/V heads drawn at random."""
    of_all = problem.batch * problem.key_heads
    drawn = np.random.default_rng(seed).choice(of_all, min(count, of_all), replace=False)
    return [HeadPlace(*map(int, divmod(one, problem.key_heads))) for one in sorted(drawn)]


def collect(ranks: Ranks, head: HeadPlace) -> HeadAnswer:
    """A K/V head and its query heads, from all ranks."""
    group = ranks.partition.problem.heads // ranks.partition.problem.key_heads
    queries = range(head.kv_head * group, (head.kv_head + 1) * group)
    one_key_head = range(head.kv_head, head.kv_head + 1)

    def of_rows(part: Callable[[SequenceRank], Any]) -> Any:
        return _joined(ranks, part, head.sequence, queries, of_keys=False)

    def of_keys(part: Callable[[SequenceRank], Any]) -> Any:
        return _joined(ranks, part, head.sequence, one_key_head, of_keys=True)

    return HeadAnswer(
        Inputs(of_rows(lambda r: r.owned.q), of_keys(lambda r: r.owned.k), of_keys(lambda r: r.owned.v)),
        of_rows(lambda r: r.output),
        _lse(ranks, head.sequence, queries),
        of_rows(lambda r: r.owned.grad_output),
        Gradients(
            of_rows(lambda r: r.gradients.dq),
            of_keys(lambda r: r.gradients.dk),
            of_keys(lambda r: r.gradients.dv),
        ),
    )


def _joined(
    ranks: Ranks, part: Callable[[SequenceRank], Any], sequence: int, heads: range, *, of_keys: bool
) -> Any:
    """Rows or keys of some heads of a sequence, (1, heads, all, ...); None where ranks have none."""
    if part(ranks.members[0]) is None:
        return None
    placed = []
    for rank in ranks.members:
        with rank.place.here():
            own = rank.place.to_host(part(rank)[sequence : sequence + 1, heads.start : heads.stop])
        before = 0
        for one in rank.holding.keys if of_keys else rank.holding.rows:
            placed.append((one.start, own[:, :, before : before + len(one)]))
            before += len(one)
    return np.concatenate([found for _, found in sorted(placed, key=lambda one: one[0])], axis=2)


def _lse(ranks: Ranks, sequence: int, heads: range) -> Any:
    """LSE of some heads: with ulysses each rank has that of all rows for its own heads."""
    if ranks.partition.scheme != "ulysses":
        return _joined(ranks, lambda rank: rank.lse, sequence, heads, of_keys=False)
    found = []
    for rank in ranks.members:
        own = ranks.partition.head_share(rank.index).heads
        there = [own.index(one) for one in heads if one in own]
        if there:
            with rank.place.here():
                found.append(rank.place.to_host(rank.lse[sequence : sequence + 1, there[0] : there[-1] + 1]))
    return np.concatenate(found, axis=1)


def _head_problem(ranks: Ranks, passes: Passes) -> Problem:
    """The problem of one K/V head and its query heads."""
    whole = ranks.partition.problem
    group = whole.heads // whole.key_heads
    return replace(
        whole, batch=1, heads=group, kv_heads=None if group == 1 else 1, passes=passes, deterministic=False
    )
