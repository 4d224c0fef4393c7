"""Which kernels have a build with clocks on a GPU, what it records into, and how that is read."""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from flashscope.kernels.catalogue.flash3_share import Share, share, usual_shape
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.sources import digest_keys, source_digest
from flashscope.kernels.cuda import flash1, flash2, flash3, flash3_fp8
from flashscope.kernels.cuda.clocked.backward import backward_build
from flashscope.kernels.cuda.clocked.build import ClockedBuild, recording, require_room
from flashscope.kernels.cuda.clocked.groups import ClockedGroups, GroupCut, group_bars, most_rows
from flashscope.kernels.cuda.clocked.passes import CLOCK_BYTES, CLOCKS, STAGES, pass_bars, passes
from flashscope.kernels.cuda.clocks import ClockedBlocks, WarpBars, lane_bars, most_steps
from flashscope.kernels.cuda.instrument import CLOCKED, GROUP_CLOCKED, MERGE_CLOCKED, clocked, clocked_groups
from flashscope.kernels.cuda.program import HOPPER, Target, TileSize, ceil_div
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import ClockedKernel, StageTimeline, TimelineRequest, check_bars
from flashscope.kernels.workload.trace import Array

WARP, STAGES_OF_A_STEP = 32, 4
NO_BUILD = "On a GPU flash1, flash2, the steps of flash3 and flash3-fp8 have clocks, of inputs in 16 bits."
NOT_PLAIN = "A timeline is of one pass without a block mask, of sequences that are as long as their arrays."
NO_HOPPER = "flash3 runs on Hopper alone."


def clocked_build(kernel: ClockedKernel, problem: Problem, target: Target) -> ClockedBuild:
    """The build with clocks of a kernel, for a problem on a GPU.

    Raises:
        UnsupportedError: There is none; the text says what there is.
    """
    if problem.dtype == "float32":
        raise UnsupportedError(NO_BUILD)
    ragged = problem.query_lengths is not None or problem.key_lengths is not None
    if ragged or problem.block_mask is not None or problem.passes == "both":
        raise UnsupportedError(NOT_PLAIN)
    if kernel not in {"flash1", "flash2"} and target.compute_capability != HOPPER:
        raise UnsupportedError(NO_HOPPER)
    if problem.passes == "backward":
        if find_kernel(kernel).backward is None:
            raise UnsupportedError(f"{kernel} has no backward pass.")
        return backward_build(kernel, problem, target)
    if kernel == "flash1":
        return _flash1(problem, target)
    if kernel == "flash2":
        return _flash2(problem, target)
    if kernel == "flash3-fp8":
        return _flash3_fp8(problem, target)
    chosen = share(problem) if kernel == "flash3" else Share(usual_shape(problem))
    return flash3_build(problem, target, chosen, kernel)


def _flash1(problem: Problem, target: Target) -> ClockedBuild:
    tile, program = flash1.cut(problem, target).tile, flash1.program(problem, target)
    launch = program.launches[0]
    warps, most = launch.threads // WARP, max(1, len(passes(problem, tile)))
    watched = clocked(program, most, CLOCK_BYTES)
    require_room("flash1", watched, target)
    return ClockedBuild(
        tile,
        watched,
        recording(CLOCKED, ((launch.grid * warps, most, CLOCKS), (launch.grid * warps, 4))),
        launch.grid * warps * len(STAGES) * most,
        partial(_pass_warps, problem, tile, warps),
        "flash1.cu as it is timed, with clocks between its stages compiled in, on the GPU; the launch "
        "after it, which rounds O, has none",
    )


def _flash2(problem: Problem, target: Target) -> ClockedBuild:
    tile, program = flash2.cut(problem, target).tile, flash2.program(problem, target)
    (launch,) = program.launches
    warps, most = launch.threads // WARP, most_steps(problem, tile)
    shapes = (launch.grid * warps, most, 4), (launch.grid * warps, 4)
    return ClockedBuild(
        tile,
        clocked(program, most),
        recording(CLOCKED, shapes),
        launch.grid * warps * (STAGES_OF_A_STEP * most + 1),
        partial(_warps, problem, tile, warps),
        "flash2.cu as it is timed, with clocks between its stages compiled in, on the GPU",
    )


