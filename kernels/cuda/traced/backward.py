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
from flashscope.kernels.cuda.program import NO_POINTER, Program, Struct, Target, TileSize
from flashscope.kernels.launching.backward_tracing import (
    BackwardStates,
    DqRun,
    DqStates,
    backward_problem,
    sums_in_order,
)
from flashscope.kernels.workload.backward_trace import BackwardTraceRequest
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.problem import Problem

RECORDED = (
    *("trace_p", "trace_dp", "trace_ds", "trace_delta", "trace_dq", "trace_dk", "trace_dv"),
    *("trace_turn", "trace_t_ns", "trace_sm"),
)
"""Buffers of the recording, in the order of BackwardRecording in backward_recording.cuh."""
OF_DQ = (
    "trace_dq_p",
    "trace_dq_dp",
    "trace_dq_ds",
    "trace_dq_sums",
    "trace_dq_turn",
    "trace_dq_t_ns",
    "trace_dq_sm",
)
"""Buffers of the recording of a launch that computes dQ alone."""
DQ_LAUNCH = "flash2_backward_queries"
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
        dq_tile: The tile of a launch that computes dQ alone; None: there is no such launch.
    """

    asked: BackwardTraceRequest
    program: Program
    dq_tile: TileSize | None = None

    @property
    def dq_asked(self) -> BackwardTraceRequest | None:
        """The request in the tile of the launch that computes dQ alone; None: there is none."""
        if self.dq_tile is None:
            return None
        return structs.replace(self.asked, block_q=self.dq_tile.q, block_k=self.dq_tile.k)


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
    return BackwardCut(asked, program, _dq_tile(program))


def _dq_tile(program: Program) -> TileSize | None:
    if all(one.entry != DQ_LAUNCH for one in program.launches):
        return None
    rows = RowTiling(program.defines["OUTER_WARPS"], program.defines["INNER"])
    return TileSize(rows.outer, rows.inner)


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
    recordings = dict.fromkeys(MAIN_LAUNCHES, Struct((*RECORDED, np.int32(kv_head))))
    p, dp, ds, sums, *rest = OF_DQ
    absent = NO_POINTER  # what this launch has not: delta, dK and dV
    recordings[DQ_LAUNCH] = Struct((p, dp, ds, absent, sums, absent, absent, *rest, np.int32(kv_head)))
    launches = (
        replace(one, arguments=(*one.arguments, recordings[one.entry])) if one.entry in recordings else one
        for one in program.launches
    )
    return replace(program, defines={**program.defines, "TRACE": 1}, launches=tuple(launches))


def recording_shapes(cut: BackwardCut) -> dict[str, tuple[tuple[int, ...], Any]]:
    """Shape and dtype of each buffer of the recording, which must be zero before.

    Raises:
        InputError: There is no room for so many tiles.
    """
    asked = cut.asked
    empty = BackwardStates.empty(0, asked.block_q, asked.block_k, asked.problem.head_dim)
    shapes = _places(asked, RECORDED, [one.shape[1:] for one in empty])
    apart = cut.dq_asked
    if apart is not None:
        cells, rows = (apart.block_q, apart.block_k), (apart.block_q, apart.problem.head_dim)
        shapes |= _places(apart, OF_DQ, [cells, cells, cells, rows])
    size = sum(prod(shape) * np.dtype(dtype).itemsize for shape, dtype in shapes.values())
    if size > MAX_RECORDING_BYTES:
        raise InputError(
            f"Recording {prod(asked.grid)} places of tiles takes {size / 2**30:.1f} GiB of GPU memory where "
            f"at most {MAX_RECORDING_BYTES // 2**30} GiB are taken; shorten the sequences."
        )
    return shapes


def _places(
    asked: BackwardTraceRequest, names: tuple[str, ...], states: list[tuple[int, ...]]
) -> dict[str, tuple[tuple[int, ...], Any]]:
    """Room for every tile: for its states, and behind them its turn, its end and its SM."""
    places = prod(asked.grid)
    shapes: list[tuple[tuple[int, ...], Any]] = [((places, *one), np.float32) for one in states]
    shapes += [((places,), dtype) for dtype in (np.int32, np.int64, np.int32)]
    return dict(zip(names, shapes, strict=True))


class Collected(NamedTuple):
    """What the buffers of a recording hold.

    Attributes:
        tile: The tiles in the order in which they are told, int32 (T, 3).
        states: What each held.
        clocks: %globaltimer in ns, int64 (T,), and SM, int32 (T,), of each tile.
        apart: The launch that computes dQ alone; None: there is none.
    """

    tile: Any
    states: BackwardStates
    clocks: tuple[Any, Any]
    apart: DqRun | None


def collected(cut: BackwardCut, taken: TakenSlots) -> Collected:
    """Read a recording.

    Tiles of keys rise, as the blocks take them of one head; in each the recorded turns do.
    """
    asked = cut.asked
    ran, tile = _in_order(asked, taken("trace_turn", slice(None)), outer=(2,))
    p, dp, ds, delta, dq, dk, dv, _, t_ns, sm = (taken(name, ran) for name in RECORDED)
    states = BackwardStates(p, dp, ds, delta, sums_in_order(tile, dq), dk, dv)
    return Collected(tile, states, (t_ns, sm), _collected_apart(cut, taken))


def _collected_apart(cut: BackwardCut, taken: TakenSlots) -> DqRun | None:
    asked = cut.dq_asked
    if asked is None:
        return None
    ran, tile = _in_order(asked, taken("trace_dq_turn", slice(None)), outer=(0, 1))
    p, dp, ds, sums, _, t_ns, sm = (taken(name, ran) for name in OF_DQ)
    return DqRun(tile, DqStates(p, dp, ds, sums), (t_ns, sm), asked.block_q, asked.block_k)


def _in_order(asked: BackwardTraceRequest, turn: Any, outer: tuple[int, ...]) -> tuple[Any, Any]:
    """Slots of the tiles that ran, and the tiles: by their block's place in the grid, then by their turn."""
    ran = np.flatnonzero(turn)
    places = np.stack(np.unravel_index(ran, asked.grid), axis=1)
    order = np.lexsort((turn[ran], *(places[:, axis] for axis in reversed(outer))))
    return ran[order], places[order].astype(np.int32)
