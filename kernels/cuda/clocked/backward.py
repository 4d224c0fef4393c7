"""The builds with clocks of backward passes, what they record into, and how that is read."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from flashscope.kernels.catalogue.workspace_backward import FLASH3_KEYS, WIDE_HEAD, flash3_tile_q
from flashscope.kernels.cuda import flash1_backward, flash2_backward, flash3_backward
from flashscope.kernels.cuda.backward import RowTiling
from flashscope.kernels.cuda.clocked import key_passes, wide_tiles
from flashscope.kernels.cuda.clocked.build import ClockedBuild, recording, require_room
from flashscope.kernels.cuda.clocked.groups import ClockedGroups
from flashscope.kernels.cuda.clocked.key_blocks import CLOCKS as STEP_CLOCKS
from flashscope.kernels.cuda.clocked.key_blocks import bars_of_a_step, key_block_bars, key_blocks, most_steps
from flashscope.kernels.cuda.clocked.key_tiles import (
    CLOCKS,
    GROUPS,
    key_tile_bars,
    key_tiles,
    most_bars,
    most_rows,
)
from flashscope.kernels.cuda.clocks import ClockedBlocks, WarpBars
from flashscope.kernels.cuda.flash2_backward import KeyTiling
from flashscope.kernels.cuda.instrument import CLOCKED, GROUP_CLOCKED, WARP, clocked, clocked_backward
from flashscope.kernels.cuda.program import Target, TileSize, ceil_div
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import ClockedKernel


def backward_build(kernel: ClockedKernel, problem: Problem, target: Target) -> ClockedBuild:
    """The build with clocks of a kernel's backward pass.

    Raises:
        UnsupportedError: The tiles leave no room in shared memory for clocks.
    """
    flash3 = _flash3_wide if problem.head_dim > WIDE_HEAD else _flash3
    build = {"flash1": _flash1, "flash2": _flash2}.get(kernel, flash3)(problem, target)
    require_room(kernel, build.program, target)
    return build


def _flash1(problem: Problem, target: Target) -> ClockedBuild:
    program = flash1_backward.program(problem, target)
    (launch,) = program.launches
    cut = RowTiling(program.defines["WARPS"], program.defines["INNER"])
    warps, parts = launch.grid * cut.warps, ceil_div(problem.head_dim, flash1_backward.PART_WIDTH)
    tile = TileSize(cut.inner, cut.outer)
    most = key_passes.most_rows(problem, tile)
    return ClockedBuild(
        tile,
        clocked(program, most, key_passes.CLOCK_BYTES),
        recording(CLOCKED, ((warps, most, key_passes.CLOCKS), (warps, 4))),
        key_passes.most_bars(problem, tile) * cut.warps * parts,
        partial(_passes, problem, (tile, parts), cut.warps),
        "flash1_backward.cu as it is timed, with clocks between its stages compiled in, on the GPU",
    )


def _passes(
    problem: Problem, cut: tuple[TileSize, int], warps: int, found: Mapping[str, Any], multiprocessors: int
) -> WarpBars:
    rows, ends = (found[name] for name in CLOCKED)
    return key_passes.key_pass_bars(problem, cut, ClockedBlocks(rows, ends, warps), multiprocessors)


def _flash3(problem: Problem, target: Target) -> ClockedBuild:
    tile = TileSize(flash3_tile_q(problem), FLASH3_KEYS)
    most = most_rows(problem, tile)
    program = clocked_backward(flash3_backward.program(problem, target), GROUP_CLOCKED, most)
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


def _flash3_wide(problem: Problem, target: Target) -> ClockedBuild:
    tile = TileSize(flash3_tile_q(problem), FLASH3_KEYS)
    most = wide_tiles.most_rows(problem, tile)
    program = clocked_backward(flash3_backward.program(problem, target), GROUP_CLOCKED, most)
    blocks = program.launches[1].grid
    return ClockedBuild(
        tile,
        program,
        recording(GROUP_CLOCKED, ((blocks, GROUPS, most, wide_tiles.CLOCKS), (blocks, GROUPS, 4))),
        wide_tiles.most_bars(problem, tile),
        partial(_read_wide, problem, tile),
        "flash3_backward_wide.cu as it is timed, with clocks between its warpgroups' stages compiled in, on "
        "the GPU; the launches before and after it, of the rows' states and of dQ's conversion, have none",
    )


def _read_wide(problem: Problem, tile: TileSize, found: Mapping[str, Any], multiprocessors: int) -> WarpBars:
    rows, ends = (found[name] for name in GROUP_CLOCKED)
    return wide_tiles.wide_tile_bars(problem, tile, ClockedGroups(rows, ends), multiprocessors)


def _read(problem: Problem, tile: TileSize, found: Mapping[str, Any], multiprocessors: int) -> WarpBars:
    rows, ends = (found[name] for name in GROUP_CLOCKED)
    return key_tile_bars(problem, tile, ClockedGroups(rows, ends), multiprocessors)


def _flash2(problem: Problem, target: Target) -> ClockedBuild:
    program = flash2_backward.program(problem, target)
    cut = KeyTiling(*(program.defines[name] for name in KeyTiling.names()))
    tile, main, warps = TileSize(cut.queries, cut.keys), program.launches[1], cut.threads // WARP
    most, together = most_steps(problem, tile), flash2_backward.section(problem)
    blocks = [*key_blocks(problem, tile, together)]
    each = bars_of_a_step(cut, deterministic=problem.deterministic)
    bars = sum(len(one.steps) for one in blocks) * each + len(blocks)
    dq = "of dQ" if problem.deterministic else "of dQ's conversion"
    return ClockedBuild(
        tile,
        clocked_backward(program, CLOCKED, most),
        recording(CLOCKED, ((main.grid * warps, most, STEP_CLOCKS), (main.grid * warps, 4))),
        bars * warps,
        partial(_warps, problem, (tile, together), warps),
        "flash2_backward.cu as it is timed, with clocks between its stages compiled in, on the GPU; the "
        f"launches before and after it, of the rows' states and {dq}, have none",
    )


def _warps(
    problem: Problem, cut: tuple[TileSize, int], warps: int, found: Mapping[str, Any], multiprocessors: int
) -> WarpBars:
    steps, ends = (found[name] for name in CLOCKED)
    return key_block_bars(problem, cut, ClockedBlocks(steps, ends, warps), multiprocessors)
