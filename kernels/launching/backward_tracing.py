"""What every backend's trace of a backward pass shares: inputs, the size limit, and assembling it.

A backend's `record(request)` checks the request (`check_supported`, `check_backward_traceable`), draws what
is given (`given`), takes states while the pass runs, and hands them with the gradients to `assemble`.
"""

from functools import partial
from math import prod
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.launching.launch import make_grad_output, make_inputs
from flashscope.kernels.launching.tracing import MAX_DRAWN_BYTES, MAX_TRACE_BYTES
from flashscope.kernels.oracle.reference_gradients import gradients_reference
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.backward_trace import BackwardTrace, BackwardTraceRequest, DqPass
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Gradients, Inputs, Saved
from flashscope.kernels.workload.trace import MOST_TILES, Array

Floats = npt.NDArray[np.float32]


class BackwardStates(NamedTuple):
    """What each of T tiles held, in the order they ran; shapes, units and padding as in `BackwardTrace`."""

    p: Floats
    dp: Floats
    ds: Floats
    delta: Floats
    dq: Floats
    dk: Floats
    dv: Floats

    @classmethod
    def empty(cls, tiles: int, block_q: int, block_k: int, head_dim: int) -> "BackwardStates":
        """T states of zeros; a backend fills in the parts that exist."""
        matrix, rows, keys = (block_q, block_k), (block_q, head_dim), (block_k, head_dim)
        shapes = (matrix, matrix, matrix, (block_q,), rows, keys, keys)
        return cls(*(np.zeros((tiles, *shape), np.float32) for shape in shapes))


def backward_problem(problem: Problem) -> Problem:
    """The same with the backward pass asked for alone."""
    return msgspec.structs.replace(problem, passes="backward")


def check_supported(request: BackwardTraceRequest, device: Device) -> None:
    """Refuse a kernel that has no backward pass on this device, or not of this problem.

    Raises:
        UnsupportedError: The text has the reason.
    """
    find_kernel(request.kernel).require_backward(backward_problem(request.problem), device)


def check_backward_traceable(
    request: BackwardTraceRequest, apart: BackwardTraceRequest | None = None
) -> None:
    """Refuse what is too large to be traced, in the tiles that are taken.

    Args:
        request: What is to be traced.
        apart: The same in the tiles of a launch that computes dQ alone; None: there is none.

    Raises:
        InputError: No such head, a block below 1, more to draw than `MAX_DRAWN_BYTES`, or a trace of more
            than `MAX_TRACE_BYTES`, `MOST_TILES` or `MOST_PLACES`; the text has the numbers.
    """
    request.check_tiling()
    _check_drawn(request.problem)
    _check_size(request, apart)


def _check_drawn(problem: Problem) -> None:
    nbytes = 4 * (2 * prod(problem.q_shape) + 2 * prod(problem.k_shape))
    if nbytes > MAX_DRAWN_BYTES:
        raise InputError(
            f"Q, K, V and dO of all heads would take {nbytes / 2**30:.1f} GiB in float32 where a trace draws "
            f"at most {MAX_DRAWN_BYTES / 2**30:.0f} GiB; choose fewer sequences or heads, or shorter ones."
        )


def _check_size(request: BackwardTraceRequest, apart: BackwardTraceRequest | None) -> None:
    tiles = kept_tiles(request)
    size = trace_bytes(request, tiles)
    if apart is not None:
        apart.check_tiling()
        more = kept_tiles(apart)
        tiles, size = tiles + more, size + dq_pass_bytes(apart, more)
    if size > MAX_TRACE_BYTES or tiles > MOST_TILES:
        raise InputError(
            f"This trace would hold {size / 2**20:.0f} MiB ({tiles} tiles of {request.block_q} x "
            f"{request.block_k}) where at most {MAX_TRACE_BYTES // 2**20} MiB and {MOST_TILES} tiles are "
            "recorded; shorten the sequences, or choose fewer query heads for a K/V head."
        )


def kept_tiles(request: BackwardTraceRequest) -> int:
    """How many tiles keep a pair, in all heads of the group."""
    group, rows, columns = request.grid
    if not request.problem.features & {"causal", "window", "block_mask"}:
        return group * rows * columns
    return group * sum(len(_kept(request, i)) for i in range(rows))


