"""A raw CUDA kernel of the user's own, from its `.cu` file and the header in it.

Idea: the file is compiled by NVRTC as ours are, for the very GPU, and launched as its header says; grid,
shared memory and scalars are small expressions over the problem's sizes (`kernels.own.expression`).
Limit: arrays are ours, row-major; outputs and workspaces hold anything when a run begins.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from flashscope.kernels.catalogue.own_kernel import OwnArgument, OwnKernel, OwnLaunch
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cuda.compile import compile_anywhere, compile_module
from flashscope.kernels.cuda.headers import REMEDY, toolkit_headers
from flashscope.kernels.cuda.launch import CudaLaunch, current_target, load_function
from flashscope.kernels.cuda.program import HOPPER, Program, Target, defines_of
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.own.expression import Number, evaluate, evaluate_whole, sizes_with
from flashscope.kernels.own.files import checked_bytes, file_of
from flashscope.kernels.workload.errors import CompileError, KernelError, UnsupportedError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs

SurroundedPart = tuple[Any, int, int]  # an allocation, uint8, and where an array begins and ends in it
MOST_THREADS, MOST_BLOCKS = 1024, (2**31 - 1, 65_535, 65_535)  # of a block; of a grid along x, y and z
NO_FILE = "open source file"  # what NVRTC says of a header that it does not find
ROOM, ROWS_OF_A_TILE = 4096, 128  # bytes, and rows, around an array that is written to, at least
_surrounding = ContextVar("surrounding", default=False)
BESIDE = ("*.cuh", "*.h", "*.hpp", "*.cu")
_ERROR = re.compile(
    r"^(?P<file>.*?)\((?P<line>\d+)\): (?:catastrophic )?error[^:]*: (?P<what>.*)$", re.MULTILINE
)


@dataclass(kw_only=True)
class OwnSourceLaunch(CudaLaunch):
    """A `.cu` file of the user's own, bound to its arrays.

    Attributes:
        surrounded: Where O and LSE lie in their allocations, by what they are called.
    """

    surrounded: dict[str, SurroundedPart]


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Compile the file, allocate O, LSE and the workspace that its header names, and bind them.

    Raises:
        CompileError: The compiler refused it; the text has the line of the file.
        InputError: The file has changed or is gone, or an expression of its header has no value here.
        MemoryError: The buffers do not fit.
    """
    own = own_source(spec)
    module = load(own, problem)
    written: dict[str, tuple[tuple[int, ...], Any]] = {"O": (problem.q_shape, storage_dtype(problem.dtype))}
    if any(given.value == "lse" for launch in own.launches for given in launch.arguments):
        written["LSE"] = (problem.q_shape[:3], "float32")
    placed = {name: _placed(shape, dtype) for name, (shape, dtype) in written.items()}
    output, lse = placed["O"][0], placed["LSE"][0] if "LSE" in placed else None
    workspace = workspace_of(spec, problem)
    arrays = {**inputs.arrays, "o": output, "lse": lse, **workspace}
    sizes = sizes_with(problem, own.defines)
    launches = tuple(bind(one, module, sizes, arrays) for one in own.launches)
    held = sum(array.nbytes for array in workspace.values())
    return OwnSourceLaunch(
        inputs, output, lse, workspace, held, launches, surrounded={k: v[1] for k, v in placed.items()}
    )


@contextmanager
def outputs_surrounded() -> Iterator[None]:
    """Have launches that are prepared meanwhile write amid memory that nobody is to write to."""
    token = _surrounding.set(True)
    try:
        yield
    finally:
        _surrounding.reset(token)


def _placed(shape: tuple[int, ...], dtype: Any) -> tuple[Any, SurroundedPart]:
    """An array to be written to, and where it lies in its allocation."""
    import cupy  # noqa: PLC0415 - as above

    itemsize, room = np.dtype(dtype).itemsize, 0
    if _surrounding.get():
        room = max(ROOM, ROWS_OF_A_TILE * shape[-1] * itemsize)
        room += -room % ROOM
    end = room + prod(shape) * itemsize
    block = cupy.empty(end + room, "uint8")
    return block[room:end].view(dtype).reshape(shape), (block, room, end)


def own_source(spec: KernelSpec) -> OwnKernel:
    """What a `.cu` file of the user's own declares.

    Raises:
        UnsupportedError: The kernel is from none.
    """
    if spec.own is None or spec.own.function:
        raise UnsupportedError(f"{spec.name} is from no .cu file of one's own.")
    return spec.own


def workspace_of(spec: KernelSpec, problem: Problem) -> dict[str, Any]:
    """The workspace by name, uncleared."""
    import cupy  # noqa: PLC0415 - as above

    return {b.name: cupy.empty(b.shape, storage_dtype(b.dtype)) for b in spec.workspace(problem, "cuda")}


def program_of(own: OwnKernel, problem: Problem, target: Target) -> Program:
    """The file as a program: what a compiler needs; its launches are bound by `bind`."""
    sizes = sizes_with(problem, own.defines)
    defines = {name: int(sizes[name]) for name, _ in own.defines}
    beside = {"FILES_BESIDE": _hash_beside(file_of(own))}
    return Program(
        source=str(file_of(own)),
        defines={**defines_of(problem), **defines, **beside},
        launches=(),
        arch_suffix="a" if target.compute_capability >= HOPPER else "",
        text=text_of(own),
    )


