"""Traces of heads that share tiles, of keys in parts and in pages, as flash3 records them: in float64."""

from typing import Any

import numpy as np

from flashscope.kernels.launching import tracing
from flashscope.kernels.launching.on_show import drawn, padding, qkv_on_show
from flashscope.kernels.launching.tracing import Merging, Snapshots
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import MERGING_LANES, Trace, TraceRequest, merge_order
from tests.kernels.cuda.replaying import Row, absorbed, added, nothing, scores_of

FEW_ROWS = Problem(
    seqlen_q=3,
    seqlen_k=64,
    batch=2,
    heads=4,
    kv_heads=2,
    head_dim=8,
    causal=True,
    page_size=16,
    query_lengths=(3, 2),
    key_lengths=(64, 41),
    seed=5,
)


def shared_trace(
    problem: Problem = FEW_ROWS,
    *,
    splits: int = 4,
    packed: int = 2,
    head: int = 6,
    block: tuple[int, int] = (4, 8),
) -> Trace:
    """What flash3 would record of a head and those that share its tiles."""
    request = TraceRequest(
        problem=problem,
        backend="cuda",
        kernel="flash3",
        block_q=block[0],
        block_k=block[1],
        reverse=True,
        head=head,
        packed=packed,
        splits=splits,
    )
    qkv = qkv_on_show(request, drawn(request))
    places = [*tracing.visits(request)]
    made = Snapshots.empty(len(places), *block, problem.head_dim)
    parts = [nothing(len(qkv[0]), problem.head_dim) for _ in range(splits)]
    _fill(request, qkv, made, parts)
    merging, whole = _merge(parts)
    output = np.divide(whole.o, whole.l[:, None], out=np.zeros_like(whole.o), where=whole.l[:, None] > 0)
    with np.errstate(divide="ignore"):
        lse = whole.m + np.log(whole.l)
    return tracing.assemble(
        request,
        device="Test bench",
        source="NumPy, float64, in the tests",
        qkv=qkv,
        snapshots=made,
        result=(output.astype(np.float32), np.where(whole.l > 0, lse, -np.inf).astype(np.float32)),
        merging=merging if splits > 1 else None,
    )


def _fill(request: TraceRequest, qkv: tuple[Any, Any, Any], made: Snapshots, parts: list[Row]) -> None:
    """Each tile in its order, and the state at the end of each part."""
    q, k, v = (array.astype(np.float64) for array in qkv)
    scores, t = scores_of(request, q, k), 0
    scores[padding(request)] = -np.inf
    for i in range(request.grid[0]):
        for part, tiles in enumerate(tracing.parts_of(request, i)):
            rows = tracing.area(request, i, 0)[0]
            state = nothing(rows.stop - rows.start, v.shape[1])
            for place in tiles:
                _, keys = tracing.area(request, *place)
                state = absorbed(state, scores[rows, keys], v[keys], 0.0)
                made.s[t, : len(state.m), : keys.stop - keys.start] = scores[rows, keys]
                for name in ("m", "l", "alpha", "o"):
                    getattr(made, name)[t, : len(state.m)] = getattr(state, name)
                t += 1
            for whole, some in zip(parts[part][:4], state[:4], strict=True):
                whole[rows] = some


def _merge(parts: list[Row]) -> tuple[Merging, Row]:
    empty = nothing(*parts[0].o.shape)
    sums: dict[int, Row] = {}
    steps = []
    for into, of_parts, which in merge_order(len(parts), len(parts) + MERGING_LANES - 1):
        more = parts[which] if of_parts else sums.get(which, empty)
        sums[into] = added(sums.get(into, empty), more)
        steps.append(sums[into])
    arrays = (np.array([getattr(step, name) for step in steps], np.float32) for name in ("m", "l", "o"))
    return Merging(*arrays), sums[0]
