"""Which kernels have a build for slow motion on a GPU, which tiles it tells of, and at which pace it runs.

After each tile its threads say so in memory of the host and wait until a tile's share of the time has passed
(include/live.cuh). That share is the time that was chosen over the steps of the longest chain of tiles: of
the blocks that one place of an SM runs one after the other.
"""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from flashscope.kernels.catalogue.flash3_share import Share, share
from flashscope.kernels.cuda import flash1, flash2, flash3, flash3_sections
from flashscope.kernels.cuda.clocked.groups import GroupCut, GroupTile, tiles
from flashscope.kernels.cuda.clocks import walk
from flashscope.kernels.cuda.program import Program, Struct, Target, TileSize, ceil_div
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.live import LiveKernel, Tile, kept_tiles
from flashscope.kernels.workload.problem import Problem

RECORDED = TOLD, STOP, DUE, BEGUN = "live_told", "live_stop", "live_due", "live_begun"
"""Buffers of a launch, in the order of Recording in live.cuh."""
WARP = 32
IN_16_BITS = "In slow motion a GPU runs the kernels on its tensor cores: choose float16 or bfloat16."
NOT_PLAIN = (
    "A launch in slow motion is of a forward pass without a block mask whose sequences fill their arrays."
)
NOT_PACKED = (
    "Here flash3 takes the query heads that share K and V as one; a launch in slow motion is of heads that "
    "it takes apart."
)


WATCHDOG = (
    "This GPU drives a display, and its driver ends every kernel that runs longer than about 2 s: a launch "
    "in slow motion takes 5 s or more. Choose the CPU, or a GPU without a display."
)
NO_HOST_MEMORY = (
    "This GPU cannot write into memory of the host, so that it cannot tell of its tiles while it runs."
)


def check_gpu(*, times_out: bool, maps_memory: bool) -> None:
    """Refuse a GPU that cannot run long kernels, or cannot tell of them.

    Raises:
        UnsupportedError: The text says which.
    """
    if times_out:
        raise UnsupportedError(WATCHDOG)
    if not maps_memory:
        raise UnsupportedError(NO_HOST_MEMORY)


class LiveBuild(NamedTuple):
    """A build for slow motion of one problem.

    Attributes:
        tile: Its tile.
        program: The timed program, which `slowed` slows down.
        telling: int32 (heads, Ti, Tj): how many warpgroups or blocks tell of each tile; 0: none computes it.
        reporters: How many can tell of a tile.
        steps: Of each block, or of each tile that blocks draw, how many tiles it takes one after the other;
            in the order in which they begin.
        draws: Whether the blocks of the launch stay and draw tiles.
    """

    tile: TileSize
    program: Program
    telling: npt.NDArray[np.int32]
    reporters: int
    steps: tuple[int, ...]
    draws: bool = False

    @property
    def tiles(self) -> int:
        """How many tiles are computed, of all heads."""
        return int(np.count_nonzero(self.telling))

    def chain(self, places: int) -> int:
        """The steps of the longest chain of tiles where so many blocks run side by side."""
        grid = self.program.launches[0].grid
        busy = [0] * min(grid if self.draws else places, max(1, len(self.steps)))
        for count in self.steps:
            heapq.heapreplace(busy, busy[0] + count)
        return max(1, *busy)

    @property
    def warps(self) -> int:
        """The warps of all blocks."""
        launch = self.program.launches[0]
        return launch.grid * launch.threads // WARP

    def slowed(self, tile_ns: int) -> Program:
        """The program that waits after each tile until so much time has passed since the one before."""
        first, *others = self.program.launches
        recording = Struct((*RECORDED, np.uint64(tile_ns)))
        first = replace(first, arguments=(*first.arguments, recording))
        return replace(self.program, defines={**self.program.defines, "LIVE": 1}, launches=(first, *others))


def live_build(kernel: LiveKernel, problem: Problem, target: Target) -> LiveBuild:
    """The build for slow motion of a kernel, for a problem on a GPU.

    Raises:
        UnsupportedError: There is none; the text says what there is.
    """
    if problem.dtype == "float32":
        raise UnsupportedError(IN_16_BITS)
    if not problem.even or problem.block_mask is not None or problem.passes != "forward":
        raise UnsupportedError(NOT_PLAIN)
    if kernel == "flash3":
        return flash3_build(problem, target, share(problem))
    return _flash1(problem, target) if kernel == "flash1" else _flash2(problem, target)


def _flash1(problem: Problem, target: Target) -> LiveBuild:
    """A block for each head, which takes all of its tiles."""
    program = flash1.program(problem, target)
    tile = flash1.cut(problem, target).tile
    kept = [*kept_tiles(problem, *tile)]
    heads = range(problem.batch * problem.heads)
    told = ((head, i, j) for head in heads for i, j in kept)
    return LiveBuild(tile, program, _telling(problem, tile, told), 1, (len(kept),) * len(heads))


def _flash2(problem: Problem, target: Target) -> LiveBuild:
    """A block for each tile of queries."""
    program, tile = flash2.program(problem, target), flash2.cut(problem, target).tile
    walked = [walk(problem, tile, block) for block in range(program.launches[0].grid)]
    told = ((head, i, j) for head, i, keys in walked for j in keys)
    return LiveBuild(
        tile, program, _telling(problem, tile, told), 1, tuple(len(keys) for _, _, keys in walked)
    )


def flash3_build(problem: Problem, target: Target, chosen: Share) -> LiveBuild:
    """That of flash3, shared among the SMs as `chosen`; its warpgroups tell of their rows.

    Raises:
        UnsupportedError: The share packs heads.
    """
    if chosen.pack_gqa > 1:
        raise UnsupportedError(NOT_PACKED)
    variant = flash3.tiling_of(problem, "flash3", chosen)[0]
    cut = GroupCut(variant.tile, chosen.splits)
    numbered = [*tiles(problem, cut)]
    told = ((one.head, one.i, j) for one in numbered for of_group in one.of_groups for j in of_group)
    return LiveBuild(
        variant.tile,
        flash3.program(problem, target, chosen=chosen),
        _telling(problem, variant.tile, told),
        variant.groups,
        tuple(max(map(len, one.of_groups)) for one in as_drawn(problem, cut, numbered)),
        bool(variant.schedule),
    )


def as_drawn(problem: Problem, cut: GroupCut, numbered: list[GroupTile]) -> Iterator[GroupTile]:
    """The tiles in the order in which blocks take them: `Work::place` of flash3_tiles.cuh."""
    heads, rows = problem.batch * problem.heads * cut.splits, ceil_div(problem.seqlen_q, cut.tile.q)
    section = min(heads, flash3_sections.section(problem) * cut.splits)
    rising = flash3_sections.rises(problem)
    for first in range(0, heads, section):
        width = min(section, heads - first)
        for rest in range(width * rows):
            row = rest // width
            yield numbered[(first + rest % width) * rows + (row if rising else rows - 1 - row)]


def _telling(problem: Problem, tile: TileSize, told: Iterable[Tile]) -> npt.NDArray[np.int32]:
    """How often each tile is told of."""
    shape = (
        problem.batch * problem.heads,
        ceil_div(problem.seqlen_q, tile.q),
        ceil_div(problem.seqlen_k, tile.k),
    )
    count = np.zeros(shape, np.int32)
    places: Any = np.array([*told], np.intp).reshape(-1, 3)
    np.add.at(count, tuple(places.T), 1)
    return count
