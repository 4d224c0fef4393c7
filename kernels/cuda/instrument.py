"""Kernels with their recording switched on: those on the FMA units in any tiles, flash2 as it is timed."""

from dataclasses import replace

import numpy as np

from flashscope.kernels.cuda import flash2, simt, simt_flash1
from flashscope.kernels.cuda.program import Program, Struct, Target, TileSize, round_up
from flashscope.kernels.cuda.simt_layout import TILE_STEP
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import TraceRequest

RECORDED = ("trace_s", "trace_m", "trace_l", "trace_alpha", "trace_o", "trace_t_ns", "trace_sm")
"""Buffers of the recording, in the order of Recording in trace.cuh and trace_fragments.cuh."""


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


def timed_tile(problem: Problem, target: Target) -> TileSize:
    """The tile that the timed flash2 takes for a problem in 16 bits."""
    return flash2.cut(problem, target).tile


def timed(problem: Problem, target: Target) -> Program:
    """The program of the timed flash2 for one head in 16 bits, with the recording compiled in."""
    program = flash2.program(problem, target)
    (launch,) = program.launches
    launch = replace(launch, arguments=(*launch.arguments, Struct(RECORDED)))
    return replace(program, defines={**program.defines, "TRACE": 1}, launches=(launch,))