def flash3_build(problem: Problem, target: Target, chosen: Share, step: str = "flash3") -> ClockedBuild:
    """That of flash3, or a step of the ladder before it, shared among the SMs as `chosen`.

    Raises:
        UnsupportedError: The share leaves no room in shared memory for clocks.
    """
    variant = flash3.tiling_of(problem, step, chosen)[0]
    tile = variant.tile
    cut = GroupCut(tile, chosen.splits, chosen.pack_gqa, bool(variant.overlap))
    most = most_rows(problem, tile)
    program = clocked_groups(flash3.program(problem, target, step, chosen), most)
    launch, *merge = program.launches
    require_room("flash3", program, target)
    heads = problem.batch * problem.heads // chosen.pack_gqa * chosen.splits
    tiles = heads * ceil_div(problem.seqlen_q * chosen.pack_gqa, tile.q)
    merges = sum(one.grid for one in merge)
    buffers = recording(GROUP_CLOCKED, ((tiles, cut.lanes, most, 4), (launch.grid, cut.lanes, 4)))
    return ClockedBuild(
        tile,
        program,
        buffers | dict.fromkeys([MERGE_CLOCKED] * len(merge), ((merges, 4), np.uint64)),
        tiles * cut.lanes * STAGES_OF_A_STEP * most + merges,
        partial(_groups, problem, cut),
        "flash3.cu as it is timed, with clocks between its warpgroups' stages compiled in, on the GPU",
        chosen.pack_gqa,
    )


def _flash3_fp8(problem: Problem, target: Target) -> ClockedBuild:
    tile = flash3_fp8.fp8_variant(problem.head_dim).tile
    cut, most = GroupCut(tile, fp8=True), most_rows(problem, tile)
    program = clocked_groups(flash3_fp8.program(problem, target), most)
    launch = program.launches[-1]
    tiles = problem.batch * problem.heads * ceil_div(problem.seqlen_q, tile.q)
    return ClockedBuild(
        tile,
        program,
        recording(GROUP_CLOCKED, ((tiles, cut.lanes, most, 4), (launch.grid, cut.lanes, 4))),
        tiles * cut.lanes * STAGES_OF_A_STEP * most,
        partial(_groups, problem, cut),
        "flash3_fp8.cu as it is timed, with clocks between its warpgroups' stages compiled in, on the GPU; "
        "the launch before it, which rounds Q, K and V, has none",
    )


def _warps(
    problem: Problem, tile: TileSize, warps: int, found: Mapping[str, Any], multiprocessors: int
) -> WarpBars:
    steps, ends = (found[name] for name in CLOCKED)
    return lane_bars(problem, tile, ClockedBlocks(steps, ends, warps), multiprocessors)


def _pass_warps(
    problem: Problem, tile: TileSize, warps: int, found: Mapping[str, Any], multiprocessors: int
) -> WarpBars:
    steps, ends = (found[name] for name in CLOCKED)
    return pass_bars(problem, tile, ClockedBlocks(steps, ends, warps), multiprocessors)


def _groups(problem: Problem, cut: GroupCut, found: Mapping[str, Any], multiprocessors: int) -> WarpBars:
    rows, ends = (found[name] for name in GROUP_CLOCKED)
    clocks = ClockedGroups(rows, ends, found.get(MERGE_CLOCKED))
    return group_bars(problem, cut, clocks, multiprocessors)


class ClockedRounds(NamedTuple):
    """What the rounds of both builds took, and what the quickest one recorded.

    Attributes:
        clocked_ns: How long the build with clocks took in each round.
        plain_ns: How long the timed build took.
        quickest: The buffers of the quickest round with clocks, in host memory.
    """

    clocked_ns: list[int]
    plain_ns: list[int]
    quickest: dict[str, Any]


def timeline_of(
    request: TimelineRequest,
    build: ClockedBuild,
    device: Device,
    took: ClockedRounds,
    registers: tuple[int, int] | None = None,
) -> StageTimeline:
    """The timeline of the quickest round, and the registers of both builds where they are known.

    Raises:
        InputError: No SM that was asked for had anything to do, or they had too much.
    """
    multiprocessors = device.multiprocessors or 1
    bars = build.bars(took.quickest, min(request.sms or multiprocessors, multiprocessors))
    if not bars.lane.size:
        raise InputError(f"None of the first {request.sms} SMs had a block of it; choose more of them.")
    check_bars(len(bars.lane))
    (digest,) = digest_keys(request.kernel, request.problem.passes)
    arrays = {name: Array.of(one) for name, one in bars._asdict().items() if isinstance(one, np.ndarray)}
    return StageTimeline(
        request=request,
        device=device.name,
        source=build.source,
        build=source_digest("cuda", digest) or "",
        block_q=build.tile.q,
        block_k=build.tile.k,
        row_kind="SM",
        lanes=bars.lanes,
        span_ns=bars.span_ns,
        clocked_ns=Array.of(np.array(took.clocked_ns, np.int64)),
        plain_ns=Array.of(np.array(took.plain_ns, np.int64)),
        packed=build.packed,
        registers=registers,
        **arrays,
    )