def _kept(request: BackwardTraceRequest, i: int) -> list[int]:
    """The key blocks that a query block meets; those beyond its band are not looked at."""
    mask, width, rows = request.mask, request.block_k, request.area(i, 0)[0]
    span = mask.span(rows)
    near = range(span.start // width, -(-span.stop // width) if span else 0)
    return [j for j in near if mask.keeps(*request.area(i, j))]


def trace_bytes(request: BackwardTraceRequest, tiles: int) -> int:
    """Exact bytes of the arrays of a trace of so many tiles, without the clocks of a GPU."""
    rows, keys, width = request.block_q, request.block_k, request.problem.head_dim
    states = tiles * 4 * (3 * rows * keys + rows + rows * width + 2 * keys * width + 3)
    queries, others = request.group * request.problem.seqlen_q, request.problem.seqlen_k
    return states + queries * (4 * (4 * width + 1) + 8 * width) + others * width * (4 * 4 + 8 * 2)


def dq_pass_bytes(apart: BackwardTraceRequest, tiles: int) -> int:
    """Exact bytes of the arrays of so many tiles of a launch that computes dQ alone, without the clocks."""
    rows, keys, width = apart.block_q, apart.block_k, apart.problem.head_dim
    return tiles * 4 * (3 * rows * keys + rows * width + 3)


def given(request: BackwardTraceRequest) -> tuple[Inputs, Any]:
    """Q, K and V of all heads, and dO, drawn from the seed in float32 and rounded to the problem's dtype."""
    problem = backward_problem(msgspec.structs.replace(request.problem, dtype="float32", deterministic=False))
    dtype = storage_dtype(request.problem.dtype)
    inputs = make_inputs(problem, "cpu")
    rounded = {name: getattr(inputs, name).astype(dtype) for name in "qkv"}
    return inputs._replace(**rounded), make_grad_output(problem, "cpu").astype(dtype)


def queries_on_show(request: BackwardTraceRequest, array: Any) -> Floats:
    """Of an array (batch, heads, Nq, ...) what the group's heads have, in float32: (G, Nq, ...)."""
    first = request.head % request.problem.key_heads * request.group
    return array[request.sequence, first : first + request.group].astype(np.float32)  # type: ignore[no-any-return]


def keys_on_show(request: BackwardTraceRequest, array: Any) -> Floats:
    """Of an array (batch, kv_heads, Nk, d) what the K/V head has, in float32: (Nk, d)."""
    head = request.head % request.problem.key_heads
    return array[request.sequence, head].astype(np.float32)  # type: ignore[no-any-return]


def saved_on_show(request: BackwardTraceRequest, saved: Saved) -> Saved:
    """What the K/V head and its queries are given, in float32."""
    rows, keys = partial(queries_on_show, request), partial(keys_on_show, request)
    return Saved(
        rows(saved.q),
        keys(saved.k),
        keys(saved.v),
        rows(saved.output),
        rows(saved.lse),
        rows(saved.grad_output),
    )


def gradients_on_show(request: BackwardTraceRequest, gradients: Gradients) -> Gradients:
    """What was returned for them, in float32."""
    dq, dk, dv = gradients
    return Gradients(queries_on_show(request, dq), *(keys_on_show(request, one) for one in (dk, dv)))


class DqStates(NamedTuple):
    """What each of the R tiles of a launch that computes dQ alone held; as in `DqPass`."""

    p: Floats
    dp: Floats
    ds: Floats
    dq: Floats


class DqRun(NamedTuple):
    """Such a launch as it ran.

    Attributes:
        tile: int32 (R, 3), query head in the group, i and j in the order in which they are told.
        states: What each held.
        clocks: %globaltimer in ns, int64 (R,), and SM, int32 (R,), of each tile.
        block_q: Br of its tiles.
        block_k: Bc of its tiles.
    """

    tile: Any
    states: DqStates
    clocks: tuple[Any, Any]
    block_q: int
    block_k: int

    @property
    def trace(self) -> DqPass:
        """It as a trace has it."""
        arrays = self.states._asdict() | dict(zip(("t_ns", "sm"), self.clocks, strict=True))
        held = {name: Array.of(array) for name, array in arrays.items()}
        return DqPass(block_q=self.block_q, block_k=self.block_k, tile=Array.of(self.tile), **held)


def sums_in_order(tile: Any, added: Floats) -> Floats:
    """DQ after each tile, from what each adds: float32 (T, Br, d)."""
    sums: dict[tuple[int, int], Floats] = {}
    states = np.empty_like(added)
    for t, (head, i, _) in enumerate(tile.tolist()):
        before = sums.get((head, i))
        states[t] = added[t] if before is None else before + added[t]
        sums[head, i] = states[t]
    return states


def assemble(
    request: BackwardTraceRequest,
    *,
    device: str,
    source: str,
    tile: Any,
    states: BackwardStates,
    saved: Saved,
    gradients: Gradients,
    clocks: tuple[Any, Any] | None = None,
    apart: DqRun | None = None,
) -> BackwardTrace:
    """The trace of one run, with the oracle's gradients of the same inputs; all arrays in host memory.

    Args:
        request: What was asked for, in the tiles that were taken.
        device: Name of the device that computed it.
        source: Where the states come from, in words for the provenance badge.
        tile: int32 (T, 3), query head in the group, i and j in the order they ran.
        states: What each held.
        saved: As `saved_on_show` has it.
        gradients: As `gradients_on_show` has it.
        clocks: %globaltimer in ns, int64 (T,), and SM, int32 (T,), of each tile; None where there are none.
        apart: The launch that computes dQ alone; None: the tiles add to it.
    """
    problem = request.problem
    exact = gradients_reference(
        saved.q[None],
        saved.k[None, None],
        saved.v[None, None],
        saved.grad_output[None],
        causal=problem.causal,
        window=problem.window,
        block_mask=problem.block_mask,
        scale=problem.softmax_scale,
    )
    arrays: dict[str, Any] = {**states._asdict(), **saved._asdict()}
    arrays |= dict(zip(("grad_q", "grad_k", "grad_v"), gradients, strict=True))
    arrays |= {"exact_q": exact.dq[0], "exact_k": exact.dk[0, 0], "exact_v": exact.dv[0, 0]}
    arrays |= dict(zip(("t_ns", "sm"), clocks, strict=True)) if clocks else {}
    if apart is not None:
        del arrays["dq"]
    return BackwardTrace(
        request=request,
        device=device,
        source=source,
        tile=Array.of(np.asarray(tile, np.int32)),
        dq_pass=None if apart is None else apart.trace,
        **{name: Array.of(array) for name, array in arrays.items()},
    )
