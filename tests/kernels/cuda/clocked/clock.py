"""A clock for the emulator, which has none: one that counts whenever it is read."""

import re

from flashscope.kernels.cuda.compile import INCLUDES
from tests.kernels.cuda.emulator.build import Edits

COUNTING: Edits = (
    (
        'asm volatile("mov.u32 %0, %%clock;" : "=r"(now));',
        "static unsigned ticks = 4294967000u; now = ticks += 7;",
    ),
    (
        'asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));',
        "static unsigned long long ns = 1000000; now = ns += 3200;",
    ),
    ('asm volatile("mov.u32 %0, %%smid;" : "=r"(id));', "id = 3;"),
)


def counting_lanes() -> Edits:
    """The same for flash2's backward pass, whose lanes keep clocks."""
    header = (INCLUDES / "flash2_backward_clocks.cuh").read_text(encoding="utf-8")
    found = re.search(r'asm volatile\(\s*"\{ \.reg \.pred p;.*?\(which\)\);', header, re.DOTALL)
    assert found is not None
    return (
        *COUNTING,
        (found[0], "{ const unsigned now = clock_now(); if (threadIdx.x % 32 == which) kept = now; }"),
    )


def counting_passes() -> Edits:
    """The same for flash1, whose marks are one statement without a branch."""
    header = (INCLUDES / "flash1_clocks.cuh").read_text(encoding="utf-8")
    found = re.search(r'asm volatile\(\s*"\{ \.reg \.pred p;.*?: "memory"\);', header, re.DOTALL)
    assert found is not None
    return (*COUNTING, (found[0], "if (threadIdx.x % 32 == 0) here()[stage] = clock_now();"))


def counting_groups() -> Edits:
    """The same for warpgroups, whose marks are one statement without a branch."""
    header = (INCLUDES / "warpgroup_clocks.cuh").read_text(encoding="utf-8")
    found = re.search(r'asm volatile\(\s*"\{ \.reg \.pred p;.*?: "memory"\);', header, re.DOTALL)
    assert found is not None
    return (
        *COUNTING,
        ('asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));', "thread = threadIdx.x;"),
        (found[0], "if (reads) put(to, clock_now());"),
    )
