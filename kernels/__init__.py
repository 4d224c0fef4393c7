"""Attention kernels: what runs. No Qt, no storage, no clock.

    from kernels import KERNELS, Problem, attention, attention_backward

    output, lse = attention(q, k, v, kernel="flash2", causal=True, return_lse=True)
    dq, dk, dv = attention_backward(q, k, v, output, lse, grad_output, kernel="flash2", causal=True)

Importing this is cheap: NumPy, CuPy and the kernels themselves are imported when they are used.
"""

from kernels.block_mask import BlockMask
from kernels.problem import Problem
from kernels.registry import KERNELS, choose_backward, choose_kernel
from kernels.surface import attention, attention_backward

__all__ = [
    "KERNELS",
    "BlockMask",
    "Problem",
    "attention",
    "attention_backward",
    "choose_backward",
    "choose_kernel",
]
