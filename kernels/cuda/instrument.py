"""The tiled kernels with their recording switched on: the same source, compiled apart from the timed one."""

from dataclasses import replace

import numpy as np

from kernels.cuda import flash1, flash2
from kernels.cuda.program import Program, Target, Tile, round_up
from kernels.cuda.units import units_for
from kernels.problem import Problem
from kernels.trace import TraceRequest

RECORDED = ("trace_s", "trace_m", "trace_l", "trace_alpha", "trace_o", "trace_t_ns", "trace_sm")
"""Buffers of the recording, in the order of TRACE_PARAMETERS in trace.cuh."""


def instrumented(request: TraceRequest, problem: Problem, target: Target) -> Program:
    """The kernel's own program with small blocks, and with the recording compiled in."""
    units = units_for(problem, target)
    block = Tile(request.block_q, request.block_k)
    tile = Tile(round_up(block.q, units.tile_step.q), round_up(block.k, units.tile_step.k))
    build = flash1.build if request.order == "flash1" else flash2.build
    program = build(problem, units, tile, block)
    first, *others = program.stages
    first = replace(first, arguments=(*first.arguments, *RECORDED, np.int32(request.reverse)))
    return replace(program, defines={**program.defines, "TRACE": 1}, stages=(first, *others))
