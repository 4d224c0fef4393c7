"""The CUDA driver's library, for what CuPy does not pass on."""

import ctypes
import os
from functools import cache

LIBRARY = "nvcuda.dll" if os.name == "nt" else "libcuda.so.1"


@cache
def driver() -> ctypes.CDLL:
    """The library, opened once."""
    return ctypes.CDLL(LIBRARY)


def cause_of(status: int) -> str:
    """What the driver says of a call that did not answer 0."""
    text = ctypes.c_char_p()
    unknown = driver().cuGetErrorString(ctypes.c_int(status), ctypes.byref(text))
    words = None if unknown else text.value
    return f"{words.decode() if words else 'unknown'} (CUDA error {status})"