def text_of(own: OwnKernel) -> str:
    """The file's text as it was declared.

    Raises:
        InputError: The file has changed or is gone, and its text was not kept.
    """
    return checked_bytes(own).decode("utf-8-sig").replace("\r\n", "\n")


def load(own: OwnKernel, problem: Problem) -> Any:
    """The file compiled for the current device, as CuPy's module.

    Raises:
        CompileError: The compiler refused it; the text has the line of the file.
        InputError: The file has changed or is gone.
    """
    return explained(own, lambda: compile_module(program_of(own, problem, current_target())))


def compile_without_gpu(own: OwnKernel, problem: Problem, target: Target) -> tuple[bytes, str]:
    """The machine code for an architecture, and the compiler's log with registers and spills.

    Raises:
        CompileError: The compiler refused it; the text has the line of the file.
        DeviceUnavailableError: There is no compiler; the text names the remedy.
        InputError: The file has changed or is gone.
    """
    made: tuple[bytes, str] = explained(
        own, lambda: compile_anywhere(program_of(own, problem, target), target)
    )
    return made


def explained(own: OwnKernel, compile_it: Callable[[], Any]) -> Any:
    """What is compiled.

    Raises:
        CompileError: The compiler refused it; the text has the first error, its line and that line's text.
    """
    try:
        return compile_it()
    except CompileError as error:
        found = _ERROR.search(error.log)
        if found is None:
            raise
        line, file = int(found["line"]), Path(found["file"])
        beside = file.is_file() and file != file_of(own)
        lines = _lines_of(file) if beside else text_of(own).splitlines()
        text = lines[line - 1].strip() if line <= len(lines) else ""
        told = f"{own.name} does not compile: {file.name}, line {line}: {found['what'].strip()}: {text}"
        if NO_FILE in found["what"] and toolkit_headers() is None:
            told += f"; {REMEDY}"
        raise CompileError(told, error.log) from error


def bind(
    launch: OwnLaunch, module: Any, sizes: Mapping[str, Number], arrays: Mapping[str, Any]
) -> Callable[[], None]:
    """One launch with its arguments: call it to enqueue it.

    Raises:
        InputError: An expression of it has no value here.
        KernelError: No GPU launches it so, or this one does not.
    """
    grid, block = (
        tuple(evaluate_whole(one, sizes) for one in axes) for axes in (launch.grid, launch.threads)
    )
    shared = evaluate_whole(launch.shared, sizes)
    arguments = tuple(argument_of(one, sizes, arrays) for one in launch.arguments)
    check_launch(launch.entry, grid, block, shared, current_target())
    kernel = load_function(module, launch.entry, shared)
    check_threads(launch.entry, block, kernel.max_threads_per_block)

    def enqueue() -> None:
        kernel(grid, block, arguments, shared_mem=shared)

    return enqueue


def check_launch(
    entry: str, grid: tuple[int, ...], threads: tuple[int, ...], shared: int, target: Target
) -> None:
    """Refuse what no GPU launches, or this one does not.

    Args:
        entry: The function.
        grid: Blocks along each axis.
        threads: Threads of a block along each axis.
        shared: Bytes of dynamic shared memory of a block.
        target: The GPU.

    Raises:
        KernelError: The text says what is too much, and what would do.
    """
    told = ""
    if 0 in (*grid, *threads):
        told = f"its grid is {_times(grid)} blocks of {_times(threads)} threads, which launches nothing"
    elif prod(threads) > MOST_THREADS:
        told = f"a block has {_times(threads)} = {prod(threads):,} threads; {MOST_THREADS:,} is the most"
    elif any(blocks > limit for blocks, limit in zip(grid, MOST_BLOCKS, strict=False)):
        limits = ", ".join(f"{limit:,}" for limit in MOST_BLOCKS)
        told = f"its grid is {_times(grid)} blocks; {limits} along x, y and z is the most"
    elif shared > target.shared_memory:
        told = (
            f"a block asks for {shared:,} bytes of shared memory; this GPU gives {target.shared_memory:,} at "
            "most, with what the source declares as __shared__"
        )
    if told:
        raise KernelError(f"{entry} cannot be launched: {told}.")


def check_threads(entry: str, threads: tuple[int, ...], most: int) -> None:
    """Refuse blocks of more threads than a compiled function takes.

    Raises:
        KernelError: The text says how many it takes, and why no more.
    """
    if prod(threads) > most:
        raise KernelError(
            f"{entry} cannot be launched: a block has {_times(threads)} threads; its __launch_bounds__, or "
            f"the registers of each thread, let in {most:,} at most."
        )


def _times(axes: tuple[int, ...]) -> str:
    return " × ".join(f"{axis:,}" for axis in axes)


def argument_of(given: OwnArgument, sizes: Mapping[str, Number], arrays: Mapping[str, Any]) -> Any:
    """An array, or a scalar of the parameter's exact type."""
    if given.scalar is None:
        return arrays[given.value]
    if given.scalar == "bool":
        return np.bool_(evaluate(given.value, sizes))
    return np.dtype(given.scalar).type(evaluate(given.value, sizes))


def _hash_beside(file: Path) -> int:
    """A number of the other sources beside a file: caches of compiled code read no #include."""
    digest = hashlib.sha256()
    beside = {path for pattern in BESIDE for path in file.parent.glob(pattern)} - {file}
    for path in sorted(beside):
        with suppress(OSError):  # a folder of that name, or somebody else's
            digest.update(path.name.encode() + path.read_bytes())
    return int(digest.hexdigest()[:8], 16)


def _lines_of(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
