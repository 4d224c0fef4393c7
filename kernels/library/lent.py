"""PyTorch's tensors lent to our kernels: their memory is shared, and so is PyTorch's current stream."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

import torch

from flashscope.kernels.catalogue.own_kernel import ArrayKind
from flashscope.kernels.launching.options import listed
from flashscope.kernels.library.tensor_launch import as_array, as_tensor
from flashscope.kernels.workload.arrays import is_tensor
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import Backend

PLAIN = (
    torch.Tensor,
    torch.nn.Parameter,
)  # other classes of tensors need not lie in memory as their shape says


class StreamHandle(NamedTuple):
    """A stream of PyTorch by the protocol that CuPy takes streams by.

    Attributes:
        pointer: The cudaStream_t; 0 is the default stream.
    """

    pointer: int

    def __cuda_stream__(self) -> tuple[int, int]:
        """The protocol's version, and the stream."""
        return 0, self.pointer


class TensorCaller:
    """Tensors of one device; see `kernels.surface.callers.Caller`.

    Attributes:
        backend: The backend whose memory holds them.
        arrays: The library that they are of.
    """

    arrays: ArrayKind = "torch"

    def __init__(self, tensors: Mapping[str, Any]) -> None:
        """Look at the tensors that a call is about, by name.

        Raises:
            InputError: One cannot be lent, or they are on several devices; the text says what is accepted.
        """
        for name, tensor in tensors.items():
            _check_plain(name, tensor)
        places = {name: tensor.device for name, tensor in tensors.items()}
        if len({*places.values()}) > 1:
            where = ", ".join(f"{name} on {place}" for name, place in places.items())
            raise InputError(f"{listed(tensors)} must be on the same device, not {where}.")
        self._device = next(iter(places.values()))
        self.backend: Backend = "cpu" if self._device.type == "cpu" else "cuda"

    @contextmanager
    def here(self) -> Iterator[None]:
        """Make PyTorch's current stream of their GPU CuPy's.

        Raises:
            DeviceUnavailableError: They are on a GPU and CuPy is missing; the text names the remedy.
        """
        if self.backend == "cpu":
            yield
            return
        import_module("flashscope.kernels.cuda.device").describe()  # says what is missing
        import cupy  # noqa: PLC0415 - for a GPU only

        stream = StreamHandle(torch.cuda.current_stream(self._device).cuda_stream)
        with cupy.cuda.Device(self._device.index), cupy.cuda.Stream.from_external(stream):
            yield

    def borrow(self, name: str, value: Any) -> Any:
        """A tensor as an array of NumPy or CuPy that shares its memory; what is no tensor as it is.

        Raises:
            InputError: It cannot be lent; the text says what is accepted.
        """
        if not is_tensor(value):
            return value
        _check_plain(name, value)
        try:
            return as_array(value.detach())
        except ImportError as error:
            raise UnsupportedError(
                f"{name} is bfloat16, which NumPy and CuPy have from ml_dtypes alone: pip install ml-dtypes."
            ) from error
        except (TypeError, RuntimeError, BufferError) as error:
            said = str(error).partition("\n")[0].rstrip(".")
            raise InputError(f"{name} cannot be shared as an array: {said}.") from error

    def give_back(self, array: Any) -> Any:
        """An array as a tensor that shares its memory; None for None."""
        return None if array is None else as_tensor(array)


def _check_plain(name: str, tensor: Any) -> None:
    """Refuse a tensor whose memory is not that of an array, or whose gradient would be lost in silence."""
    if type(tensor) not in PLAIN or tensor.layout is not torch.strided:
        kind = f"{type(tensor).__module__}.{type(tensor).__qualname__}"
        raise InputError(f"{name} must be a dense torch.Tensor, not {tensor.layout} {kind}.")
    if tensor.device.type not in {"cpu", "cuda"}:
        raise InputError(f"{name} must be on the CPU or on a CUDA GPU, not on {tensor.device}.")
    if tensor.requires_grad and torch.is_grad_enabled():
        raise InputError(
            f"{name} requires grad, and autograd does not record what runs here: pass {name}.detach() and "
            "take the gradients by attention_backward, or call under torch.no_grad()."
        )
