"""A trace by the textbook's loops, row by row in float64: independent of the backends' own recorders."""

import numpy as np
from numpy.typing import NDArray

from flashscope.app.stepper.presets import SLIDE_SCORES, SLIDE_VALUES, Options, own, score_row
from flashscope.kernels.workload.trace import Array, LoopOrder, Trace, TraceRequest

Matrix = NDArray[np.float64]
LAZINESS = 8 * np.log(2)  # by how much a timed kernel lets the maximum rise before it follows


def build_trace(request: TraceRequest) -> Trace:
    """What a backend would record for this request."""
    q, k, v = _inputs(request)
    scores = _scores(request, q, k)
    exact, lse = _softmax_rows(scores, v)
    order = _tiles(request, scores)
    steps = _walk(request, scores, v, order)
    return Trace(
        request=request,
        device="Test bench",
        source="NumPy, float64, in the tests",
        tile=Array.of(np.asarray(order, dtype=np.int32).reshape(-1, 2)),
        output=Array.of(exact.astype(np.float32)),
        lse=Array.of(lse.astype(np.float32)),
        exact_output=Array.of(exact),
        exact_lse=Array.of(lse),
        headroom=_headroom(request),
        q=Array.of(q.astype(np.float32)),
        k=Array.of(k.astype(np.float32)),
        v=Array.of(v.astype(np.float32)),
        **steps,
    )


def slide_trace(*, reverse: bool = False, order: LoopOrder = "flash1") -> Trace:
    return build_trace(score_row(SLIDE_SCORES, SLIDE_VALUES, 2, reverse=reverse, order=order))


def random_trace(
    n: int = 32,
    *,
    block: int = 8,
    head_dim: int = 8,
    causal: bool = False,
    reverse: bool = False,
    order: LoopOrder = "flash2",
    seed: int = 0,
) -> Trace:
    options = Options(
        seqlen=n,
        head_dim=head_dim,
        block_q=block,
        block_k=block,
        causal=causal,
        order=order,
        reverse=reverse,
        seed=seed,
    )
    return build_trace(own(options))


def _headroom(request: TraceRequest) -> float:
    return LAZINESS if request.kernel else 0.0


def _inputs(request: TraceRequest) -> tuple[Matrix, Matrix, Matrix]:
    if request.inputs is not None:
        q, k, v = (array.numpy().astype(np.float64) for array in request.inputs)
        return q, k, v
    problem = request.problem
    random = np.random.default_rng(problem.seed)
    rows = (problem.seqlen_q, problem.seqlen_k, problem.seqlen_k)
    q, k, v = (random.standard_normal((n, problem.head_dim)) for n in rows)
    return q, k, v


def _scores(request: TraceRequest, q: Matrix, k: Matrix) -> Matrix:
    scores: Matrix = q @ k.T * request.problem.softmax_scale
    distance = np.arange(len(k))[None, :] - np.arange(len(q))[:, None] - (len(k) - len(q))
    left, right = request.problem.window or (len(q) + len(k), len(q) + len(k))
    scores[(distance < -left) | (distance > right)] = -np.inf
    if request.problem.causal:
        scores[distance > 0] = -np.inf
    return scores


def _softmax_rows(scores: Matrix, v: Matrix) -> tuple[Matrix, Matrix]:
    top = np.where(np.isfinite(scores.max(axis=1)), scores.max(axis=1), 0)
    weights = np.exp(scores - top[:, None])
    total = weights.sum(axis=1)
    output = weights @ v / np.where(total > 0, total, 1)[:, None]
    with np.errstate(divide="ignore"):
        return output, top + np.log(total)


def _tiles(request: TraceRequest, scores: Matrix) -> list[tuple[int, int]]:
    br, bc = request.block_q, request.block_k
    row_blocks = range(-(-scores.shape[0] // br))
    key_blocks = list(range(-(-scores.shape[1] // bc)))[:: -1 if request.reverse else 1]
    if request.order == "flash1":
        pairs = [(i, j) for j in key_blocks for i in row_blocks]
    else:
        pairs = [(i, j) for i in row_blocks for j in key_blocks]
    return [
        (i, j) for i, j in pairs if np.isfinite(scores[i * br : (i + 1) * br, j * bc : (j + 1) * bc]).any()
    ]


def _walk(request: TraceRequest, scores: Matrix, v: Matrix, order: list[tuple[int, int]]) -> dict[str, Array]:
    br, bc = request.block_q, request.block_k
    state = {row: (-np.inf, 0.0, np.zeros(v.shape[1])) for row in range(len(scores))}
    s = np.full((len(order), br, bc), -np.inf, np.float32)
    m = np.full((len(order), br), -np.inf, np.float32)
    l, alpha = np.zeros_like(m), np.ones_like(m)
    o = np.zeros((len(order), br, v.shape[1]), np.float32)
    for t, (i, j) in enumerate(order):
        for r, row in enumerate(range(i * br, min((i + 1) * br, len(scores)))):
            seen = scores[row, j * bc : (j + 1) * bc]
            old_m, old_l, old_o = state[row]
            new_m = seen.max() if seen.max() > old_m + _headroom(request) else old_m
            base = new_m if np.isfinite(new_m) else 0.0
            factor = np.exp(old_m - base) if np.isfinite(new_m) else 1.0
            p = np.exp(seen - base)
            new_l = factor * old_l + p.sum()
            new_o = factor * old_o + p @ v[j * bc : j * bc + len(seen)]
            state[row] = (new_m, new_l, new_o)
            s[t, r, : len(seen)], m[t, r], l[t, r], alpha[t, r] = seen, new_m, new_l, factor
            o[t, r] = new_o / (new_l or 1.0) if request.order == "flash1" else new_o
    return {"s": Array.of(s), "m": Array.of(m), "l": Array.of(l), "alpha": Array.of(alpha), "o": Array.of(o)}
