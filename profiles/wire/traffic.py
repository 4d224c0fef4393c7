"""The traffic curve of a point: what crossed the DRAM bus while one run went on, bin by bin."""

from typing import Annotated

import msgspec

WRITTEN_BACK = "dram_writeback_bytes"  # the figure of what a run left changed in the cache
BY_NCU = {"dram_bytes": "ncu_dram_bytes", "l2_bytes": "ncu_l2_bytes"}
"""Quantities that Nsight Compute has a figure of, too, and its key: where `selfcheck` has asked it."""
NCU_RUNS = 3  # that Nsight Compute counts: traffic differs from run to run where the cache is nearly full
MOST_BINS = 2000  # at most 44 KB of a point
Length = Annotated[int, msgspec.Meta(gt=0)]
Bytes = Annotated[int, msgspec.Meta(ge=0)]


class Traffic(msgspec.Struct, frozen=True, kw_only=True):
    """DRAM traffic of one run, read by hardware counters; the idle device's is not in it.

    The first bin is the one in which traffic begins: counters and kernels tell the time some 10 us apart.

    Attributes:
        bin_ns: Length of a bin.
        run_ns: How long the run took while it was counted; no timing.
        bins: Bytes read from DRAM and written to it in each bin.
    """

    bin_ns: Length
    run_ns: Length
    bins: tuple[tuple[Bytes, Bytes], ...]
