"""A clock for the emulator, which has none: one that counts whenever it is read; and what it has to tell."""

import re

from flashscope.kernels.cuda.clocks import WarpBars
from flashscope.kernels.cuda.compile import INCLUDES
from tests.kernels.cuda.emulator.build import Edits

RAN_ON = 3  # of the SMs the one whose number all blocks read
COUNTING: Edits = (
    (
        'asm volatile("mov.u32 %0, %%clock;" : "=r"(now));',
        "static unsigned ticks = 4294967000u; now = ticks += 7;",
    ),
    (
        'asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));',
        "static unsigned long long ns = 1000000; now = ns += 3200;",
    ),
    ('asm volatile("mov.u32 %0, %%smid;" : "=r"(id));', f"id = {RAN_ON};"),
)


def counting_lanes() -> Edits:
    """The same for flash2, whose lanes keep clocks."""
    header = (INCLUDES / "lane_clocks.cuh").read_text(encoding="utf-8")
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


def assert_in_order(bars: WarpBars) -> None:
    """Lane by lane, in each one behind the other, on the SM that ran."""
    assert (bars.end >= bars.begin).all()
    same = bars.lane[1:] == bars.lane[:-1]
    assert (bars.lane[1:] >= bars.lane[:-1]).all()
    assert (bars.begin[1:] >= bars.end[:-1])[same].all()
    assert set((bars.lane // len(bars.lanes)).tolist()) == {RAN_ON}
