"""From a spec and arrays to something that can be run again and again."""

from importlib import import_module
from typing import Any, NamedTuple, Protocol, runtime_checkable

from kernels.problem import Backend, Problem
from kernels.spec import KernelSpec


class Inputs(NamedTuple):
    """Q, K and V as (batch, heads, seqlen, head_dim) arrays: CuPy on `cuda`, NumPy on `cpu`."""

    q: Any
    k: Any
    v: Any


class Launch(Protocol):
    """A kernel bound to its arrays, compiled and allocated, ready to run.

    Attributes:
        output: O, same shape and dtype as Q; valid after `run`, None before it where a library allocates it.
        lse: Natural log-sum-exp of the scaled scores, float32 (batch, heads, seqlen_q); likewise, and None
            where the library returns none.
        workspace_bytes: Bytes held beside inputs and outputs.
    """

    workspace_bytes: int

    @property
    def output(self) -> Any:
        """O, see above."""

    @property
    def lse(self) -> Any:
        """LSE, see above."""

    def run(self) -> None:
        """Compute O and LSE once; on CUDA this enqueues on the current stream and returns."""


@runtime_checkable
class LibraryLaunch(Launch, Protocol):
    """A launch of a library that allocates for itself and may choose among kernels of its own.

    Attributes:
        note: What the library chose, in words; empty when nothing was left to choose.
        allocator: What `allocated_bytes` was read from, in words, or why it could not be.
        allocated_bytes: The high-water mark of the library's own allocator over one run, O included;
            None: it cannot be read.
    """

    note: str
    allocator: str
    allocated_bytes: int | None

    def release(self) -> None:
        """Drop the output and give back what the library's allocator keeps cached."""


def make_inputs(problem: Problem, backend: Backend) -> Inputs:
    """Draw standard-normal Q, K, V from the problem's seed, in its dtype, in the backend's memory."""
    return import_module(f"kernels.{backend}.inputs").make_inputs(problem)  # type: ignore[no-any-return]


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs, backend: Backend) -> Launch:
    """Compile what is needed, allocate outputs and workspace, and bind them.

    Raises:
        CompileError: The CUDA compiler refused the kernel.
        MemoryError: The buffers do not fit (CuPy's OutOfMemoryError is one).
    """
    module = import_module(spec.implementation[backend])
    return module.prepare(spec, problem, inputs)  # type: ignore[no-any-return]
