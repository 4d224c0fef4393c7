"""What peers do not take of a problem that their dtypes, head dims and features allow, in words."""

from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.lengths import differ
from flashscope.kernels.workload.problem import UNBOUNDED, Problem

FLASHINFER_HEAD_DIMS = (64, 128, 256)  # that its kernels are made for


def of_flashinfer(problem: Problem, device: Device) -> str | None:
    """Why FlashInfer does not take the problem, None where it does.

    Its batches of several rows a sequence lie packed one behind another, as our padded arrays do not.
    """
    del device
    if problem.head_dim not in FLASHINFER_HEAD_DIMS:
        return f"flashinfer takes head dims 64, 128 and 256, not {problem.head_dim}"
    right = UNBOUNDED if problem.window is None or problem.causal else problem.window[1]
    if right > 0 and problem.seqlen_q > 1:
        return "flashinfer takes no window that ends to the right of a query"
    if differ(problem.query_lengths, problem.seqlen_q):
        return "flashinfer takes sequences of one number of query rows alone"
    if not problem.even and problem.batch > 1 and problem.seqlen_q > 1:
        return "flashinfer takes pages and lengths with one query row a sequence: more it wants packed"
    return None


def of_cudnn(problem: Problem, device: Device) -> str | None:
    """Why cuDNN does not take the problem, None where it may."""
    del device
    if problem.softmax_scale < 0:
        return "cudnn-frontend takes no scale below 0: cuDNN 9.19 answered NaN to one"
    if problem.window is not None and problem.seqlen_q > problem.seqlen_k:
        return "cudnn-frontend takes a sliding window where there are at least as many keys as queries"
    if problem.causal and problem.seqlen_q > problem.seqlen_k:
        return "cudnn-frontend takes a causal mask where there are at least as many keys as queries"
    return None
