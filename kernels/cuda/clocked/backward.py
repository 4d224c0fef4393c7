"""The builds with clocks of backward passes, what they record into, and how that is read."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from flashscope.kernels.catalogue.workspace_backward import FLASH3_KEYS, WIDE_HEAD, flash3_tile_q
from flashscope.kernels.cuda import flash3_backward
from flashscope.kernels.cuda.clocked.build import ClockedBuild, recording
from flashscope.kernels.cuda.clocked.groups import ClockedGroups
from flashscope.kernels.cuda.clocked.key_tiles import (
    CLOCKS,
    GROUPS,
    key_tile_bars,
    key_tiles,
    most_bars,
    most_rows,
)
from flashscope.kernels.cuda.clocks import WarpBars
from flashscope.kernels.cuda.instrument import GROUP_CLOCKED, clocked_backward
from flashscope.kernels.cuda.program import Target, TileSize
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import ClockedKernel

TOO_WIDE = f"flash3's backward pass is built with clocks up to head dim {WIDE_HEAD}."
NO_BACKWARD = "Of the backward passes flash3's alone is built with clocks between its stages."


def backward_build(kernel: ClockedKernel, problem: Problem, target: Target) -> ClockedBuild:
    """The build with clocks of a kernel's backward pass.

    Raises:
        UnsupportedError: There is none; the text says what there is.
    """
    if kernel != "flash3":
        raise UnsupportedError(NO_BACKWARD)
    return _flash3(problem, target)


def _flash3(problem: Problem, target: Target) -> ClockedBuild:
    if problem.head_dim > WIDE_HEAD:
        raise UnsupportedError(TOO_WIDE)
    tile = TileSize(flash3_tile_q(problem), FLASH3_KEYS)
    most = most_rows(problem, tile)
    program = clocked_backward(flash3_backward.program(problem, target), most)
    tiles = sum(1 for _ in key_tiles(problem, tile))
    shapes = (tiles, GROUPS, most, CLOCKS), (program.launches[1].grid, GROUPS, 4)
    return ClockedBuild(
        tile,
        program,
        recording(GROUP_CLOCKED, shapes),
        most_bars(problem, tile),
        partial(_read, problem, tile),
        "flash3_backward.cu as it is timed, with clocks between its warpgroups' stages compiled in, on the "
        "GPU; the launches before and after it, of the rows' states and of dQ's conversion, have none",
    )


def _read(problem: Problem, tile: TileSize, found: Mapping[str, Any], multiprocessors: int) -> WarpBars:
    rows, ends = (found[name] for name in GROUP_CLOCKED)
    return key_tile_bars(problem, tile, ClockedGroups(rows, ends), multiprocessors)
