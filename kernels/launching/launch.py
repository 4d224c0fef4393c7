"""From a spec and arrays to something that can be run again and again."""

from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.kernels.workload.tensors import Gradients, Inputs, Saved


class Launch(Protocol):
    """A kernel bound to its arrays, compiled and allocated, ready to run.

    Attributes:
        output: O, same shape and dtype as Q; valid after `run`, None before it where a library allocates it.
        lse: Natural log-sum-exp of the scores as they are before the softmax, and of the head's sink where
            there is one, float32 (batch, heads, seqlen_q); valid after
            `run`, None before it where a library allocates it, and where the library returns none.
        workspace_bytes: Bytes held beside inputs and outputs.
        note: What was chosen and why, in words; empty when nothing was left to choose.
    """

    workspace_bytes: int
    note: str

    @property
    def output(self) -> Any:
        """O, see above."""

    @property
    def lse(self) -> Any:
        """LSE, see above."""

    def run(self) -> None:
        """Compute O and LSE once; on CUDA this enqueues on the current stream and returns."""


class BackwardLaunch(Protocol):
    """The backward pass of a kernel bound to its arrays, compiled and allocated, ready to run.

    What a forward pass would have left beside O and LSE, such as P, is made while it is prepared.

    Attributes:
        gradients: dQ, dK and dV in the dtype of Q; valid after `run`.
        workspace_bytes: Bytes held beside `Saved` and the gradients.
        note: What was chosen and why, in words; empty when nothing was left to choose.
    """

    workspace_bytes: int
    note: str

    @property
    def gradients(self) -> Gradients:
        """See above."""

    def run(self) -> None:
        """Compute them once; on CUDA this enqueues on the current stream and returns."""


@runtime_checkable
class LibraryLaunch(Protocol):
    """A launch, of either pass, of a library that allocates for itself.

    Attributes:
        allocator: What `allocated_bytes` was read from, in words, or why it could not be.
        allocated_bytes: The high-water mark of the library's own allocator over one run, outputs included;
            None: it cannot be read.
    """

    allocator: str
    allocated_bytes: int | None

    def release(self) -> None:
        """Drop the outputs and give back what the library's allocator keeps cached."""


@runtime_checkable
class RenewedBackward(BackwardLaunch, Protocol):
    """A backward pass whose forward pass writes O and LSE to other arrays in every run."""

    def renew(self, output: Any, lse: Any) -> None:
        """Go on from these O and LSE, the newest."""


def make_inputs(problem: Problem, backend: Backend) -> Inputs:
    """Draw standard-normal Q, K, V from the problem's seed, in its dtype, in the backend's memory."""
    return import_module(f"flashscope.kernels.{backend}.inputs").make_inputs(problem)  # type: ignore[no-any-return]


def make_grad_output(problem: Problem, backend: Backend) -> Any:
    """Draw a standard-normal dO like Q from the seed behind the problem's, in the backend's memory."""
    return import_module(f"flashscope.kernels.{backend}.inputs").make_grad_output(problem)


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs, backend: Backend) -> Launch:
    """Compile what is needed, allocate outputs and workspace, and bind them.

    Raises:
        CompileError: The CUDA compiler refused the kernel.
        MemoryError: The buffers do not fit (CuPy's OutOfMemoryError is one).
    """
    module = import_module(spec.implementation[backend])
    return module.prepare(spec, problem, inputs)  # type: ignore[no-any-return]


def prepare_backward(spec: KernelSpec, problem: Problem, saved: Saved, backend: Backend) -> BackwardLaunch:
    """Compile what is needed, allocate gradients and workspace, and bind them.

    Args:
        spec: A kernel that has a backward pass (`KernelSpec.unsupported_backward` gives no reason).
        problem: What is computed.
        saved: What it is computed from.
        backend: Where.

    Raises:
        CompileError: The CUDA compiler refused the kernel.
        UnsupportedError: The kernel has no backward pass, or a library refuses the problem.
        MemoryError: The buffers do not fit.
    """
    if spec.backward is None:
        raise UnsupportedError(f"{spec.name} has no backward pass.")
    module = import_module(spec.backward.implementation[backend])
    return module.prepare(spec, problem, saved)  # type: ignore[no-any-return]
