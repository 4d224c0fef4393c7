"""What every backend's trace shares: the inputs, the tiles to visit, the size limit, and assembling a Trace.

A backend's `record(request)` checks the request (`check_traceable`), takes the inputs (`inputs`), computes
the tiles of `visits` in that order while it takes snapshots, and hands them to `assemble`.
"""

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import FEATURES
from flashscope.kernels.launching.launch import make_inputs
from flashscope.kernels.oracle.reference import attention_reference
from flashscope.kernels.workload.errors import InputError, UnsupportedError
from flashscope.kernels.workload.trace import MOST_TILES, Array, Trace, TraceRequest, check_tiling

MAX_TRACE_BYTES = 64 * 2**20
Floats = npt.NDArray[np.float32]


class Snapshots(NamedTuple):
    """The state after each of T tiles, in the order they ran; shapes, units and padding as in `Trace`.

    Attributes:
        s: (T, Br, Bc) scaled, masked scores.
        m: (T, Br) running maximum, in units of the scaled scores.
        l: (T, Br) running sum.
        alpha: (T, Br) factor on the old l and O.
        o: (T, Br, dv) accumulator.
    """

    s: Floats
    m: Floats
    l: Floats
    alpha: Floats
    o: Floats

    @classmethod
    def empty(cls, tiles: int, block_q: int, block_k: int, value_dim: int) -> "Snapshots":
        """T empty states: s and m are -inf, l and o 0, alpha 1; a backend fills in the parts that exist."""
        return cls(
            np.full((tiles, block_q, block_k), -np.inf, np.float32),
            np.full((tiles, block_q), -np.inf, np.float32),
            np.zeros((tiles, block_q), np.float32),
            np.ones((tiles, block_q), np.float32),
            np.zeros((tiles, block_q, value_dim), np.float32),
        )


def check_traceable(request: TraceRequest) -> None:
    """Refuse what cannot be traced.

    Raises:
        UnsupportedError: The kernel of this loop order does not take the problem's masks on this backend, or
            it has lengths or pages, or a fault is asked of a GPU.
        InputError: More than one head, a block below 1, inputs of other shapes than the problem's, or a trace
            of more than `MAX_TRACE_BYTES` or `MOST_TILES`.
    """
    problem = request.problem
    if request.fault and request.backend != "cpu":
        raise UnsupportedError("A fault is traced on the CPU alone; choose the CPU.")
    if problem.batch != 1 or problem.heads != 1:
        raise InputError(
            f"A trace follows one head of one sequence: set batch and heads to 1, not {problem.batch} and "
            f"{problem.heads}."
        )
    if not problem.even:
        raise UnsupportedError(
            "A trace follows a sequence that fills its arrays: leave lengths and page size out."
        )
    check_tiling(request)
    missing = problem.features - find_kernel(request.order).features[request.backend]
    if missing:
        asked = " and ".join(text for feature, text in FEATURES.items() if feature in missing)
        raise UnsupportedError(f"The {request.backend} backend does not trace {asked}; choose the CPU.")
    _check_inputs(request)
    tiles = tile_count(request)
    size = trace_bytes(request, tiles)
    if size > MAX_TRACE_BYTES:
        raise InputError(
            f"This trace would hold {size / 2**20:.0f} MiB ({tiles} tiles of {request.block_q} "
            f"x {request.block_k}) where at most {MAX_TRACE_BYTES // 2**20} MiB are recorded; shorten the "
            "sequences or, if the tiles are tiny, enlarge the blocks."
        )
    if tiles > MOST_TILES:
        raise InputError(
            f"This trace would have {tiles} tiles where at most {MOST_TILES} are recorded; "
            "enlarge the blocks."
        )


def inputs(request: TraceRequest) -> tuple[Floats, Floats, Floats]:
    """Q (Nq, d), K (Nk, d) and V (Nk, dv) in float32: those of the request, else drawn from the seed."""
    if request.inputs is not None:
        q, k, v = (array.numpy().astype(np.float32) for array in request.inputs)
        return q, k, v
    q, k, v = make_inputs(msgspec.structs.replace(request.problem, dtype="float32"), "cpu").qkv
    return q[0, 0], k[0, 0], v[0, 0]


def visits(request: TraceRequest) -> Iterator[tuple[int, int]]:
    """The tiles (i, j) in the order they run: key blocks outside for flash1, inside for flash2.

    A tile of which the mask keeps nothing is not visited. `reverse` walks the key blocks from the last.
    """
    rows, columns = request.grid
    keys = range(columns)[::-1] if request.reverse else range(columns)
    if request.order == "flash1":
        ordered = ((i, j) for j in keys for i in range(rows))
    else:
        ordered = ((i, j) for i in range(rows) for j in keys)
    mask = request.problem.mask
    for i, j in ordered:
        if mask.keeps(*area(request, i, j)):
            yield i, j


