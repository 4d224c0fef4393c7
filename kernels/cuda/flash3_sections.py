"""In which order flash3 takes its tiles: the longest first, of heads whose K and V fit the L2."""

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
ROWS, MORE_KEYS = 128, 128  # of a tile; of the first one than of the last
RISING_HEADS = (
    8  # of a section where first tiles have the most keys: 2 to 35 % faster than the last ones first (H100)
)


def section(problem: Problem) -> int:
    """Query heads whose tiles are taken together and whose K and V the L2 holds; 1 where tiles are alike."""
    if rises(problem):
        return min(problem.batch * problem.heads, RISING_HEADS)
    group = problem.heads // problem.key_heads
    most = _section_bytes(problem) if group == 1 else group * GROUPED_SECTION_BYTES
    return alike_sections(problem, most)


def rises(problem: Problem) -> bool:
    """Whether a head's first tiles have the most keys, as under a window without an end to the right."""
    if "window" not in problem.features or problem.features - {"window", "gqa", "head_dim_v"}:
        return False
    first, last = slice(0, ROWS), slice((problem.seqlen_q - 1) // ROWS * ROWS, problem.seqlen_q)
    return len(problem.mask.span(first)) - len(problem.mask.span(last)) >= MORE_KEYS


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
