"""A CuPy that computes in NumPy, whose copies come as late as its events allow: what waits for what is real.

Products run as they are enqueued. A copy runs when a stream waits for an event behind it; when it is
enqueued, its stream must already have waited for all products of both sides.
"""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from flashscope.kernels.context_parallel.merging import merge
from flashscope.kernels.context_parallel.sums_program import ADD
from flashscope.kernels.cuda.program import Program


class OrderError(Exception):
    """A copy begins before a product that it depends on has ended."""


class DeviceArray(np.ndarray):
    """An array on a GPU that is pretended."""

    @property
    def data(self) -> Any:
        return SimpleNamespace(ptr=self.ctypes.data)

    def get(self) -> Any:
        return np.array(self)


class Stream:
    """What was enqueued, and up to where it knows the others to be through."""

    all: "list[Stream]" = []  # noqa: RUF012 - every stream there is

    def __init__(self, **_: Any) -> None:
        Stream.all.append(self)
        self.ptr = len(Stream.all) - 1
        self.position = 0
        self.known: dict[int, int] = {}
        self.copies: list[tuple[int, Callable[[], None]]] = []

    def __enter__(self) -> None:
        """All products run at once, wherever."""

    def __exit__(self, *_: object) -> None:
        """Nothing is left."""

    def wait_event(self, event: "Event") -> None:
        for stream, position in event.seen.items():
            self.known[stream] = max(self.known.get(stream, 0), position)
            for at, copy in list(Stream.all[stream].copies):
                if at <= position:
                    copy()
                    Stream.all[stream].copies.remove((at, copy))


class Event:
    """A place in a stream; products have run already, but GPUs are held until all is enqueued."""

    done = False

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def __init__(self, **_: Any) -> None:
        self.seen: dict[int, int] = {}

    def record(self, stream: Stream) -> None:
        self.seen = {**stream.known, stream.ptr: stream.position}


def pretended(count: int) -> ModuleType:
    """A module like `cupy`, with so many GPUs."""
    Stream.all.clear()
    module: Any = ModuleType("cupy")
    module.empty = lambda shape, dtype: np.full(shape, np.nan, dtype).view(DeviceArray)
    module.asarray = np.asarray
    module.float32 = np.float32
    module.random = SimpleNamespace(default_rng=_Generator)
    runtime = ModuleType("cupy.cuda.runtime")
    runtime.__dict__.update(
        getDeviceCount=lambda: count,
        deviceCanAccessPeer=lambda *_: True,
        deviceEnablePeerAccess=lambda _: None,
        deviceSynchronize=lambda: None,
        memGetInfo=lambda: (1 << 40, 1 << 40),
        memcpyPeerAsync=lambda to, _, given, __, nbytes, stream: _copy(to, given, nbytes, stream),
        memcpyAsync=lambda to, given, nbytes, _, stream: _copy(to, given, nbytes, stream),
        memcpyDeviceToDevice=3,
        CUDARuntimeError=RuntimeError,
    )
    cuda: Any = ModuleType("cupy.cuda")
    cuda.Device, cuda.Stream, cuda.Event, cuda.runtime = lambda _: nullcontext(), Stream, Event, runtime
    cuda.get_elapsed_time = lambda *_: 1.0
    module.cuda = cuda
    module.get_default_memory_pool = lambda: SimpleNamespace(free_all_blocks=lambda: None)
    return module  # type: ignore[no-any-return]


class _Generator:
    def __init__(self, seed: int) -> None:
        self._draw = np.random.default_rng(seed).standard_normal

    def standard_normal(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return self._draw(shape, dtype=dtype).view(DeviceArray)


def _copy(to: int, given: int, nbytes: int, stream: int) -> None:
    lane = Stream.all[stream]
    lane.position += 1

    def move() -> None:
        ctypes.memmove(to, given, nbytes)

    lane.copies.append((lane.position, move))


def bound(made: Program, _: Any, arrays: dict[str, Any]) -> tuple[Callable[[], None]]:
    """In place of `bind_launches`: the same in NumPy."""
    (launch,) = made.launches
    first = int(launch.arguments[-2])
    rows = slice(first, first + arrays["part"].shape[2])

    def run() -> None:
        part = np.asarray(arrays["part"]).astype(np.float32)
        if launch.entry == ADD:
            arrays["sums"][:, :, rows] += part
        else:
            output, lse = (np.asarray(arrays[name])[:, :, rows] for name in ("output", "lse"))
            merge(output, lse, part, np.asarray(arrays["part_lse"]))

    return (run,)


@contextmanager
def no_gate() -> Iterator[None]:
    """Nothing is held."""
    yield
