"""A kernel on a GPU in slow motion, watched through host memory that it writes. Imports CuPy."""

import ctypes
from contextlib import suppress
from types import SimpleNamespace, TracebackType
from typing import Any

import cupy
import numpy as np
import numpy.typing as npt
from cupy.cuda import runtime

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda.device import describe
from flashscope.kernels.cuda.driver import cause_of, driver
from flashscope.kernels.cuda.launch import arrays_of, bind_launches, current_target, load_kernels
from flashscope.kernels.cuda.live.builds import (
    BEGUN,
    DUE,
    STOP,
    TOLD,
    LiveBuild,
    check_gpu,
    live_build,
)
from flashscope.kernels.cuda.live.told import ToldSoFar, ToldTiles
from flashscope.kernels.launching.launch import make_inputs, prepare
from flashscope.kernels.workload.errors import KernelError
from flashscope.kernels.workload.live import LiveRequest, check_tiles

PORTABLE, MAPPED = 1, 2  # cudaHostAllocPortable, cudaHostAllocMapped
KERNEL_TIMEOUT, MAPS_HOST_MEMORY = 17, 19  # cudaDevAttrKernelExecTimeout, cudaDevAttrCanMapHostMemory
NS = 1e9


class MappedArray:
    """Zeros in page-locked host memory that the GPU writes and reads in place.

    Attributes:
        host: The array.
        data: Has the address that kernels are given, `ptr`.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
        self._address = runtime.hostAlloc(nbytes, PORTABLE | MAPPED)
        raw = (ctypes.c_uint8 * nbytes).from_address(self._address)
        self.host: npt.NDArray[Any] = np.frombuffer(raw, dtype).reshape(shape)
        self.host[...] = 0
        device = ctypes.c_void_p()
        status = driver().cuMemHostGetDevicePointer_v2(
            ctypes.byref(device), ctypes.c_void_p(self._address), ctypes.c_uint(0)
        )
        if status:
            self.free()
            raise KernelError(f"The GPU cannot see this host memory: {cause_of(status)}.")
        self.data = SimpleNamespace(ptr=device.value)

    def free(self) -> None:
        """Give it back; nothing may read or write it any more."""
        runtime.freeHost(self._address)


class SlowLaunch:
    """A launch in slow motion on the current GPU; as a context it leaves nothing behind, however it ends.

    Its memory is of no pool: it goes back to the GPU with the launch.

    Attributes:
        build: What runs.
        tile: Its tile, Br and Bc.
        tiles: How many are computed, of all heads.
        multiprocessors: The SMs of the GPU.
        tile_ns: How long a block waits after a tile.
        program: The program as it is slowed down.

    Raises:
        UnsupportedError: There is no such build, or the GPU cannot run one; the text says why.
        InputError: It has too many tiles.
        CompileError: The compiler refused the kernel.
        MemoryError: The arrays do not fit.
    """

    def __init__(self, request: LiveRequest) -> None:
        device, problem = describe(), request.problem
        spec = find_kernel(request.kernel)
        spec.require(problem, device)
        check_gpu(times_out=_attribute(KERNEL_TIMEOUT), maps_memory=_attribute(MAPS_HOST_MEMORY))
        self.build: LiveBuild = live_build(request.kernel, problem, current_target())
        self.tile, self.tiles = self.build.tile, self.build.tiles
        check_tiles(self.tiles, "cuda")
        self.multiprocessors = device.multiprocessors or 1
        kernels = load_kernels(self.build.slowed(0))
        chain = self.build.chain(self.multiprocessors * self.residents(kernels[0]))
        self.tile_ns = round(request.seconds * NS / chain)
        self.program = self.build.slowed(self.tile_ns)
        with cupy.cuda.using_allocator(None):
            inputs = make_inputs(problem, "cuda")
            self._plain = prepare(spec, problem, inputs, "cuda")
            self._plain.run()
            self._arrays = arrays_of(self.program, spec, problem, inputs)
            self._arrays[DUE] = cupy.zeros(self.build.warps, cupy.uint64)
            self._arrays[BEGUN] = cupy.zeros(1, cupy.uint64)
        self._stream = cupy.cuda.Stream(non_blocking=True)
        self._ended = cupy.cuda.Event(disable_timing=True)
        self._mapped: dict[str, MappedArray] = {}
        try:
            self._map(kernels)
        except BaseException:
            self._free()
            raise

    def _map(self, kernels: tuple[Any, ...]) -> None:
        """Bind it to host memory that it tells in, and to a word that stops its waits."""
        slots = self.build.telling.size, self.build.reporters
        for name, shape, dtype in ((TOLD, slots, np.uint64), (STOP, (1,), np.int32)):
            self._mapped[name] = MappedArray(shape, dtype)
        self._told = ToldSoFar(self.build.telling, self._mapped[TOLD].host)
        self._launches = bind_launches(self.program, kernels, {**self._arrays, **self._mapped})
        cupy.cuda.Device().synchronize()

    def _free(self) -> None:
        for one in self._mapped.values():
            with suppress(runtime.CUDARuntimeError):  # a context that a fault has spoilt frees nothing
                one.free()
        self._mapped.clear()

    def residents(self, kernel: Any) -> int:
        """Blocks of the slowed kernel that an SM holds."""
        launch = self.build.program.launches[0]
        count: int = cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(
            kernel.kernel.ptr, launch.threads, launch.shared_bytes
        )
        return max(1, count)

    def __enter__(self) -> None:
        """All that it needs is there."""

    def start(self) -> None:
        """Enqueue it, and return."""
        with self._stream:
            for launch in self._launches:
                launch()
        self._ended.record(self._stream)

    def hurry(self) -> None:
        """Wait no more: it ends as soon as its work is done."""
        self._mapped[STOP].host[0] = 1

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return not self._ended.done

    def fresh(self) -> ToldTiles:
        """The tiles that are done and were not told of yet."""
        return self._told.fresh()

    def same(self) -> bool:
        """Whether O and LSE are those of the timed kernel, to the bit; after its end."""
        pairs = ((self._plain.output, self._arrays["o"]), (self._plain.lse, self._arrays["lse"]))
        return all(bool((one.view(cupy.uint8) == other.view(cupy.uint8)).all()) for one, other in pairs)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let it end, and give back what it has."""
        self.hurry()
        try:
            self._stream.synchronize()
        finally:
            self._free()
            del self._told, self._launches, self._arrays, self._plain


def _attribute(which: int) -> bool:
    return bool(runtime.deviceGetAttribute(which, runtime.getDevice()))
