"""What a device was seen to reach at a sweep's begin: the ceilings that its kernels work under."""

import msgspec

from flashscope.kernels.workload.problem import Dtype
from flashscope.profiles.wire.measurement import Figure

COPY = "copy_gbs"
L2_READS = "l2_gbs"
SHARED_READS = "shared_gbs"
LAST_CACHE = "last_cache_gbs"
CORE_CACHE = "core_cache_gbs"
EXPONENTIALS = "exp_gexps"
LEVELS = (SHARED_READS, CORE_CACHE, L2_READS, LAST_CACHE, COPY)
"""The memories of a device, the one that is nearest to where it computes first."""


def matmul_key(dtype: Dtype) -> str:
    """The key of the rate of matrix products in a dtype."""
    return f"matmul_{dtype}_tflops"


class Ceiling(msgspec.Struct, frozen=True, kw_only=True):
    """A rate that the device reached.

    Attributes:
        figure: The rate with the quartiles of its runs, or why there is none.
        sm_clock_mhz: Mean clock of a multiprocessor meanwhile, None where it cannot be read.
    """

    figure: Figure
    sm_clock_mhz: float | None = None


class Ceilings(msgspec.Struct, frozen=True, kw_only=True):
    """All ceilings of a device.

    Attributes:
        rates: By key: copying within memory, and on a CPU within its caches, in 10^9 bytes read and written
            a second, reads of a GPU's L2 cache and of its shared memory in 10^9 bytes a second, matrix
            products in 10^12 floating-point operations a second, exponentials in 10^9 a second.
        cache_bytes: Size of the last cache before the memory, None when unknown.
        core_cache_bytes: Size of the cache of one core of a CPU, None when unknown and on a GPU.
        took_ms: How long it took to measure them; None in older recordings.
    """

    rates: dict[str, Ceiling] = {}
    cache_bytes: int | None = None
    core_cache_bytes: int | None = None
    took_ms: float | None = None
