"""Arrays from a file: their shapes, kinds and bytes have to fit together before anything reads them."""

import math
from typing import Any

from flashscope.kernels.workload.trace import Array

BYTES = frozenset({"|u1"})
INTEGERS = frozenset({"<i4", "<i8"})
FLOATS = frozenset({"<f4", "<f8"})


def check_array(name: str, array: Array, shape: tuple[int, ...], dtypes: frozenset[str]) -> None:
    """Refuse an array of another shape or kind, or one whose bytes are more or fewer than these say.

    Raises:
        ValueError: It is one; the text has the numbers.
    """
    held = math.prod(array.shape) * int(array.dtype[2:]) if array.dtype in dtypes else -1
    if array.shape != shape or held != len(array.data):
        raise ValueError(
            f"{name} has shape {array.shape} and {len(array.data)} bytes of {array.dtype!r} "
            f"where its shape must be {shape}"
        )


def check_range(name: str, numbers: Any, least: int, most: int) -> None:
    """Refuse integers of which one lies beyond these ends.

    Raises:
        ValueError: One does.
    """
    if numbers.size and not (least <= int(numbers.min()) and int(numbers.max()) <= most):
        raise ValueError(f"{name} beyond {least} to {most}")
