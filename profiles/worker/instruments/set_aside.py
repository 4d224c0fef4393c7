"""Takes back what a kernel set aside of the L2 cache: every sample finds the same cache (CUDA driver API).

A stretch of memory that a kernel lets persist in L2 outlives the writes that flush it, and the part of the
cache that is set aside for such stretches is taken from every other kernel.
"""

import ctypes
from typing import Any

from flashscope.kernels.cuda.driver import cause_of, driver

PERSISTING_L2_CACHE_SIZE = 6  # CUlimit
ACCESS_POLICY_WINDOW = 1  # CUstreamAttrID
ATTRIBUTE_BYTES = 64  # of CUstreamAttrValue


class AccessPolicyWindow(ctypes.Structure):
    """CUaccessPolicyWindow, padded to the union that it is a member of."""

    _fields_ = (
        ("base_ptr", ctypes.c_void_p),
        ("num_bytes", ctypes.c_size_t),
        ("hit_ratio", ctypes.c_float),
        ("hit_property", ctypes.c_int),
        ("miss_property", ctypes.c_int),
        ("rest", ctypes.c_byte * (ATTRIBUTE_BYTES - 28)),
    )


def give_back_l2(stream: int) -> None:
    """End the window of a stream, let nothing persist in L2 any more and set none of it aside.

    Args:
        stream: Pointer of the stream that kernels run in.

    Raises:
        RuntimeError: The driver refuses.
    """
    library, window = driver(), AccessPolicyWindow()
    asked = ctypes.c_void_p(stream), ctypes.c_int(ACCESS_POLICY_WINDOW), ctypes.byref(window)
    if library.cuStreamGetAttribute(*asked) == 0 and window.num_bytes:
        window.num_bytes = 0
        _done(library.cuStreamSetAttribute(*asked))
    if l2_set_aside():
        _done(library.cuCtxResetPersistingL2Cache())
        _done(library.cuCtxSetLimit(ctypes.c_int(PERSISTING_L2_CACHE_SIZE), ctypes.c_size_t(0)))


def l2_set_aside() -> int:
    """Bytes of the L2 cache that are set aside for memory that persists; 0 on GPUs without such a limit."""
    kept, limit = ctypes.c_size_t(), ctypes.c_int(PERSISTING_L2_CACHE_SIZE)
    return kept.value if driver().cuCtxGetLimit(ctypes.byref(kept), limit) == 0 else 0


def l2_window(stream: int) -> int:
    """Bytes of the window of a stream whose lines persist in the L2 cache; 0: there is none.

    Args:
        stream: Pointer of the stream.
    """
    window = AccessPolicyWindow()
    asked = ctypes.c_void_p(stream), ctypes.c_int(ACCESS_POLICY_WINDOW), ctypes.byref(window)
    return int(window.num_bytes) if driver().cuStreamGetAttribute(*asked) == 0 else 0


def _done(status: Any) -> None:
    if status:
        raise RuntimeError(f"What a kernel set aside of the L2 cache stays so: {cause_of(status)}.")
