"""A CUDA program bound to its arrays."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kernels.cuda.compile import compile_module
from kernels.cuda.program import Boxes, Program, ProgramOf, Stage, Target
from kernels.cuda.tensor_map import encode
from kernels.errors import InputError
from kernels.launch import Inputs
from kernels.problem import Problem
from kernels.spec import KernelSpec
from kernels.verify import storage_dtype

DEFAULT_SHARED_BYTES = 48 * 1024  # above it a kernel has to ask
ALIGNMENT = 16  # bytes of one access

BoundStage = Callable[[], None]


@dataclass
class CudaLaunch:
    """Compiled kernels, their arrays and arguments; `run` enqueues them and neither allocates nor waits.

    Attributes:
        inputs: Q, K and V, kept alive.
        output: O, shape and dtype of Q; valid after `run`.
        lse: Natural log-sum-exp (batch, heads, Nq), float32; valid after `run`.
        workspace: The spec's buffers by name.
        workspace_bytes: Bytes of all of them.
        stages: The launches in order.
    """

    inputs: Inputs
    output: Any
    lse: Any
    workspace: dict[str, Any]
    workspace_bytes: int
    stages: tuple[BoundStage, ...]

    def run(self) -> None:
        """Enqueue all launches on the current stream."""
        for stage in self.stages:
            stage()


def current_target() -> Target:
    """The current device."""
    import cupy  # noqa: PLC0415 - a program can be described and compiled without it

    device = cupy.cuda.Device()
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

    for name, array in zip("QKV", inputs, strict=True):
        if array.data.ptr % ALIGNMENT:
            raise InputError(f"{name} must start on a {ALIGNMENT}-byte boundary; pass a copy of this view.")
    program = program_of(problem, current_target())
    module = compile_module(program)
    output = cupy.empty(problem.q_shape, storage_dtype(problem.dtype))
    lse = cupy.empty(problem.q_shape[:3], cupy.float32)
    workspace = {b.name: cupy.empty(b.shape, storage_dtype(b.dtype)) for b in spec.workspace(problem, "cuda")}
    for name, table in program.tables.items():
        workspace[name].set(table)
    buffers = {"q": inputs.q, "k": inputs.k, "v": inputs.v, "o": output, "lse": lse, **workspace}
    held = sum(array.nbytes for array in workspace.values())
    stages = bind_stages(program, module, buffers)
    return CudaLaunch(inputs, output, lse, workspace, held, stages)


def bind_stages(program: Program, module: Any, buffers: dict[str, Any]) -> tuple[BoundStage, ...]:
    """Each launch of a compiled program with its arguments: call it to enqueue it."""
    return tuple(_bind_stage(stage, module, buffers) for stage in program.stages)


def _bind_stage(stage: Stage, module: Any, buffers: dict[str, Any]) -> BoundStage:
    kernel = module.get_function(stage.entry)
    if stage.shared_bytes > DEFAULT_SHARED_BYTES:
        kernel.max_dynamic_shared_size_bytes = stage.shared_bytes
    arguments = tuple(_bind_argument(argument, buffers) for argument in stage.arguments)
    grid, block = (stage.grid,), (stage.threads,)

    def enqueue() -> None:
        kernel(grid, block, arguments, shared_mem=stage.shared_bytes)

    return enqueue


def _bind_argument(argument: Any, buffers: dict[str, Any]) -> Any:
    if isinstance(argument, Boxes):
        return encode(buffers[argument.buffer], argument.rows)
    return buffers[argument] if isinstance(argument, str) else argument
