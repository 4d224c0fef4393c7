"""A CUDA program of a backward pass bound to its arrays."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from flashscope.kernels.catalogue.buffers import Buffer
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cuda.launch import BoundLaunch, allocate, bind_launches, check_alignment, prepared_for
from flashscope.kernels.cuda.program import Program, ProgramOf, TileSize
from flashscope.kernels.cuda.sparse import block_text, divides
from flashscope.kernels.cuda.tensor import FRAGMENT_ROWS
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Gradients, Saved

T = TypeVar("T")
STATE_BYTES = 8  # LSE and delta of a query, in shared memory


class RowTiling(NamedTuple):
    """How a block is cut whose warps own 16 rows each, queries or keys.

    Attributes:
        warps: Warps of a block.
        inner: Rows of the other kind that pass by at a time.
    """

    warps: int
    inner: int

    @property
    def outer(self) -> int:
        """Rows that a block owns, at a time."""
        return self.warps * FRAGMENT_ROWS

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.warps * 32


# (widest head, cut), best first; the small ones at the end suit block masks.
ROW_CUTS = (
    (64, RowTiling(8, 64)),
    *((256, RowTiling(*cut)) for cut in ((8, 32), (4, 32), (4, 16), (2, 32), (2, 16), (1, 16))),
)


@dataclass
class CudaBackward:
    """Compiled kernels, their arrays and arguments; `run` enqueues them and neither allocates nor waits.

    Attributes:
        saved: Q, K, V, O, LSE and dO, kept alive.
        gradients: dQ, dK and dV in the dtype of Q; valid after `run`.
        workspace: The buffers that the spec's backward pass declares and a launch takes, by name.
        workspace_bytes: Bytes of all of them.
        launches: The launches in order.
        note: Why the kernel cut the problem as it did, in words, where it had a choice.
    """

    saved: Saved
    gradients: Gradients
    workspace: dict[str, Any]
    workspace_bytes: int
    launches: tuple[BoundLaunch, ...]
    note: str = ""

    def run(self) -> None:
        """Enqueue all launches on the current stream."""
        for launch in self.launches:
            launch()


def bind(
    spec: KernelSpec, problem: Problem, saved: Saved, program_of: ProgramOf, *, once: int = 0
) -> CudaBackward:
    """Compile, allocate the gradients and the workspace, and bind them.

    Args:
        spec: The kernel.
        problem: What is computed.
        saved: What it is computed from.
        program_of: Makes its program.
        once: So many of the program's first launches make what a forward pass would have left: they are
            enqueued now, and are no part of a run.

    Raises:
        CompileError: The compiler refused the kernel.
        InputError: An array does not start on a 16-byte boundary.
        MemoryError: The buffers do not fit.
    """
    import cupy  # noqa: PLC0415 - a program can be described and compiled without it

    check_alignment({name: x for name, x in saved._asdict().items() if name != "lse"})
    ready = prepared_for(f"{spec.name} backward", problem, program_of, lambda: _declared(spec, problem))
    workspace = allocate(ready)
    gradients = Gradients(*(cupy.empty(x.shape, x.dtype) for x in saved.inputs.qkv))
    launches = bind_launches(
        ready.program, ready.kernels, {**saved._asdict(), **gradients._asdict(), **workspace}
    )
    for launch in launches[:once]:
        launch()
    held = sum(array.nbytes for array in workspace.values())
    return CudaBackward(saved, gradients, workspace, held, launches[once:], ready.program.note)


def backward_arrays(program: Program, spec: KernelSpec, problem: Problem, saved: Saved) -> dict[str, Any]:
    """What a backward pass reads and writes, by name, and its workspace, zero or the program's tables.

    Raises:
        MemoryError: They do not fit.
    """
    import cupy  # noqa: PLC0415 - as above

    written = Gradients(*(cupy.empty(one.shape, one.dtype) for one in saved.inputs.qkv))
    arrays = {**saved._asdict(), **written._asdict()}
    for buffer in _declared(spec, problem):
        arrays[buffer.name] = cupy.zeros(buffer.shape, storage_dtype(buffer.dtype))
    for name, table in program.tables.items():
        arrays[name].set(table)
    return arrays


def _declared(spec: KernelSpec, problem: Problem) -> tuple[Buffer, ...]:
    return spec.backward.workspace(problem, "cuda") if spec.backward else ()


def mask_defines(problem: Problem) -> dict[str, int]:
    """Queries and keys of a block of the block mask, where there is one."""
    blocks = problem.block_mask
    return {} if blocks is None else {"MASK_BLOCK_Q": blocks.block_q, "MASK_BLOCK_K": blocks.block_k}


def suitable(
    kernel: str, problem: Problem, table: Iterable[tuple[int, T]], tile: Callable[[T], TileSize]
) -> list[T]:
    """The cuts that suit the head dim and the block mask, best first.

    Args:
        kernel: Whose they are.
        problem: What is computed.
        table: The widest head of each cut, and the cut.
        tile: Queries and keys that a block of a cut holds at a time.

    Raises:
        InputError: None suits the block mask.
    """
    cuts = [cut for widest, cut in table if problem.widest_dim <= widest and divides(problem, tile(cut))]
    if not cuts:
        raise InputError(
            f"{kernel}'s backward pass takes block masks whose blocks are multiples of {FRAGMENT_ROWS} long, "
            f"not {block_text(problem)}."
        )
    return cuts