def area(request: TraceRequest, i: int, j: int) -> tuple[slice, slice]:
    """The query rows and the keys of tile (i, j)."""
    problem = request.problem
    return (
        slice(i * request.block_q, min((i + 1) * request.block_q, problem.seqlen_q)),
        slice(j * request.block_k, min((j + 1) * request.block_k, problem.seqlen_k)),
    )


def tile_count(request: TraceRequest) -> int:
    """How many tiles `visits` yields."""
    problem = request.problem
    if not (problem.causal or problem.window or problem.block_mask):
        return prod(request.grid)  # a long sequence has hundreds of thousands
    return sum(1 for _ in visits(request))


def trace_bytes(request: TraceRequest, tiles: int) -> int:
    """Exact bytes of the arrays of a trace of so many tiles, without the clocks of a GPU."""
    problem, value_dim = request.problem, _value_dim(request)
    state = request.block_q * (request.block_k + 3 + value_dim)
    visited = tiles * (4 * state + 8)
    given = 4 * (problem.seqlen_q + problem.seqlen_k) * problem.head_dim + 4 * problem.seqlen_k * value_dim
    returned = (4 + 8) * problem.seqlen_q * (value_dim + 1)
    return visited + given + returned


def assemble(
    request: TraceRequest,
    *,
    device: str,
    source: str,
    qkv: tuple[Floats, Floats, Floats],
    snapshots: Snapshots,
    result: tuple[Floats, Floats],
    clocks: tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]] | None = None,
    headroom: float = 0.0,
) -> Trace:
    """The Trace of one run, with the oracle's answer for the same inputs; all arrays in host memory.

    A row that has met no key yet is reported in the empty state, whatever the kernel holds there.

    Args:
        request: What was asked for.
        device: Name of the device that computed it.
        source: Where the snapshots come from, in words for the provenance badge.
        qkv: Q (Nq, d), K (Nk, d), V (Nk, dv) as computed with.
        snapshots: The state after each tile, in the order of `visits(request)`.
        result: What the kernel returned: O (Nq, dv) and LSE (Nq,).
        clocks: %globaltimer in ns, int64 (T,), and SM, int32 (T,), of each tile; None where there are none.
        headroom: As in `Trace`.
    """
    exact, exact_lse = attention_reference(
        *(array[None, None] for array in qkv),
        causal=request.problem.causal,
        window=request.problem.window,
        block_mask=request.problem.block_mask,
        scale=request.problem.softmax_scale,
    )
    s, m, l, alpha, o = snapshots
    unseen = np.isneginf(m)
    return Trace(
        request=request,
        device=device,
        source=source,
        tile=Array.of(np.array(list(visits(request)), np.int32).reshape(-1, 2)),
        s=Array.of(s),
        m=Array.of(m),
        l=Array.of(np.where(unseen, np.float32(0), l)),
        alpha=Array.of(np.where(unseen, np.float32(1), alpha)),
        o=Array.of(np.where(unseen[..., None], np.float32(0), o)),
        q=Array.of(qkv[0]),
        k=Array.of(qkv[1]),
        v=Array.of(qkv[2]),
        output=Array.of(result[0]),
        lse=Array.of(result[1]),
        exact_output=Array.of(exact[0, 0]),
        exact_lse=Array.of(exact_lse[0, 0]),
        t_ns=clocks and Array.of(clocks[0]),
        sm=clocks and Array.of(clocks[1]),
        headroom=headroom,
    )


def _value_dim(request: TraceRequest) -> int:
    """Width of V; explicit inputs may have another than the head dim."""
    if request.inputs is None:
        return request.problem.head_dim
    return request.inputs[2].shape[-1] if request.inputs[2].shape else 0


def _check_inputs(request: TraceRequest) -> None:
    """Shapes and dtypes of explicit inputs."""
    if request.inputs is None:
        return
    problem = request.problem
    rows, columns, width = problem.seqlen_q, problem.seqlen_k, problem.head_dim
    shapes = ((rows, width), (columns, width), (columns, _value_dim(request)))
    for name, shape, array in zip("QKV", shapes, request.inputs, strict=True):
        if array.shape != shape or prod(shape) == 0:
            raise InputError(f"{name} of the trace must have shape {shape}, not {array.shape}.")
        if array.dtype not in {"<f4", "<f8"}:
            raise InputError(f"{name} of the trace must be float32 or float64, not {array.dtype}.")
        if not np.isfinite(array.numpy()).all():
            raise InputError(f"{name} of the trace must hold finite numbers only.")
