"""Kernels with their recording switched on: those on the FMA units in any tiles, others as they are timed."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from msgspec import structs

from flashscope.kernels.catalogue.flash3_share import Share, share
from flashscope.kernels.cuda import flash1, flash2, flash3, flash3_fp8, simt, simt_flash1
from flashscope.kernels.cuda.program import Program, Struct, Target, TileSize, round_up
from flashscope.kernels.cuda.simt_layout import TILE_STEP
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import FP8_HEADROOM, HEADROOM, TimedKernel, TraceRequest

RECORDED = ("trace_s", "trace_m", "trace_l", "trace_alpha", "trace_o", "trace_t_ns", "trace_sm")
"""Buffers of the recording, in the order of Recording in trace.cuh and the two headers beside it."""
TWICE = "trace_twice"
"""Buffer of the rows whose weights are computed twice, which flash3-fp8 records beside those."""
MERGED = ("trace_merge_m", "trace_merge_l", "trace_merge_o")
"""Buffers of what merges parts of keys, in the order of MergeRecording in trace_warpgroups.cuh."""


def instrumented(request: TraceRequest, problem: Problem) -> Program:
    """The program of a loop order with small blocks, and with the recording compiled in.

    The FMA units take blocks of any size, whatever the dtype; in 16 bits the timed kernels multiply on the
    tensor cores instead, in tiles of their own.
    """
    block = TileSize(request.block_q, request.block_k)
    tile = TileSize(round_up(block.q, TILE_STEP.q), round_up(block.k, TILE_STEP.k))
    build = simt_flash1.build if request.order == "flash1" else simt.build
    program = build(problem, tile, block)
    first, *others = program.launches
    recording = Struct((*RECORDED, np.int32(request.reverse)))
    first = replace(first, arguments=(*first.arguments[:-1], recording))
    return replace(program, defines={**program.defines, "TRACE": 1}, launches=(first, *others))


class TimedCut(NamedTuple):
    """What a timed kernel makes of a problem.

    Attributes:
        tile: Its tile.
        headroom: By how much the maximum of a row may pass the reference point of the exponents before that
            follows, in units of the scaled scores; 0: it follows at once.
        program: Its program, without a recording.
        packed: Query heads that fill the rows of its tiles one after the other.
        splits: Parts that a tile's keys are cut into.
    """

    tile: TileSize
    headroom: float
    program: Program
    packed: int = 1
    splits: int = 1

    @property
    def additions(self) -> int:
        """Additions of the launch that merges parts: of these, and of the sums that they go into."""
        if self.splits == 1:
            return 0
        *_, lanes = self.program.launches[-1].arguments
        return self.splits + int(lanes) - 1

    def of(self, request: TraceRequest) -> TraceRequest:
        """The request with the tile, the order and the share that the kernel takes."""
        first = request.kernel == "flash1"
        return structs.replace(
            request,
            order="flash1" if first else "flash2",
            block_q=self.tile.q,
            block_k=self.tile.k,
            reverse=not first and request.problem.block_mask is None,
            packed=self.packed,
            splits=self.splits,
        )


def timed_cut(kernel: TimedKernel, problem: Problem, target: Target, chosen: Share | None = None) -> TimedCut:
    """How a timed kernel takes a problem in 16 bits, with all its heads; flash3 as `chosen` or as is best.

    Raises:
        UnsupportedError: A block mask before flash3, which walks over its keys in an order of its own.
    """
    if kernel == "flash1":
        return TimedCut(flash1.cut(problem, target).tile, 0.0, flash1.program(problem, target))
    if kernel == "flash2":
        return TimedCut(flash2.cut(problem, target).tile, HEADROOM, flash2.program(problem, target))
    if kernel == "flash3-fp8":
        fp8 = flash3_fp8.fp8_variant(problem.head_dim)
        return TimedCut(fp8.tile, FP8_HEADROOM, flash3_fp8.program(problem, target))
    if problem.block_mask is not None:
        raise UnsupportedError("flash3 is not traced under a block mask; flash2 is.")
    chosen = chosen or share(problem)
    variant = flash3.tiling_of(problem, "flash3", chosen)[0]
    headroom, program = HEADROOM if variant.lazy else 0.0, flash3.program(problem, target, "flash3", chosen)
    return TimedCut(variant.tile, headroom, program, chosen.pack_gqa, chosen.splits)


WARP = 32
CLOCKED = ("clock_steps", "clock_ends")
"""Buffers of the clocks, in the order of ClockRecording in clocks.cuh."""


def clocked(program: Program, most_steps: int, clock_bytes: int = 0) -> Program:
    """A timed kernel's program with clocks between its stages compiled in.

    Args:
        program: flash2's, in 16 bits, or flash1's, whose first launch gets clocks.
        most_steps: The tiles that a block visits at most: the room for each warp.
        clock_bytes: Shared memory for those of a step, for each warp; flash2 keeps them in a register.
    """
    launch, *others = program.launches
    recording = Struct((*CLOCKED, np.int32(most_steps)))
    launch = replace(
        launch,
        arguments=(*launch.arguments, recording),
        shared_bytes=launch.shared_bytes + clock_bytes * launch.threads // WARP,
    )
    return replace(program, defines={**program.defines, "CLOCKS": 1}, launches=(launch, *others))


GROUP_CLOCKED = ("clock_rows", "clock_ends")
"""Buffers of the clocks of flash3, in the order of ClockRecording in flash3_clocks.cuh."""
MERGE_CLOCKED = "clock_merges"
"""The buffer of the times of the launch that merges parts of keys."""
GROUP_CLOCK_BYTES, BARRIER_PADDING = 48, 8  # of shared memory: for each warpgroup, and before the first
BACKWARD_CLOCK_BYTES = 288  # of its backward pass: of both warpgroups that compute and of what is loaded


def clocked_groups(program: Program, most_rows: int) -> Program:
    """A timed kernel's program with clocks between the stages of its warpgroups compiled in.

    Args:
        program: flash3's, whose second launch merges parts of keys, or flash3-fp8's, whose first one rounds.
        most_rows: The rows of clocks that a tile of queries has at most: the room for each warpgroup.
    """
    before = [one for one in program.launches if one.entry == "quantise"]
    first, *others = program.launches[len(before) :]
    groups = program.defines["GROUPS"] + 1
    first = replace(
        first,
        arguments=(*first.arguments, Struct((*GROUP_CLOCKED, np.int32(most_rows)))),
        shared_bytes=first.shared_bytes + BARRIER_PADDING + GROUP_CLOCK_BYTES * groups,
    )
    merges = (replace(one, arguments=(*one.arguments, MERGE_CLOCKED)) for one in others)
    return replace(program, defines={**program.defines, "CLOCKS": 1}, launches=(*before, first, *merges))


def clocked_backward(program: Program, names: tuple[str, str], most_rows: int) -> Program:
    """A backward pass with clocks between the stages of its warps or warpgroups compiled in.

    Args:
        program: flash2's or flash3's. Of its launches the one in the middle gets clocks, which computes dK
            and dV, and as a rule the sums of dQ.
        names: The buffers of the clocks.
        most_rows: The rows of clocks that a tile of keys has at most: the room for each warp or warpgroup.
    """
    before, main, after = program.launches
    main = replace(
        main,
        arguments=(*main.arguments, Struct((*names, np.int32(most_rows)))),
        shared_bytes=main.shared_bytes + BACKWARD_CLOCK_BYTES * (names == GROUP_CLOCKED),
    )
    return replace(program, defines={**program.defines, "CLOCKS": 1}, launches=(before, main, after))


def timed(program: Program, head: int) -> Program:
    """A timed kernel's program with its recording compiled in.

    Args:
        program: What is timed.
        head: Which is recorded, among those of all sequences as the launch counts them: packed ones are one.
    """
    main = program.source.removesuffix(".cu")
    twice: tuple[Any, ...] = {"flash3": (np.uintp(0),), "flash3_fp8": (TWICE,)}.get(main, ())
    fields = {main: (*RECORDED, np.int32(head), *twice), "flash3_combine": (*MERGED, np.int32(head))}
    launches = (
        replace(launch, arguments=(*launch.arguments, Struct(fields[launch.entry])))
        if launch.entry in fields
        else launch
        for launch in program.launches
    )
    return replace(program, defines={**program.defines, "TRACE": 1}, launches=tuple(launches))
