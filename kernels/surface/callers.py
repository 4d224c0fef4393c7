"""Whose arrays they are, NumPy's, CuPy's or PyTorch's: results go back as the same kind."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any, Protocol

from flashscope.kernels.catalogue.own_kernel import ArrayKind
from flashscope.kernels.launching.options import listed
from flashscope.kernels.workload.arrays import backend_of, is_tensor
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Backend


class Caller(Protocol):
    """The kind of arrays that a call was given, all of them in one memory.

    Attributes:
        backend: The backend whose memory holds them.
        arrays: The library that they are of.
    """

    backend: Backend
    arrays: ArrayKind

    def here(self) -> AbstractContextManager[Any]:
        """Make their GPU and its current stream those that work is enqueued on; nothing on the CPU."""

    def borrow(self, name: str, value: Any) -> Any:
        """An array of theirs as NumPy's or CuPy's, its memory shared; what is none of theirs as it is."""

    def give_back(self, array: Any) -> Any:
        """An array of NumPy or CuPy as one of theirs, its memory shared; None for None."""


class ArrayCaller:
    """NumPy's or CuPy's arrays, which are taken and given as they are."""

    def __init__(self, backend: Backend, array: Any) -> None:
        self.backend: Backend = backend
        self.arrays: ArrayKind = "numpy" if backend == "cpu" else "cupy"
        self._array = array

    def here(self) -> AbstractContextManager[Any]:
        """See `Caller`."""
        device: AbstractContextManager[Any] = nullcontext() if self.backend == "cpu" else self._array.device
        return device

    def borrow(self, name: str, value: Any) -> Any:
        """See `Caller`."""
        del name
        return value

    def give_back(self, array: Any) -> Any:
        """See `Caller`."""
        return array


def caller_of(arrays: Mapping[str, Any]) -> Caller:
    """Whose arrays these are, named as the user knows them.

    Raises:
        InputError: They are of another kind, of several, or not in one memory.
    """
    kinds = {name: "torch" if is_tensor(array) else backend_of(array) for name, array in arrays.items()}
    for name, kind in kinds.items():
        if kind is None:
            raise InputError(_no_array(name, arrays[name]))
    kind, *others = {*kinds.values()}
    if others:
        raise InputError(
            f"{listed(arrays)} must all be NumPy arrays, all be CuPy arrays or all be PyTorch tensors, not a "
            "mixture."
        )
    if kind == "torch":
        return import_module("flashscope.kernels.library.lent").TensorCaller(arrays)  # type: ignore[no-any-return]
    array = next(iter(arrays.values()))
    if kind == "cpu":
        return ArrayCaller("cpu", array)
    if len({one.device.id for one in arrays.values()}) > 1:
        where = ", ".join(f"{name} on {one.device.id}" for name, one in arrays.items())
        raise InputError(f"{listed(arrays)} must be on the same GPU, not {where}.")
    return ArrayCaller("cuda", array)


def _no_array(name: str, value: Any) -> str:
    """What is said of a value that is no array of either kind."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    return (
        f"{name} must be a NumPy array (CPU), a CuPy array (GPU) or a PyTorch tensor, not {kind}; "
        "numpy.asarray or cupy.from_dlpack converts it."
    )
