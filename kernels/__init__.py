"""Attention kernels: what runs. No Qt, no storage, no clock.

    from flashscope.kernels import KERNELS, Problem, attention, attention_backward

    output, lse = attention(q, k, v, kernel="flash2", causal=True, return_lse=True)
    dq, dk, dv = attention_backward(q, k, v, output, lse, grad_output, kernel="flash2", causal=True)

Importing this is cheap: NumPy, CuPy and the kernels themselves are imported when they are used.
"""

from flashscope.kernels.catalogue.registry import KERNELS, choose_backward, choose_kernel
from flashscope.kernels.surface.backward import attention_backward
from flashscope.kernels.surface.forward import attention
from flashscope.kernels.surface.options import AttentionOptions, BackwardOptions, KernelLike, SharedOptions
from flashscope.kernels.surface.sinks import sink_gradient
from flashscope.kernels.surface.transformers import register_transformers
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.problem import Problem

__all__ = [
    "KERNELS",
    "AttentionOptions",
    "BackwardOptions",
    "BlockMask",
    "KernelLike",
    "Problem",
    "SharedOptions",
    "attention",
    "attention_backward",
    "choose_backward",
    "choose_kernel",
    "register_transformers",
    "sink_gradient",
]
