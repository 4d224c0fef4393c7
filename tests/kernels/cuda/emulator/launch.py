"""Run the launches of a CUDA program on arrays in host memory."""

import ctypes
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from flashscope.kernels.cuda.program import Boxes, Program, Struct
from flashscope.kernels.cuda.tensor_map import MAP_BYTES, PANEL
from tests.kernels.cuda.emulator import build
from tests.kernels.cuda.emulator.build import Edits, EmulatorError

MESSAGE_BYTES = 4096


class Memory:
    """Arrays between pages that nobody may touch; filled with bytes 255, which are NaN, unless told.

    They end where such a page begins, up to 15 bytes before; or start where one ends.
    """

    def __init__(self, *, at_end: bool = True) -> None:
        self._at_end = at_end
        self._held: dict[int, str] = {}

    def empty(self, name: str, shape: tuple[int, ...], dtype: Any) -> Any:
        """A new array."""
        dtype = np.dtype(dtype)
        nbytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        make = build.machine().machine_array
        make.restype, make.argtypes = ctypes.c_void_p, (ctypes.c_size_t, ctypes.c_int, ctypes.c_char_p)
        address = make(nbytes, self._at_end, name.encode())
        self._held[address] = name
        raw = (ctypes.c_uint8 * nbytes).from_address(address)
        return np.frombuffer(raw, np.uint8).view(dtype).reshape(shape)

    def copy(self, name: str, array: Any) -> Any:
        """A new array with the contents of another one."""
        made = self.empty(name, array.shape, array.dtype)
        made[...] = array
        return made

    def release(self) -> list[str]:
        """Give all of it back; the names of those next to which something was written."""
        release = build.machine().machine_release
        release.argtypes = (ctypes.c_void_p,)
        touched = [name for address, name in self._held.items() if not release(address)]
        self._held.clear()
        return touched


@contextmanager
def guarded_memory(*, at_end: bool = True) -> Iterator[Memory]:
    """Memory that is given back, its surroundings checked."""
    memory = Memory(at_end=at_end)
    try:
        yield memory
    except BaseException:
        memory.release()
        raise
    if touched := memory.release():
        raise EmulatorError(f"something was written next to {', '.join(touched)}")


def run(
    program: Program,
    buffers: Mapping[str, Any],
    *,
    seed: int = 0,
    arch: int = 900,
    residents: int = 2,
    edits: Edits = (),
) -> None:
    """Run all launches of a program, one after the other.

    One that follows begins with memory as it was before the launch ahead of it, whose results appear as
    late as they can.

    Args:
        program: What is run; its tables must be in their buffers.
        buffers: NumPy arrays by the names that its stages use.
        seed: Of the order in which threads and copies go on.
        arch: What the sources find as `__CUDA_ARCH__`.
        residents: Blocks that run side by side.
        edits: Of the preprocessed source, see `build.kernels`.

    Raises:
        EmulatorError: The source does not compile; a thread left an array, threads wait for ever, ...
    """
    library = build.kernels(program, arch, edits)
    execute = build.machine().machine_run
    before: dict[str, bytes] = {}
    for place, stage in enumerate(program.launches):
        found = _contents(buffers) if any(one.pdl for one in program.launches) else {}
        if stage.pdl:
            _hide(buffers, before, found)
        values = [_argument(argument, buffers) for argument in stage.arguments]
        pointers = (ctypes.c_void_p * len(values))(*(value.ctypes.data for value in values))
        error = ctypes.create_string_buffer(MESSAGE_BYTES)
        failed = execute(
            getattr(library, f"call_{stage.entry}"),
            pointers,
            *map(ctypes.c_uint, (stage.grid, stage.threads, stage.shared_bytes)),
            ctypes.c_uint64(seed * 31 + place),
            ctypes.c_uint(residents),
            *(error, ctypes.c_uint(MESSAGE_BYTES)),
        )
        before = found
        if failed:
            raise EmulatorError(f"{stage.entry}, seed {seed}: {error.value.decode()}")


def moved_bytes() -> int:
    """Bytes of shared memory that products have read, and copies have written, since this was last asked."""
    count = build.machine().machine_moved
    count.restype = ctypes.c_uint64
    return int(count())


def _contents(buffers: Mapping[str, Any]) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in buffers.items()}


def _hide(buffers: Mapping[str, Any], before: Mapping[str, bytes], found: Mapping[str, bytes]) -> None:
    """Put back what the launch ahead changed; its results, which stay alive meanwhile, are the next one's."""
    changed = [name for name in buffers if before[name] != found[name]]
    for name in changed:
        ctypes.memmove(buffers[name].ctypes.data, before[name], len(before[name]))
    addresses = (ctypes.c_void_p * len(changed))(*(buffers[name].ctypes.data for name in changed))
    contents = (ctypes.c_char_p * len(changed))(*(found[name] for name in changed))
    sizes = (ctypes.c_size_t * len(changed))(*(len(found[name]) for name in changed))
    build.machine().machine_follow(ctypes.c_uint(len(changed)), addresses, contents, sizes)


def _argument(argument: Any, buffers: Mapping[str, Any]) -> Any:
    """An array whose first bytes are what the kernel is given."""
    if isinstance(argument, Boxes):
        return tensor_map(buffers[argument.buffer], argument.rows, argument.pack_gqa)
    if isinstance(argument, Struct):
        return np.array([argument.packed(lambda name: buffers[name].ctypes.data)])
    if isinstance(argument, str):
        return np.array([buffers[argument].ctypes.data], np.uintp)
    return np.array([argument])


def tensor_map(array: Any, rows: int, packed: int = 1) -> Any:
    """What `kernels.cuda.tensor_map.encode` makes, as the machine reads it (machine.hpp, TensorMap)."""
    batch, heads, seqlen, head_dim = array.shape
    row_bytes = head_dim * array.itemsize
    sizes, box = (head_dim, packed * seqlen, batch * heads // packed), (PANEL, rows, 1)
    strides = (0, row_bytes, packed * seqlen * row_bytes)
    fields = (*_five(sizes), *_five(strides), *_five(box))
    made = struct.pack("QII5Q5Q5I", array.ctypes.data, 3, array.itemsize, *fields)
    aligned = np.zeros(2 * MAP_BYTES, np.uint8)
    start = -aligned.ctypes.data % 64
    aligned[start : start + len(made)] = np.frombuffer(made, np.uint8)
    return aligned[start : start + MAP_BYTES]


def _five(values: tuple[int, ...]) -> tuple[int, ...]:
    return (*values, *[0] * (5 - len(values)))
