"""Correct before fast, on several ranks: one K/V head at a time is collected and compared with float64.

No single GPU need hold the problem: a K/V head with its query heads does with Q, K, V and O of its own, and
the host holds one at a time. They are judged where the first rank is, by `kernels.oracle.verify` and
`kernels.oracle.verify_gradients`: in all rows, or where these are too many in rows that
`kernels.context_parallel.drawing` draws. A row that is compared passes by the same bound in both cases.

What is compared with what in drawn rows:

- O and LSE with float64 attention of these rows, from Q, K and V alone;
- dQ with float64 gradients of these rows, from Q, K, V and dO alone;
- dK and dV with float64 gradients of these keys, from Q, K, V, dO of all rows and *the ranks' own O and LSE*,
  which are the input of a backward pass, and in float64 take O(N^2).

So a wrong O or LSE does not show in drawn rows of dK and dV. It shows in O and LSE themselves, which are
compared in drawn rows of every rank together with the gradients.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace

from flashscope.kernels.context_parallel.drawing import ComparedRows, HeadPlace
from flashscope.kernels.context_parallel.place import RankPlace
from flashscope.kernels.context_parallel.rank import SequenceRank
from flashscope.kernels.context_parallel.running import Ranks
from flashscope.kernels.oracle.reference_gradients import GradientRows
from flashscope.kernels.oracle.verdict import Verdict
from flashscope.kernels.oracle.verify import criterion
from flashscope.kernels.oracle.verify_gradients import gradient_criterion
from flashscope.kernels.workload.problem import Passes, Problem
from flashscope.kernels.workload.tensors import Gradients, Inputs


class HeadAnswer(NamedTuple):
    """What is known of a K/V head and its query heads, whole, in one place; without gradients None."""

    inputs: Inputs
    output: Any
    lse: Any
    grad_output: Any
    gradients: Gradients

    def at(self, place: RankPlace) -> "HeadAnswer":
        """The same from host memory in a place."""

        def there(array: Any) -> Any:
            return None if array is None else place.from_host(array)

        return HeadAnswer(
            Inputs(*map(there, self.inputs)),
            there(self.output),
            there(self.lse),
            there(self.grad_output),
            Gradients(*map(there, self.gradients)),
        )


def judge_forward(ranks: Ranks, head: HeadPlace, drawn: ComparedRows | None = None) -> Verdict:
    """Compare O and LSE of a K/V head with float64, in drawn rows or in all."""
    first = ranks.members[0].place
    answer = collect(ranks, head)
    with first.here():
        return _forward_verdict(ranks, answer.at(first), drawn)


def judge_backward(ranks: Ranks, head: HeadPlace, drawn: ComparedRows | None = None) -> Verdict:
    """Compare the gradients of a K/V head with float64, in all rows; in drawn ones O and LSE with them."""
    first, problem = ranks.members[0].place, _head_problem(ranks, "backward")
    answer = collect(ranks, head)
    with first.here():
        there = answer.at(first)
        given = None if drawn is None else GradientRows(*drawn, there.output, there.lse)
        judging = gradient_criterion(problem, there.inputs, there.grad_output, given)
        verdict = judging.judge(there.gradients)
        if drawn is None:
            return verdict
        outputs = (*verdict.outputs, *_forward_verdict(ranks, there, drawn).outputs)
        return verdict._replace(outputs=outputs)


def _forward_verdict(ranks: Ranks, answer: HeadAnswer, drawn: ComparedRows | None) -> Verdict:
    """What O and LSE come to."""
    problem = _head_problem(ranks, "forward")
    rows = range(problem.seqlen_q) if drawn is None else drawn.rows
    return criterion(problem, answer.inputs, rows=rows).judge(answer.output, answer.lse)


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
