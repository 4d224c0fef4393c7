"""A launch in slow motion: the kernel waits between its tiles, and says 30 times a second which are done."""

import time
from collections.abc import Callable
from importlib import import_module
from typing import Protocol

import numpy as np

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cpu.device import describe
from flashscope.kernels.cpu.live import TellingLaunch
from flashscope.kernels.cuda.device import describe as describe_gpu
from flashscope.kernels.cuda.live.told import ToldTiles
from flashscope.kernels.launching.launch import make_inputs, prepare
from flashscope.kernels.workload.live import LiveRequest, Tile, check_pace, check_tiles, kept_tiles
from flashscope.kernels.workload.trace import Array
from flashscope.profiles.wire.live_events import LiveEnded, LiveStarted, LiveTiles
from flashscope.profiles.worker.child import Link

FRAMES_S = 30  # messages a second, at most
NS = 1e9


def run_live(request: LiveRequest, link: Link, clock: Callable[[], int] = time.monotonic_ns) -> LiveEnded:
    """Launch a kernel in slow motion, and compare what it computed with the kernel's own O.

    It says LiveStarted, and then LiveTiles as tiles are done. The wait between two tiles, or on a GPU
    between two looks at what it has told, listens to the engine.

    Raises:
        InputError: It would be too short, too long, or of too many tiles.
        UnsupportedError: There is no such build of the kernel.
        CancelledError: It is no longer wanted.
    """
    check_pace(request)
    if request.backend == "cuda":
        describe_gpu()
        launch = import_module("flashscope.kernels.cuda.live.launch").SlowLaunch(request)
        return watch(request, launch, link, clock)
    spec, problem = find_kernel(request.kernel), request.problem
    spec.require(problem, describe())
    inputs = make_inputs(problem, "cpu")
    frames = TileFrames(request.seconds, link, clock)
    telling = TellingLaunch(spec, problem, inputs, frames.take)
    tiles = (
        problem.batch * problem.heads * sum(1 for _ in kept_tiles(problem, telling.block_q, telling.block_k))
    )
    check_tiles(tiles, "cpu")
    plain = prepare(spec, problem, inputs, "cpu")
    plain.run()
    link.send(LiveStarted(request=request, block_q=telling.block_q, block_k=telling.block_k, tiles=tiles))
    frames.begin(tiles)
    telling.launch.run()
    frames.flush()
    same = all(
        np.array_equal(one.view(np.uint32), other.view(np.uint32))
        for one, other in ((telling.launch.output, plain.output), (telling.launch.lse, plain.lse))
    )
    return LiveEnded(took_ns=frames.elapsed_ns(), same=same)


class Watched(Protocol):
    """A launch in slow motion that runs by itself; `kernels.cuda.live.launch.SlowLaunch` is one.

    Attributes:
        tile: Br and Bc.
        tiles: How many tiles are computed, of all heads.
        multiprocessors: SMs of the GPU.
        tile_ns: How long a block waits after a tile.
    """

    tile: tuple[int, int]
    tiles: int
    multiprocessors: int
    tile_ns: int

    def __enter__(self) -> None:
        """Everything is ready."""

    def __exit__(self, *error: object) -> None:
        """It ends without waits, and leaves nothing behind."""

    def start(self) -> None:
        """Begin, and return."""

    @property
    def running(self) -> bool:
        """Whether it has not ended."""

    def fresh(self) -> ToldTiles:
        """The tiles that are done and were not told of yet."""

    def same(self) -> bool:
        """Whether it has computed what the timed kernel computes, to the bit."""


def watch(request: LiveRequest, launch: Watched, link: Link, clock: Callable[[], int]) -> LiveEnded:
    """Start a launch, and say with every frame which tiles are done, until it ends.

    Raises:
        CancelledError: It is no longer wanted; it has ended nevertheless.
    """
    frame, (block_q, block_k) = round(NS / FRAMES_S), launch.tile
    with launch:
        link.send(
            LiveStarted(
                request=request,
                block_q=block_q,
                block_k=block_k,
                tiles=launch.tiles,
                multiprocessors=launch.multiprocessors,
                tile_ns=launch.tile_ns,
            )
        )
        begun = due = clock()
        launch.start()
        running = True
        while running:
            due = max(due + frame, clock())
            link.check(max(0.0, (due - clock()) / NS))
            running = launch.running  # asked first: what it has told before its end is then complete
            send_tiles(link, launch.fresh())
        took = clock() - begun
        return LiveEnded(took_ns=took, same=launch.same())


def send_tiles(link: Link, told: ToldTiles) -> None:
    """Say which tiles are done, if any are."""
    if len(told.tile):
        done, times, sm = (Array.of(one) for one in told)
        link.send(LiveTiles(tile=done, finished_ns=times, t_ns=time.monotonic_ns(), sm=sm))


class TileFrames:
    """Keeps the pace, and gathers what is done for the next message.

    Args:
        seconds: How long all tiles are to take.
        link: The engine.
        clock: Nanoseconds that never go back.
    """

    def __init__(self, seconds: float, link: Link, clock: Callable[[], int]) -> None:
        self._seconds, self._link, self._clock = seconds, link, clock
        self._tiles = 1
        self._begun = self._sent = 0
        self._done = 0
        self._fresh: list[tuple[Tile, int]] = []

    def begin(self, tiles: int) -> None:
        """The launch begins now, of so many tiles."""
        self._tiles = max(1, tiles)
        self._begun = self._sent = self._clock()

    def elapsed_ns(self) -> int:
        """Since the launch began."""
        return self._clock() - self._begun

    def take(self, tile: Tile) -> None:
        """A tile is done: say so with the next frame, and wait until the next one may begin.

        Raises:
            CancelledError: The launch is no longer wanted.
        """
        self._fresh.append((tile, self.elapsed_ns()))
        self._done += 1
        due = self._begun + round(self._seconds * NS * self._done / self._tiles)
        while True:
            now = self._clock()
            frame = self._sent + round(NS / FRAMES_S)
            if self._fresh and now >= frame:
                self.flush()
                continue
            wake = min(due, frame) if self._fresh else due
            self._link.check(max(0.0, (wake - now) / NS))
            if now >= due:
                return

    def flush(self) -> None:
        """Say what is done and was not said yet."""
        if not self._fresh:
            return
        tiles, times = zip(*self._fresh, strict=True)
        self._fresh, self._sent = [], self._clock()
        done = Array.of(np.array(tiles, np.int32)), Array.of(np.array(times, np.int64))
        self._link.send(LiveTiles(tile=done[0], finished_ns=done[1], t_ns=time.monotonic_ns()))
