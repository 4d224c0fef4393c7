"""How many heads flash3's causal tiles are taken from together, so that their K and V stay in the L2."""

import math

from flashscope.kernels.catalogue.flash3_share import NARROW_HEAD
from flashscope.kernels.cuda.program import ceil_div
from flashscope.kernels.workload.problem import Problem

SHORT_KEYS = 1024
SECTIONS: tuple[tuple[float, int], ...] = ((4096, 16 << 20), (8192, 32 << 20), (math.inf, 64 << 20))
"""Bytes of K and V of the heads that causal tiles are taken from together, at most, by keys up to which:
smaller sections stay in the L2 with Q and O, and as tiles are drawn late, they cost little balance.
"""
SHORT_SECTION_BYTES = 8 << 20  # up to `SHORT_KEYS` beyond head dim 64: little is computed for each byte
GROUPED_SECTION_BYTES = 16 << 20  # of heads that share K and V, which lie in the L2 once


def section(problem: Problem) -> int:
    """Query heads whose tiles are taken together and whose K and V the L2 holds; 1 where tiles are alike."""
    group = problem.heads // problem.key_heads
    most = _section_bytes(problem) if group == 1 else group * GROUPED_SECTION_BYTES
    return alike_sections(problem, most)


def alike_sections(problem: Problem, most_bytes: int) -> int:
    """Query heads of each section of so many bytes at most, counted as if each had a K and V of its own.

    1 where tiles are alike.

    Sections are alike, or the last one has half as many at least: of few heads it would have too few tiles
    to end evenly.
    """
    if not problem.causal:
        return 1
    head_bytes = 2 * problem.seqlen_k * problem.head_dim * problem.itemsize
    heads = problem.batch * problem.heads
    taken = ceil_div(heads, ceil_div(heads, max(1, most_bytes // head_bytes)))
    while 2 * ((heads - 1) % taken + 1) < taken:
        taken -= 1
    return taken


def _section_bytes(problem: Problem) -> int:
    if problem.seqlen_k <= SHORT_KEYS and problem.head_dim > NARROW_HEAD:
        return SHORT_SECTION_BYTES
    return next(most for keys, most in SECTIONS if problem.seqlen_k <= keys)
