"""Problems and cuts as hypothesis draws them."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.workspace_backward import WIDE_HEAD
from flashscope.kernels.cuda.design.knobs import KEY_GROUPS, KNOBS
from flashscope.kernels.workload.cut import BACKWARD, Cut, CutKernel
from flashscope.kernels.workload.problem import Problem

SEQLENS = (60, 256, 1000, 1024, 4096, 16384)


def problem(seqlen: int = 4096, **given: Any) -> Problem:
    """A problem in 16 bits, with 32 heads of 128 in all unless something else is given."""
    fields = {"batch": 2, "heads": 16, "head_dim": 128, "dtype": "bfloat16", **given}
    return Problem(seqlen_q=seqlen, seqlen_k=seqlen, **fields)


def problems(kernel: CutKernel) -> st.SearchStrategy[Problem]:
    """Problems without a mask or causal that a kernel takes."""
    return st.builds(
        problem,
        seqlen=st.sampled_from(SEQLENS),
        heads=st.sampled_from((1, 16)),
        head_dim=st.sampled_from(_head_dims(kernel)),
        causal=st.booleans(),
        passes=st.just("backward" if kernel.endswith(BACKWARD) else "forward"),
    )


def _head_dims(kernel: CutKernel) -> Sequence[int]:
    """Those of the catalogue, of flash3's backward pass up to where it has a kernel of its own."""
    if kernel == "flash3 backward":
        return (64, WIDE_HEAD)
    return find_kernel(kernel.removesuffix(BACKWARD)).head_dims["cuda"]


def cuts(kernel: CutKernel) -> st.SearchStrategy[Cut]:
    """Any cut of a kernel that the knobs give, whether or not it runs."""
    fields = {knob.name: st.sampled_from(knob.values) for knob in KNOBS[kernel]}
    return st.builds(Cut, kernel=st.just(kernel), **{"groups": st.just(KEY_GROUPS), **fields})
