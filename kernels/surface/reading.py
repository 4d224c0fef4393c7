"""How arrays lie in memory: read where they are, copied where that is allowed, else refused."""

from collections.abc import Mapping
from typing import Any

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.axes import BHND, written
from flashscope.kernels.workload.arrays import array_module, in_bits
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Backend

ALIGNMENT = 16  # bytes: where an array begins that our CUDA kernels read


def readable(
    arrays: Mapping[str, Any], spec: KernelSpec, backend: Backend, *, copy: bool, pages: bool = False
) -> dict[str, Any]:
    """The arrays as a kernel can read them.

    Args:
        arrays: Views by name, in the order of axes of our kernels; None for one that there is not.
        spec: The kernel.
        backend: Where they lie.
        copy: Whether those that it cannot read are copied.
        pages: Whether K and V are pages.

    Raises:
        InputError: It cannot read one, and nothing may be copied.
    """
    found = dict(arrays)
    for name, array in arrays.items():
        if array is None or _in_place(array, spec, backend, aligned=copy):
            continue
        if not copy:
            kv = pages and name in {"k", "v"}
            apart = {"lse": BHND.lse, "sinks": ("heads",)}
            axes = written(BHND.pages if kv else apart.get(name, BHND.axes))
            raise InputError(
                f"{name} must be contiguous (row-major) as {axes} for {spec.name} on {backend}, and lies in "
                f"memory in another way; copy=True copies it."
            )
        found[name] = row_major(array)
    return found


def _in_place(array: Any, spec: KernelSpec, backend: Backend, *, aligned: bool) -> bool:
    """Whether the kernel reads it where it lies; without a copy its own check tells of where it begins."""
    if backend in spec.strided:
        return True
    if not array.flags.c_contiguous:
        return False
    return backend == "cpu" or not aligned or array.data.ptr % ALIGNMENT == 0


def row_major(array: Any) -> Any:
    """A copy, row-major and from the start of an allocation."""
    return in_bits(array).copy(order="C").view(array.dtype)


def without_gaps(array: Any) -> Any:
    """The array itself where it is row-major, else a copy that is."""
    return array if array.flags.c_contiguous else row_major(array)


def filled(shape: tuple[int, ...], value: float, dtype: Any, beside: Any) -> Any:
    """A new array full of a value, in the memory of another."""
    made = array_module(beside).empty(shape, dtype)
    made.fill(value)
    return made


def put(target: Any, source: Any) -> None:
    """Write an array into a view of another of its dtype."""
    in_bits(target)[...] = in_bits(source)
