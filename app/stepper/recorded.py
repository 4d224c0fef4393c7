"""Which of the traces of a session is meant."""

from collections.abc import Sequence

from flashscope.kernels.workload.backward_trace import BackwardTrace
from flashscope.kernels.workload.trace import Trace

NONE = "No trace of this kernel at this N is in this session."


def newest_trace(traces: Sequence[Trace], kernels: Sequence[str], seqlen: int | None) -> Trace | None:
    """The newest trace of the last of these kernels and of this N of queries; None: there is none.

    Args:
        traces: In the order in which they were recorded.
        kernels: Timed kernels or loop orders; empty: any.
        seqlen: None: any.
    """
    for one in reversed(traces):
        request = one.request
        if kernels and (request.kernel or request.order) != kernels[-1]:
            continue
        if seqlen in {None, request.problem.seqlen_q}:
            return one
    return None


def newest_backward(
    traces: Sequence[BackwardTrace], kernels: Sequence[str], seqlen: int | None
) -> BackwardTrace | None:
    """The same of backward passes."""
    for one in reversed(traces):
        request = one.request
        if (not kernels or request.kernel == kernels[-1]) and seqlen in {None, request.problem.seqlen_q}:
            return one
    return None
