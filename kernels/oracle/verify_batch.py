"""Judge a batch of different lengths, or one whose keys lie in pages: each sequence for itself.

A sequence is compared with the oracle on its own rows and keys, gathered from their pages; see
`kernels.oracle.verify`. All that is padding must be exactly O = 0 and LSE = -inf.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from flashscope.kernels.oracle.verdict import OF_A_ROW, Deviation, Judging, Verdict
from flashscope.kernels.workload.arrays import array_module, on_host
from flashscope.kernels.workload.lengths import pages_for
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs


class BatchCriterion(NamedTuple):
    """What a batch is judged by.

    Attributes:
        problem: What is computed.
        sequences: What each sequence that has rows and keys is judged by, by its place in the batch.
    """

    problem: Problem
    sequences: Mapping[int, Judging]

    def judge(self, output: Any, lse: Any) -> Verdict:
        """Compare O and LSE with the oracle: of every output the worst of all sequences and of padding."""
        found, rows = list[Deviation](), 0
        for b, judge in self.sequences.items():
            own = slice(b, b + 1), slice(None), slice(self.problem.row_counts[b])
            verdict = judge.judge(output[own], None if lse is None else lse[own])
            found += [_of_sequence(one, b) for one in verdict.outputs]
            rows += verdict.rows
        return Verdict(tuple(_worst([*found, *_padding(self.problem, output, lse)])), rows)


def sequence_inputs(problem: Problem, inputs: Inputs, b: int) -> Inputs:
    """Q, K and V of one sequence without padding, (1, heads, length, head_dim), keys gathered from pages."""
    rows, keys, size = problem.row_counts[b], problem.key_counts[b], problem.page_size
    q = inputs.q[b : b + 1, :, :rows]
    if size is None:
        return inputs._replace(q=q, **{name: getattr(inputs, name)[b : b + 1, :, :keys] for name in "kv"})
    used = inputs.page_table[b, : pages_for(keys, size)]
    k, v = (_joined(x[used])[:, :, :keys] for x in (inputs.k, inputs.v))
    return inputs._replace(q=q, k=k, v=v, page_table=None)


def _joined(pages: Any) -> Any:
    """Pages (n, kv_heads, page_size, d) as (1, kv_heads, n * page_size, d)."""
    count, heads, size, width = pages.shape
    return pages.transpose(1, 0, 2, 3).reshape(1, heads, count * size, width)


def _of_sequence(one: Deviation, b: int) -> Deviation:
    """An error in a sequence as one in the batch."""
    return one if one.place is None else one._replace(place=(b, *one.place[1:]))


def _worst(found: Iterable[Deviation]) -> Iterator[Deviation]:
    """Of each output the error that uses most of its bound, in their usual order."""
    by_output: dict[str, list[Deviation]] = {}
    for one in found:
        by_output.setdefault(one.output, []).append(one)
    return (max(several, key=lambda one: one.used) for several in by_output.values())


def _padding(problem: Problem, output: Any, lse: Any) -> Iterator[Deviation]:
    """The errors of rows that are padding, O = 0 and LSE = -inf; none passes."""
    for b in range(problem.batch):
        first = problem.row_counts[b] if b in problem.sequences else 0
        if first < problem.seqlen_q:
            yield from _errors("O", abs(output[b, :, first:].astype("float32")).max(axis=-1), b, first)
            if lse is not None:
                xp = array_module(lse)
                wrong = xp.where(xp.isneginf(lse[b, :, first:]), xp.float32(0), xp.float32("inf"))
                yield from _errors("LSE", wrong, b, first)


def _errors(output: str, errors: Any, b: int, first: int) -> Iterator[Deviation]:
    """The largest of the errors (heads, R) of the rows from `first` on, by itself and with its place."""
    errors = on_host(errors)
    head, row = divmod(int(errors.argmax()), errors.shape[1])
    yield Deviation(output, float(errors[head, row]), 0.0)
    yield Deviation(output + OF_A_ROW, float(errors[head, row]), 0.0, (b, head, first + row))
