"""Which backward passes are built with their recording, what it goes into, and how that is read."""

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from msgspec import structs

from flashscope.kernels.catalogue.workspace_backward import FLASH3_KEYS, flash3_tile_q
from flashscope.kernels.cuda import flash1_backward, flash2_backward, flash3_backward
from flashscope.kernels.cuda.backward import RowTiling
from flashscope.kernels.cuda.flash2_backward import KeyTiling
from flashscope.kernels.cuda.program import Program, Struct, Target, TileSize
from flashscope.kernels.launching.backward_tracing import BackwardStates, backward_problem, sums_in_order
from flashscope.kernels.workload.backward_trace import BackwardTraceRequest
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import Problem

RECORDED = (
    *("trace_p", "trace_dp", "trace_ds", "trace_delta", "trace_dq", "trace_dk", "trace_dv"),
    *("trace_turn", "trace_t_ns", "trace_sm"),
)
"""Buffers of the recording, in the order of BackwardRecording in backward_recording.cuh."""
MAIN_LAUNCHES = ("flash1_backward", "flash2_backward_keys", "flash3_backward", "flash3_backward_wide")
"""The launches that pass by tiles of queries and keys."""
MAX_RECORDING_BYTES = 4 * 2**30  # of GPU memory: hidden tiles have room, too
FLOAT32 = "The backward pass of {} is traced in 16 bits, in which it is timed on the tensor cores."
BLOCK_MASK = "flash3's backward pass is not traced under a block mask; that of flash2 is."

TakenSlots = Callable[[str, npt.NDArray[np.int64] | slice], Any]
"""Slots of a buffer of the recording, in host memory."""


class BackwardCut(NamedTuple):
    """What a timed backward pass makes of a request.

    Attributes:
        asked: The request with the kernel's own tile.
        program: Its program, without a recording.
    """

    asked: BackwardTraceRequest
    program: Program


def backward_cut(request: BackwardTraceRequest, target: Target) -> BackwardCut:
    """How a timed backward pass takes a problem in 16 bits, with all its heads.

    Raises:
        InputError: The problem is in float32, or no tile suits its block mask.
        UnsupportedError: flash3 before a block mask.
    """
    problem = backward_problem(request.problem)
    if problem.dtype == "float32":
        raise InputError(FLOAT32.format(request.kernel))
    tile, program = _cuts(request.kernel, problem, target)
    asked = structs.replace(request, problem=problem, block_q=tile.q, block_k=tile.k)
    return BackwardCut(asked, program)


def _cuts(kernel: str, problem: Problem, target: Target) -> tuple[TileSize, Program]:
    if kernel == "flash1":
        program = flash1_backward.program(problem, target)
        rows = RowTiling(program.defines["WARPS"], program.defines["INNER"])
        return TileSize(rows.inner, rows.outer), program
    if kernel == "flash2":
        program = flash2_backward.program(problem, target)
        keys = KeyTiling(*(program.defines[name] for name in KeyTiling.names()))
        return TileSize(keys.queries, keys.keys), program
    if problem.block_mask is not None:
        raise UnsupportedError(BLOCK_MASK)
    return TileSize(flash3_tile_q(problem), FLASH3_KEYS), flash3_backward.program(problem, target)


def timed_backward(program: Program, kv_head: int) -> Program:
    """A timed backward pass's program with its recording compiled in.

    Args:
        program: What is timed.
        kv_head: Which K/V head is recorded, among those of all sequences.
    """
    recording = Struct((*RECORDED, np.int32(kv_head)))
    launches = (
        replace(one, arguments=(*one.arguments, recording)) if one.entry in MAIN_LAUNCHES else one
        for one in program.launches
    )
    return replace(program, defines={**program.defines, "TRACE": 1}, launches=tuple(launches))


def recording_shapes(asked: BackwardTraceRequest) -> dict[str, tuple[tuple[int, ...], Any]]:
    """Shape and dtype of each buffer of the recording, which must be zero before.

    Raises:
        InputError: There is no room for so many tiles.
    """
    places = prod(asked.grid)
    empty = BackwardStates.empty(0, asked.block_q, asked.block_k, asked.problem.head_dim)
    shapes: list[tuple[tuple[int, ...], Any]] = [((places, *one.shape[1:]), np.float32) for one in empty]
    shapes += [((places,), dtype) for dtype in (np.int32, np.int64, np.int32)]
    size = sum(prod(shape) * np.dtype(dtype).itemsize for shape, dtype in shapes)
    if size > MAX_RECORDING_BYTES:
        raise InputError(
            f"Recording {places} places of tiles takes {size / 2**30:.1f} GiB of GPU memory where at most "
            f"{MAX_RECORDING_BYTES // 2**30} GiB are taken; shorten the sequences."
        )
    return dict(zip(RECORDED, shapes, strict=True))


def collected(asked: BackwardTraceRequest, taken: TakenSlots) -> tuple[Any, BackwardStates, tuple[Any, Any]]:
    """The tiles in the order in which they are told, int32 (T, 3), what each held, and its end and SM.

    Tiles of keys rise, as the blocks take them of one head; in each the recorded turns do.
    """
    turn = taken("trace_turn", slice(None))
    ran = np.flatnonzero(turn)
    places = np.stack(np.unravel_index(ran, asked.grid), axis=1)
    order = np.lexsort((turn[ran], places[:, 2]))
    ran, tile = ran[order], places[order].astype(np.int32)
    p, dp, ds, delta, dq, dk, dv, _, t_ns, sm = (taken(name, ran) for name in RECORDED)
    states = BackwardStates(p, dp, ds, delta, sums_in_order(tile, dq), dk, dv)
    return tile, states, (t_ns, sm)
