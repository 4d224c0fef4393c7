"""Whose arrays they are, NumPy's, CuPy's or PyTorch's: results go back as the same kind."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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

    @contextmanager
    def here(self) -> Iterator[None]:
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

    @contextmanager
    def here(self) -> Iterator[None]:
        """See `Caller`."""
        if self.backend == "cpu":
            yield
            return
        with self._array.device:
            yield

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
    tensors = [name for name, array in arrays.items() if is_tensor(array)]
    if tensors:
        if len(tensors) < len(arrays):
            _refuse_others({name: array for name, array in arrays.items() if name not in tensors})
            raise InputError(f"{_together(arrays)}, not a mixture.")
        return import_module("flashscope.kernels.library.lent").TensorCaller(arrays)  # type: ignore[no-any-return]
    _refuse_others(arrays)
    backends = {backend_of(array) for array in arrays.values()}
    if len(backends) > 1:
        raise InputError(f"{_together(arrays)}, not a mixture.")
    array = next(iter(arrays.values()))
    if backends == {"cpu"}:
        return ArrayCaller("cpu", array)
    if len({one.device.id for one in arrays.values()}) > 1:
        where = ", ".join(f"{name} on {one.device.id}" for name, one in arrays.items())
        raise InputError(f"{listed(arrays)} must be on the same GPU, not {where}.")
    return ArrayCaller("cuda", array)


def _together(arrays: Mapping[str, Any]) -> str:
    return f"{listed(arrays)} must all be NumPy arrays, all be CuPy arrays or all be PyTorch tensors"


def _refuse_others(arrays: Mapping[str, Any]) -> None:
    """Refuse what is neither NumPy's nor CuPy's."""
    for name, array in arrays.items():
        if backend_of(array) is None:
            kind = f"{type(array).__module__}.{type(array).__qualname__}".removeprefix("builtins.")
            raise InputError(
                f"{name} must be a NumPy array (CPU), a CuPy array (GPU) or a PyTorch tensor, not {kind}; "
                "numpy.asarray or cupy.from_dlpack converts it."
            )
