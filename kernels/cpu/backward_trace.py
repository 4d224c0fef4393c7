"""One K/V head's backward pass, with a state after every tile: the kernels' own steps, watched."""

from dataclasses import dataclass, field
from functools import partial

import msgspec
import numpy as np

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cpu.backward import CpuBackward, HeadRows
from flashscope.kernels.cpu.backward_tiles import BackwardTile, absorb, row_deltas
from flashscope.kernels.cpu.device import describe
from flashscope.kernels.cpu.launch import Floats
from flashscope.kernels.cpu.tiles import blocks
from flashscope.kernels.launching import backward_tracing
from flashscope.kernels.launching.backward_tracing import BackwardStates
from flashscope.kernels.launching.launch import prepare
from flashscope.kernels.workload.backward_trace import BackwardTrace, BackwardTraceRequest
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Gradients, Inputs, Saved

SOURCE = "recorded while the NumPy kernel's own steps of the backward pass ran"


@dataclass
class WatchedPass:
    """The states so far of a pass that runs.

    Attributes:
        request: What was asked for.
        states: Room for those of every tile.
        tile: The query head, i and j of each tile that ran.
    """

    request: BackwardTraceRequest
    states: BackwardStates
    tile: list[tuple[int, int, int]] = field(default_factory=list)

    def take(
        self, head: int, area: tuple[slice, slice], part: BackwardTile, one: HeadRows, delta: Floats
    ) -> None:
        """A tile has been absorbed: what it held, and its gradients so far.

        dP is computed once more, by the kernel's product: dS took its place.
        """
        rows, columns = area
        t, count, width = len(self.tile), len(part.p), part.p.shape[1]
        self.tile.append((head, rows.start // self.request.block_q, columns.start // self.request.block_k))
        dp = np.matmul(one.grad_output[rows], one.v[columns].T)
        for room, held in zip(self.states[:3], (part.p, dp, part.ds), strict=True):
            room[t, :count, :width] = held
        self.states.delta[t, :count] = delta
        self.states.dq[t, :count] = one.dq[rows]
        self.states.dk[t, :width] = one.dk[columns]
        self.states.dv[t, :width] = one.dv[columns]


def record(request: BackwardTraceRequest) -> BackwardTrace:
    """Run the NumPy kernel's forward pass on one K/V head's group, and its backward pass in tiles as asked.

    Raises:
        UnsupportedError: The kernel has no such backward pass on the CPU.
        InputError: The request cannot be traced, or the trace would be too large; the text has the numbers.
    """
    device = describe()
    backward_tracing.check_supported(request, device)
    backward_tracing.check_backward_traceable(request)
    problem, saved = _saved(request)
    states = BackwardStates.empty(
        backward_tracing.kept_tiles(request), request.block_q, request.block_k, problem.head_dim
    )
    watched = WatchedPass(request, states)
    gradients = Gradients(*(np.empty_like(x) for x in saved.inputs.qkv))
    launch = CpuBackward(problem, saved, gradients, _tile(request), 0, partial(_head, watched))
    launch.run()
    alone = msgspec.structs.replace(request, problem=problem, head=0)
    return backward_tracing.assemble(
        request,
        device=device.name,
        source=SOURCE,
        tile=watched.tile,
        states=states,
        saved=backward_tracing.saved_on_show(alone, saved),
        gradients=backward_tracing.gradients_on_show(alone, gradients),
    )


def _saved(request: BackwardTraceRequest) -> tuple[Problem, Saved]:
    """The group alone as a problem, and what its forward pass leaves."""
    problem = msgspec.structs.replace(
        request.problem, batch=1, heads=request.group, kv_heads=1, passes="backward"
    )
    inputs, every = backward_tracing.given(request)
    q, grad_output = (backward_tracing.queries_on_show(request, x)[None] for x in (inputs.q, every))
    k, v = (backward_tracing.keys_on_show(request, x)[None, None] for x in (inputs.k, inputs.v))
    forward = prepare(find_kernel(request.kernel), problem, Inputs(q, k, v), "cpu")
    forward.run()
    return problem, Saved(q, k, v, forward.output, forward.lse, grad_output)


def _tile(request: BackwardTraceRequest) -> dict[str, Floats]:
    """One tile's buffers, by the names that the specs of the kernels have for them."""
    rows, columns, width = request.block_q, request.block_k, request.problem.head_dim
    shapes = {
        "P tile": (rows, columns),
        "dS tile": (rows, columns),
        "product": (max(rows, columns), width),
        "row": (rows,),
        "delta": (request.problem.seqlen_q,),
    }
    return {name: np.empty(shape, np.float32) for name, shape in shapes.items()}


def _head(watched: WatchedPass, launch: CpuBackward, head: tuple[int, ...]) -> None:
    """One query head: flash2 takes delta of all rows before, flash1 of a tile's rows in every tile."""
    problem, mask, tile = launch.problem, launch.problem.mask, BackwardTile.of(launch)
    request, one, delta = watched.request, launch.head(head), launch.workspace["delta"]
    if request.kernel == "flash2":
        row_deltas(one, slice(0, problem.seqlen_q), delta)
    for columns in blocks(problem.seqlen_k, request.block_k):
        for rows in blocks(problem.seqlen_q, request.block_q):
            if not mask.keeps(rows, columns):
                continue
            if request.kernel == "flash1":
                row_deltas(one, rows, delta[rows])
            part = tile.cut((rows, columns))
            absorb(part, one, delta[rows], problem, (rows, columns))
            watched.take(head[1], (rows, columns), part, one, delta[rows])
