"""Tensor maps: what the Tensor Memory Accelerator of Hopper must know of an array to copy boxes of it.

The driver writes them (CUDA Driver API, Tensor Map Object Management: cuTensorMapEncodeTiled); a kernel takes
them by value.
"""

import ctypes
from enum import IntEnum
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from flashscope.kernels.cuda.driver import cause_of, driver
from flashscope.kernels.workload.errors import KernelError

MAP_BYTES = 128  # of a CUtensorMap
MAP_ALIGNMENT = 128  # where it is written; the driver asks for 64
MOST_KEPT = 256  # maps
PANEL = 64  # columns of a box: 128 bytes, the widest swizzle


class DataType(IntEnum):
    """CUtensorMapDataType."""

    FLOAT16 = 6
    BFLOAT16 = 9


class Interleave(IntEnum):
    """CUtensorMapInterleave."""

    NONE = 0


class Swizzle(IntEnum):
    """CUtensorMapSwizzle."""

    BYTES_128 = 3


class L2Promotion(IntEnum):
    """CUtensorMapL2promotion."""

    BYTES_128 = 2


class Fill(IntEnum):
    """CUtensorMapFloatOOBfill: what is read beyond the array."""

    ZERO = 0


def encode_tensor_map(array: Any, rows: int, pack_gqa: int = 1) -> Any:
    """The tensor map of an array for boxes of rows, as a NumPy scalar that CuPy passes by value.

    Args:
        array: CuPy (batch, heads, seqlen, head_dim) of 16 bits, contiguous, 16-byte aligned. Its map
            has three dimensions, batch and heads in one, so that rows beyond a head's last are zeros.
        rows: Rows of a box, at most 256; its columns are 64.
        pack_gqa: Neighbouring heads that are taken as one of as many times the rows.

    Raises:
        KernelError: The driver refused.
    """
    batch, heads, seqlen, head_dim = array.shape
    shape = (batch, heads // pack_gqa, pack_gqa * seqlen, head_dim)
    return _encoded(array.data.ptr, shape, array.dtype, rows)


@lru_cache(maxsize=MOST_KEPT)
def _encoded(address: int, shape: tuple[int, int, int, int], dtype: Any, rows: int) -> Any:
    """Kept: a map says nothing but this, whichever array lies at the address, so it never grows stale."""
    batch, heads, seqlen, head_dim = shape
    row_bytes = head_dim * dtype.itemsize
    buffer = aligned_buffer()
    status = driver().cuTensorMapEncodeTiled(
        ctypes.c_void_p(buffer.ctypes.data),
        DataType[dtype.name.upper()],
        3,
        ctypes.c_void_p(address),
        (ctypes.c_uint64 * 3)(head_dim, seqlen, batch * heads),
        (ctypes.c_uint64 * 2)(row_bytes, seqlen * row_bytes),
        (ctypes.c_uint32 * 3)(PANEL, rows, 1),
        (ctypes.c_uint32 * 3)(1, 1, 1),
        *(Interleave.NONE, Swizzle.BYTES_128, L2Promotion.BYTES_128, Fill.ZERO),
    )
    if status:
        raise KernelError(
            f"The driver cannot describe this array for copies by TMA: {cause_of(status)}; choose flash2."
        )
    return buffer.view(f"V{MAP_BYTES}")[0]


def aligned_buffer() -> npt.NDArray[np.uint8]:
    """Zeros for one tensor map, where the driver may write it."""
    room = np.zeros(MAP_BYTES + MAP_ALIGNMENT, np.uint8)
    start = -room.ctypes.data % MAP_ALIGNMENT
    return room[start : start + MAP_BYTES]
