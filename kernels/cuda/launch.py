"""A CUDA program bound to its arrays.

What depends on the problem and the device alone is kept between calls: the program with its tables, and its
compiled kernels. What depends on the arrays is made anew by each: outputs, workspace, arguments and tensor
maps, so that calls share nothing that a run writes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any, NamedTuple

from flashscope.kernels.catalogue.buffers import Buffer
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cuda.compile import compile_module
from flashscope.kernels.cuda.kept import Kept, Sized
from flashscope.kernels.cuda.pdl import PdlLaunch
from flashscope.kernels.cuda.program import Boxes, KernelLaunch, Program, ProgramOf, Struct, Target
from flashscope.kernels.cuda.tensor_map import encode_tensor_map
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs

DEFAULT_SHARED_BYTES = 48 * 1024  # above it a kernel has to ask
ALIGNMENT = 16  # bytes of one access
MOST_KEPT, MOST_KEPT_BYTES = 64, 64 << 20  # programs, and bytes of their tables in host memory

BoundLaunch = Callable[[], None]


@dataclass
class CudaLaunch:
    """Compiled kernels, their arrays and arguments; `run` enqueues them and neither allocates nor waits.

    Attributes:
        inputs: Q, K and V, kept alive.
        output: O, shape and dtype of Q, head dim of V; valid after `run`.
        lse: Natural log-sum-exp (batch, heads, Nq), float32; valid after `run`.
        workspace: The spec's buffers by name.
        workspace_bytes: Bytes of all of them.
        launches: The launches in order.
        note: Why the kernel cut the problem as it did, in words, where it had a choice.
    """

    inputs: Inputs
    output: Any
    lse: Any
    workspace: dict[str, Any]
    workspace_bytes: int
    launches: tuple[BoundLaunch, ...]
    note: str = ""

    def run(self) -> None:
        """Enqueue all launches on the current stream."""
        for launch in self.launches:
            launch()


class PreparedProgram(NamedTuple):
    """All of a launch that its arrays do not decide.

    Attributes:
        program: The program for the problem on the device.
        kernels: What CuPy calls to enqueue its launches, in their order, on the device it was loaded on.
        buffers: The workspace that the spec declares.
        zeros: Those of its buffers that must be zero before the first launch.
        tables: Those that must hold a table then.
    """

    program: Program
    kernels: tuple[Any, ...]
    buffers: tuple[Buffer, ...]
    zeros: tuple[str, ...]
    tables: dict[str, Any]


_allowing = Lock()
_prepared: Kept[PreparedProgram] = Kept(MOST_KEPT, MOST_KEPT_BYTES)


def current_target() -> Target:
    """The current device."""
    import cupy  # noqa: PLC0415 - a program can be described and compiled without it

    return _target(cupy.cuda.runtime.getDevice())


@cache
def _target(index: int) -> Target:
    """The device of a CUDA index: reading all its attributes takes longer than a small launch."""
    import cupy  # noqa: PLC0415 - as above

    device = cupy.cuda.Device(index)
    major, minor = divmod(int(device.compute_capability), 10)
    attributes = device.attributes
    return Target(
        (major, minor), attributes["MaxSharedMemoryPerBlockOptin"], attributes["MultiProcessorCount"]
    )


def bind(spec: KernelSpec, problem: Problem, inputs: Inputs, program_of: ProgramOf) -> CudaLaunch:
    """Compile, allocate the outputs and exactly the workspace the spec declares, and bind them.

    Raises:
        CompileError: The compiler refused the kernel.
        InputError: An input does not start on a 16-byte boundary.
        MemoryError: The buffers do not fit.
    """
    import cupy  # noqa: PLC0415 - as above

    check_alignment(dict(zip("QKV", inputs.qkv, strict=True)))
    ready = prepared_for(spec.name, problem, program_of, lambda: spec.workspace(problem, "cuda"))
    output = cupy.empty(problem.o_shape, storage_dtype(problem.dtype))
    lse = cupy.empty(problem.q_shape[:3], cupy.float32)
    workspace = allocate(ready)
    buffers = {**inputs.arrays, "o": output, "lse": lse, **workspace}
    held = sum(array.nbytes for array in workspace.values())
    launches = bind_launches(ready.program, ready.kernels, buffers)
    return CudaLaunch(inputs, output, lse, workspace, held, launches, ready.program.note)


def check_alignment(arrays: Mapping[str, Any]) -> None:
    """Refuse arrays that 16-byte accesses cannot read.

    Raises:
        InputError: One does not start on a 16-byte boundary; the text names it.
    """
    for name, array in arrays.items():
        if array.data.ptr % ALIGNMENT:
            raise InputError(f"{name} must start on a {ALIGNMENT}-byte boundary; pass a copy of this view.")


def prepared_for(
    name: str, problem: Problem, program_of: ProgramOf, buffers: Callable[[], tuple[Buffer, ...]]
) -> PreparedProgram:
    """All of a launch on the current device that its arrays do not decide, kept by name, problem and device.

    Raises:
        CompileError: The compiler refused the kernel.
    """
    import cupy  # noqa: PLC0415 - as above

    key = (name, program_of, problem, cupy.cuda.runtime.getDevice())
    return _prepared.get(key, lambda: _prepare(problem, program_of, buffers))


def allocate(ready: PreparedProgram) -> dict[str, Any]:
    """The workspace by name, on the current device, its zeros and tables in place."""
    import cupy  # noqa: PLC0415 - as above

    workspace = {b.name: cupy.empty(b.shape, storage_dtype(b.dtype)) for b in ready.buffers}
    for name in ready.zeros:
        workspace[name].data.memset_async(0, workspace[name].nbytes)
    for name, table in ready.tables.items():
        workspace[name].set(table)
    return workspace


def _prepare(
    problem: Problem, program_of: ProgramOf, buffers: Callable[[], tuple[Buffer, ...]]
) -> Sized[PreparedProgram]:
    program = program_of(problem, current_target())
    zeros = tuple(name for name, table in program.tables.items() if not table.any())
    tables = {name: table for name, table in program.tables.items() if name not in zeros}
    ready = PreparedProgram(program, load_kernels(program), buffers(), zeros, tables)
    masked = 0 if problem.block_mask is None else len(problem.block_mask.kept)  # in the key
    return Sized(ready, masked + sum(table.nbytes for table in program.tables.values()))


def load_kernels(program: Program) -> tuple[Any, ...]:
    """The compiled kernel of each launch, on the current device.

    Raises:
        CompileError: The compiler refused the program.
    """
    module = compile_module(program)
    return tuple(_load_kernel(launch, module) for launch in program.launches)


def _load_kernel(launch: KernelLaunch, module: Any) -> Any:
    """The function of a launch."""
    return load_function(module, launch.entry, launch.shared_bytes)


def load_function(module: Any, entry: str, shared_bytes: int) -> Any:
    """A function of a module, allowed as much dynamic shared memory as it takes.

    CuPy loads a program once, so all problems that compile alike share the function and what it is allowed:
    that is raised and never lowered, or a launch that is bound already would be refused.
    """
    kernel = module.get_function(entry)
    with _allowing:
        if shared_bytes > max(DEFAULT_SHARED_BYTES, kernel.max_dynamic_shared_size_bytes):
            kernel.max_dynamic_shared_size_bytes = shared_bytes
    return kernel


def arrays_of(program: Program, spec: KernelSpec, problem: Problem, inputs: Inputs) -> dict[str, Any]:
    """The arrays of a program by name: inputs, O (`o`), LSE (`lse`), and the workspace, zero or its tables.

    Raises:
        MemoryError: They do not fit.
    """
    import cupy  # noqa: PLC0415 - as above

    arrays: dict[str, Any] = {
        **inputs.arrays,
        "o": cupy.empty(problem.o_shape, storage_dtype(problem.dtype)),
        "lse": cupy.empty(problem.q_shape[:3], cupy.float32),
    }
    for buffer in spec.workspace(problem, "cuda"):
        arrays[buffer.name] = cupy.zeros(buffer.shape, storage_dtype(buffer.dtype))
    for name, table in program.tables.items():
        arrays[name].set(table)
    return arrays


def bind_launches(
    program: Program, kernels: tuple[Any, ...], buffers: dict[str, Any]
) -> tuple[BoundLaunch, ...]:
    """Each launch of a program with its arguments: call it to enqueue it."""
    pairs = zip(program.launches, kernels, strict=True)
    return tuple(_bind_launch(launch, kernel, buffers) for launch, kernel in pairs)


def _bind_launch(launch: KernelLaunch, kernel: Any, buffers: dict[str, Any]) -> BoundLaunch:
    arguments = tuple(_bind_argument(argument, buffers) for argument in launch.arguments)
    if launch.pdl:
        return PdlLaunch(launch, kernel.kernel.ptr, arguments)
    grid, block = (launch.grid,), (launch.threads,)

    def enqueue() -> None:
        kernel(grid, block, arguments, shared_mem=launch.shared_bytes)

    return enqueue


def _bind_argument(argument: Any, buffers: dict[str, Any]) -> Any:
    if isinstance(argument, Boxes):
        return encode_tensor_map(buffers[argument.buffer], argument.rows, argument.pack_gqa)
    if isinstance(argument, Struct):
        return argument.packed(lambda name: buffers[name].data.ptr)
    return buffers[argument] if isinstance(argument, str) else argument
