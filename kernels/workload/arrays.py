"""NumPy and CuPy arrays handled alike, importing neither before an array of its kind exists."""

import sys
from importlib import import_module
from typing import Any

from flashscope.kernels.workload.problem import Backend

_BACKENDS: dict[str, Backend] = {"numpy": "cpu", "cupy": "cuda"}


def backend_of(array: object) -> Backend | None:
    """The backend whose memory holds the array; None when it is neither a NumPy nor a CuPy array."""
    kind = type(array)
    return _BACKENDS.get(kind.__module__.partition(".")[0]) if kind.__name__ == "ndarray" else None


def is_tensor(value: object) -> bool:
    """Whether it is a tensor of PyTorch: there is none before somebody has imported that."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, getattr(torch, "Tensor", ()))


def on_host(array: Any) -> Any:
    """The numbers as a NumPy array of float64."""
    wide = _castable(array)
    host = wide if backend_of(wide) == "cpu" else wide.get()
    return host.astype("float64", copy=False)


def bits_of(array: Any) -> Any:
    """The bytes of an array without gaps, as a NumPy array of uint8 of its own."""
    found = array.view("uint8")
    return found.copy() if backend_of(array) == "cpu" else found.get()


def in_bits(array: Any) -> Any:
    """The same memory as whole numbers of its width: neither library computes with every dtype."""
    return array.view(f"uint{8 * array.itemsize}")


def flip_signs(array: Any, where: Any) -> None:
    """Give numbers the other sign, in place and exactly, whatever their dtype.

    Args:
        array: float32, float16 or bfloat16.
        where: Which, a NumPy array of bool that broadcasts to its shape.
    """
    bits = in_bits(array)
    bits ^= array_module(array).asarray(where.astype(bits.dtype) << (8 * array.itemsize - 1))


def in_float64(array: Any) -> Any:
    """The numbers in float64, where they are."""
    return _castable(array).astype("float64", copy=False)


def _castable(array: Any) -> Any:
    """The numbers in a dtype that casts to float64: CuPy casts bfloat16 to float32 alone."""
    return array if array.dtype == "float64" else array.astype("float32")


def array_module(array: object) -> Any:
    """The module of an array: `numpy` or `cupy`."""
    return import_module(type(array).__module__.partition(".")[0])
