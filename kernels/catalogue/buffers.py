"""What a kernel allocates besides its inputs and outputs, array by array."""

from dataclasses import dataclass
from math import prod
from typing import Literal

from flashscope.kernels.workload.problem import Dtype

BufferDtype = Dtype | Literal["int32", "uint8"]
BUFFER_ITEMSIZE: dict[BufferDtype, int] = {"float32": 4, "float16": 2, "bfloat16": 2, "int32": 4, "uint8": 1}


@dataclass(frozen=True)
class Buffer:
    """One workspace array a kernel needs in device memory.

    Attributes:
        name: What it holds, in the field's symbols (S, P, m, ...).
        shape: Its shape.
        dtype: Its element type.
    """

    name: str
    shape: tuple[int, ...]
    dtype: BufferDtype

    @property
    def nbytes(self) -> int:
        """Exact size in bytes."""
        return prod(self.shape) * BUFFER_ITEMSIZE[self.dtype]
