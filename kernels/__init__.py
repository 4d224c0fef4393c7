"""Attention kernels: what runs. No Qt, no storage, no clock.

    from kernels import KERNELS, Problem, attention

    output, lse = attention(q, k, v, kernel="flash2", causal=True, return_lse=True)

Importing this is cheap: NumPy, CuPy and the kernels themselves are imported when they are used.
"""

from kernels.problem import Problem
from kernels.registry import KERNELS
from kernels.surface import attention

__all__ = ["KERNELS", "Problem", "attention"]
