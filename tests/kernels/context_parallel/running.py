"""Run a problem on ranks in host memory, and judge what comes of it."""

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from msgspec.structs import replace

from flashscope.kernels.context_parallel.cutting import cut
from flashscope.kernels.context_parallel.drawing import HeadPlace
from flashscope.kernels.context_parallel.host import HostChannel, HostPlace
from flashscope.kernels.context_parallel.judging import judge_backward, judge_forward
from flashscope.kernels.context_parallel.running import Ranks
from flashscope.kernels.context_parallel.schemes import SCHEMES, Partition, Scheme
from flashscope.kernels.launching.launch import make_grad_output, make_inputs
from flashscope.kernels.oracle.verdict import Verdict
from flashscope.kernels.workload.errors import KernelError
from flashscope.kernels.workload.problem import Problem


def on_host(partition: Partition, *, late: bool = False, drawn: Problem | None = None) -> Ranks:
    """Ranks in host memory; the inputs are those of `drawn`, or of the problem."""
    problem = drawn or partition.problem
    owned = cut(partition, make_inputs(problem, "cpu"), make_grad_output(problem, "cpu"))
    return Ranks(partition, [HostPlace() for _ in owned], owned, HostChannel(late=late))


def run_both(ranks: Ranks) -> None:
    """Both passes; floating-point accidents other than underflow raise."""
    with np.errstate(all="raise", under="ignore"):
        ranks.forward()
        ranks.backward()


def judged(ranks: Ranks) -> list[Verdict]:
    """All heads and rows against float64."""
    problem = ranks.partition.problem
    heads = [HeadPlace(*one) for one in np.ndindex(problem.batch, problem.key_heads)]
    forward = [judge_forward(ranks, head) for head in heads]
    return [*forward, *(judge_backward(ranks, head) for head in heads)]


@st.composite
def partitions(draw: st.DrawFn, schemes: tuple[Scheme, ...] = SCHEMES, most_ranks: int = 8) -> Partition:
    """Partitions that are possible, of small problems."""
    group, kv_heads = draw(st.sampled_from([(1, 1), (1, 4), (2, 2), (4, 1), (2, 4), (3, 1), (8, 1)]))
    seqlen_k = draw(st.integers(2, 70))
    problem = Problem(
        batch=draw(st.integers(1, 2)),
        seqlen_q=draw(st.sampled_from([seqlen_k, draw(st.integers(2, 70))])),
        seqlen_k=seqlen_k,
        heads=group * kv_heads,
        kv_heads=kv_heads,
        head_dim=16,
        causal=draw(st.booleans()),
        seed=draw(st.integers(0, 99)),
    )
    try:
        return Partition(draw(st.sampled_from(schemes)), problem, draw(st.integers(1, most_ranks)))
    except KernelError:
        assume(False)
        raise


def both_passes(partition: Partition) -> Partition:
    """The same, gradients asked for."""
    return Partition(partition.scheme, replace(partition.problem, passes="both"), partition.ranks)
