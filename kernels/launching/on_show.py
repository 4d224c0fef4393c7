"""What a trace looks at of a launch with many heads: rows of some of them, and the keys of their sequence."""

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from flashscope.kernels.launching.launch import make_inputs
from flashscope.kernels.workload.lengths import pages_for
from flashscope.kernels.workload.tensors import Inputs
from flashscope.kernels.workload.trace import TraceRequest

Floats = npt.NDArray[np.float32]


def drawn(request: TraceRequest) -> Inputs:
    """Q, K and V of all heads in float32, laid out as the problem says: the request's, else from the seed."""
    if request.inputs is None:
        return make_inputs(msgspec.structs.replace(request.problem, dtype="float32"), "cpu")
    q, k, v = (array.numpy().astype(np.float32)[None, None] for array in request.inputs)
    return Inputs(q, k, v)


def qkv_on_show(request: TraceRequest, given: Inputs) -> tuple[Floats, Floats, Floats]:
    """Q (Nq, d), K (Nk, d) and V (Nk, dv) of the heads on show, in float32; rows of padding are 0."""
    q = rows_on_show(request, given.q)
    k, v = (_keys_on_show(request, array, given.page_table) for array in (given.k, given.v))
    return np.where(padding(request)[:, None], np.float32(0), q), k, v


def rows_on_show(request: TraceRequest, array: npt.NDArray[Any]) -> Floats:
    """The rows on show of Q or O (batch, heads, Nq, d), or of LSE (batch, heads, Nq), in float32."""
    first, rows = request.heads.start % request.problem.heads, request.shown.seqlen_q
    of_heads: Floats = array[request.sequence, first : first + request.packed].astype(np.float32)
    return of_heads.reshape(-1, *of_heads.shape[2:])[:rows]


def _keys_on_show(request: TraceRequest, array: Any, page_table: Any) -> Floats:
    """The keys of the sequence on show, of the K/V head of its heads; gathered from its pages."""
    problem, keys = request.problem, request.lengths[1]
    head = request.head % problem.heads // (problem.heads // problem.key_heads)
    if problem.page_size is None:
        return array[request.sequence, head, :keys].astype(np.float32)  # type: ignore[no-any-return]
    pages = page_table[request.sequence, : pages_for(keys, problem.page_size)]
    return array[pages, head].reshape(-1, array.shape[-1])[:keys].astype(np.float32)  # type: ignore[no-any-return]


def padding(request: TraceRequest) -> npt.NDArray[np.bool_]:
    """Which rows on show are padding: of packed heads of a shorter sequence those behind each head's own."""
    return np.arange(request.shown.seqlen_q) % request.problem.seqlen_q >= request.lengths[0]
