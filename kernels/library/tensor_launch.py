"""What wraps a library that computes on PyTorch's tensors: arrays lent to it, its memory, our stream."""

import warnings
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch

from flashscope.kernels.workload.arrays import backend_of
from flashscope.kernels.workload.tensors import Gradients, Inputs, Saved

GPU_ALLOCATOR = "torch.cuda.max_memory_allocated"
NO_RESULTS = (None, None)
CPU_ALLOCATOR = "PyTorch tells no peak on the CPU; its workspace is predicted"


class TensorRun(ABC):
    """What a library computes from arrays that its tensors share with CuPy or NumPy.

    Results are allocated anew in every run, by PyTorch's allocator.

    Attributes:
        workspace_bytes: What it held beside the outputs during one run; the prediction where that cannot be
            read.
        note: What the library has to say of itself.
        allocator: What `allocated_bytes` was read from.
        allocated_bytes: Peak of PyTorch's allocator over one run, the outputs included; None on the CPU.
        on_gpu: Whether the arrays are CuPy's.
    """

    def __init__(self, inputs: Inputs) -> None:
        self.note, self.workspace_bytes = "", 0
        self.allocated_bytes: int | None = None
        self.on_gpu = backend_of(inputs.q) == "cuda"
        self.allocator = GPU_ALLOCATOR if self.on_gpu else CPU_ALLOCATOR
        self._inputs = inputs  # kept alive: the tensors only borrow them
        self.tensors = tuple(as_tensor(array) for array in inputs.qkv)
        self.results: tuple[Any, ...] = NO_RESULTS

    @abstractmethod
    def attend(self) -> tuple[Any, ...]:
        """The results as tensors of our shapes; None where the library returns none."""

    def run(self) -> None:
        """Enqueue on CuPy's current stream; on the CPU, compute.

        Raises:
            MemoryError: PyTorch's allocator refused.
        """
        self.results = NO_RESULTS  # the outputs' memory is free to be used again
        try:
            with _cupy_stream() if self.on_gpu else nullcontext():
                self.results = self.attend()
        except torch.OutOfMemoryError as error:
            raise MemoryError(str(error)) from error

    def measure(self, predicted: int, lent_bytes: int = 0) -> None:
        """Run once more and read the allocator, without what PyTorch keeps for good since the first run.

        Args:
            predicted: Bytes of the workspace where they cannot be read.
            lent_bytes: Bytes that it was given on top of the inputs, such as a mask.
        """
        held = sum(tensor.nbytes for tensor in self.results if tensor is not None)
        if not self.on_gpu:
            self.workspace_bytes = predicted + lent_bytes
            return
        self.release()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        self.run()
        self.allocated_bytes = torch.cuda.max_memory_allocated() - before + lent_bytes
        self.workspace_bytes = self.allocated_bytes - held

    def release(self) -> None:
        """Drop the results and give PyTorch's cached memory back to the device."""
        self.results = NO_RESULTS
        if self.on_gpu:
            torch.cuda.empty_cache()


class TensorLaunch(TensorRun):
    """A library's forward pass: its results are O and LSE, None where the library returns no LSE."""

    @property
    def output(self) -> Any:
        """O of the newest run, as an array of the inputs' kind; None before there is one."""
        return as_array(self.results[0])

    @property
    def lse(self) -> Any:
        """LSE of the newest run, None before the first; None also where the library returns none."""
        return as_array(self.results[1])


class TensorBackward(TensorRun):
    """A library's backward pass through autograd: its results are dQ, dK and dV.

    Its forward pass runs once, at first, and what that left to autograd is kept; O and LSE as given are not
    used.
    """

    def __init__(self, forward: TensorLaunch, saved: Saved) -> None:
        super().__init__(saved.inputs)
        self._grad_output = as_tensor(saved.grad_output)
        self._forward = forward
        forward.tensors = self.tensors = tuple(tensor.requires_grad_() for tensor in self.tensors)

    @property
    def gradients(self) -> Gradients:
        """Those of the newest run, row-major, of the inputs' kind; None each before there are any."""
        tensors = (*self.results, None)[:3]  # one more than the two that stand for no results
        dq, dk, dv = (as_array(None if one is None else one.contiguous()) for one in tensors)
        return Gradients(dq, dk, dv)

    def attend(self) -> tuple[Any, ...]:
        """DQ, dK and dV, see TensorRun; they may lie in memory in another order of axes."""
        output = self._forward.results[0]
        gradients: tuple[Any, ...] = torch.autograd.grad(
            output, self.tensors, self._grad_output, retain_graph=True
        )
        return gradients


def _cupy_stream() -> AbstractContextManager[Any]:
    """Make PyTorch work on CuPy's current stream; nothing is done when it does already."""
    import cupy  # noqa: PLC0415 - for a GPU only

    pointer = cupy.cuda.get_current_stream().ptr
    if pointer == torch.cuda.current_stream().cuda_stream:
        return nullcontext()
    stream: AbstractContextManager[Any] = torch.cuda.stream(torch.cuda.ExternalStream(pointer))
    return stream


def as_tensor(array: Any) -> Any:
    """The array's memory as a tensor; NumPy and CuPy have bfloat16 from elsewhere, so it travels as int16."""
    if array.dtype.name == "bfloat16":
        return as_tensor(array.view("int16")).view(torch.bfloat16)
    if backend_of(array) == "cuda":
        return torch.from_dlpack(array)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a read-only array, which is only read
        return torch.from_numpy(array)


def as_array(tensor: Any) -> Any:
    """The tensor's memory as an array of its kind; None for None."""
    if tensor is None:
        return None
    if tensor.dtype is torch.bfloat16:
        import ml_dtypes  # noqa: PLC0415 - for bfloat16 only

        return as_array(tensor.view(torch.int16)).view(ml_dtypes.bfloat16)
    if not tensor.is_cuda:
        return tensor.numpy()
    import cupy  # noqa: PLC0415 - for a GPU only

    return cupy.from_dlpack(tensor)
