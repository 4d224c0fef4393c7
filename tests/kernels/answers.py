"""Right answers as kernels give them, in NumPy, to try the judge on: tiled or not, in 32, 16 or 8 bits.

They round where a kernel rounds, sum in the order it sums, and may keep an older maximum, so that their
errors are those of a kernel and not those of the judge's own reference. Also problems drawn with hostile
inputs.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from flashscope.kernels.catalogue.fp8 import Rounding
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.problem import Dtype, Problem
from flashscope.kernels.workload.tensors import Inputs
from tests.kernels.cases import Case, draw

KINDS = (
    "normal",
    "steep",
    "dominant key",
    "huge scores",
    "tiny values",
    "equal values",
    "outliers",
    "no keys",
)


class Answer(NamedTuple):
    """O (batch, heads, Nq, d) in the problem's dtype and LSE (batch, heads, Nq) in float32."""

    output: Any
    lse: Any


def kept_pairs(problem: Problem) -> Any:
    """Which pairs the masks keep, (Nq, Nk) of bool."""
    q, k = np.arange(problem.seqlen_q)[:, None], np.arange(problem.seqlen_k)[None]
    diagonal = q + problem.seqlen_k - problem.seqlen_q
    left, right = problem.window or (-1, -1)
    kept = np.ones((problem.seqlen_q, problem.seqlen_k), bool)
    kept &= k <= (diagonal if problem.causal else problem.seqlen_k)
    kept &= (k >= diagonal - left) if left >= 0 else True
    kept &= (k <= diagonal + right) if right >= 0 else True
    blocks = problem.block_mask
    return kept if blocks is None else kept & blocks.array()[q // blocks.block_q, k // blocks.block_k]


def stored(problem: Problem, inputs: Inputs) -> Inputs:
    """The inputs in the problem's dtype."""
    return Inputs(*(array.astype(storage_dtype(problem.dtype)) for array in inputs.qkv))


def tiled(
    problem: Problem, inputs: Inputs, *, tile: int = 128, lazy: float = 0.0, kept: Any = None
) -> Answer:
    """As a FlashAttention kernel does it: S in float32, exp(S - max) in the dtype, one tile of keys a step.

    Args:
        problem: What is computed.
        inputs: Q, K and V in its dtype.
        tile: Keys of a tile.
        lazy: By how much a score must exceed the maximum in use before that is renewed.
        kept: The pairs to keep instead of the problem's.
    """
    q, k, v = _wide(problem, inputs)
    scores = _hidden(problem, _products(q, k, problem.softmax_scale), kept)
    dtype = storage_dtype(problem.dtype)
    return _stored(problem, *_online(scores, v, lambda p: _rounded(p, dtype), tile, lazy))


def in_8_bits(
    problem: Problem, inputs: Inputs, rounding: Rounding, *, lazy: float = 0.0, kept: Any = None
) -> Answer:
    """As a kernel in 8 bits does it, see `kernels.catalogue.fp8`; arguments as in `tiled`."""
    q, k, v = _wide(problem, Inputs(*rounding.inputs(*inputs.qkv)))
    scale = problem.softmax_scale * rounding.score_factor(problem.head_dim)
    scores = _hidden(problem, _products(q, k, scale), kept)
    return _stored(problem, *_online(scores, v, rounding.weights, rounding.key_block, lazy))


def materialised(problem: Problem, inputs: Inputs) -> Answer:
    """As standard attention does it: S and P in the dtype, summed in another order than the reference."""
    dtype, (q, k, v) = storage_dtype(problem.dtype), _wide(problem, inputs)
    products = _products(q[..., ::-1], k[..., ::-1], problem.softmax_scale)
    scores = _hidden(problem, _rounded(products, dtype), None)
    top = _finite(scores.max(axis=-1, keepdims=True))
    p = np.exp(scores - top)
    l = p.sum(axis=-1, keepdims=True)
    weights = _rounded(p / np.where(l == 0, 1, l), dtype)
    return Answer((weights[..., ::-1] @ v[:, :, ::-1]).astype(dtype), _lse(top, l))


def hostile(seed: int, dtype: Dtype) -> Case:
    """A problem drawn with masks and groups of heads, and inputs of one of `KINDS`."""
    rng = np.random.default_rng(seed)
    heads = int(rng.choice([1, 2, 4]))
    seqlen_q, seqlen_k = (round(np.exp(rng.uniform(0, np.log(500)))) for _ in range(2))
    sides = int(rng.integers(0, seqlen_k + 1)), int(rng.integers(-1, seqlen_k))
    problem = Problem(
        seqlen_q=seqlen_q,
        seqlen_k=seqlen_q if rng.random() < 0.5 else seqlen_k,
        heads=heads,
        kv_heads=int(rng.choice([n for n in (1, 2, 4) if heads % n == 0])),
        head_dim=int(rng.choice([64, 128])) if seed % 2 else int(rng.choice([16, 32, 96])),
        causal=bool(rng.random() < 0.5),
        window=sides if rng.random() < 0.3 else None,
        dtype=dtype,
        seed=seed,
    )
    return Case(problem, stored(problem, _made_hostile(problem, draw(problem), str(rng.choice(KINDS)))))


def _made_hostile(problem: Problem, inputs: Inputs, kind: str) -> Inputs:
    q, k, v = (array.copy() for array in inputs.qkv)
    match kind:
        case "steep":
            q *= 4
        case "dominant key":
            k[:, :, 0] += 10 * q.mean(axis=2)[:, : problem.key_heads]
        case "huge scores":
            q *= 100
        case "tiny values":
            v *= 1e-6 if problem.dtype == "float16" else 1e-30
        case "equal values":
            v[:] = 3.7
        case "outliers":
            q[..., 3] *= 20
            k[..., 3] *= 20
            v[..., 1] *= 50
        case "equal scores":
            k *= 0
    return Inputs(q, k, v)


def _wide(problem: Problem, inputs: Inputs) -> list[Any]:
    """Q, K and V in float32, K and V once for every query head."""
    q, k, v = (array.astype("float32") for array in inputs.qkv)
    return [q, *(np.repeat(x, problem.heads // problem.key_heads, axis=1) for x in (k, v))]


def _products(q: Any, k: Any, scale: float) -> Any:
    return q @ np.swapaxes(k, -1, -2) * np.float32(scale)


def _hidden(problem: Problem, scores: Any, kept: Any) -> Any:
    scores[..., ~(kept_pairs(problem) if kept is None else kept)] = -np.inf
    return scores


def _online(
    scores: Any, v: Any, weights: Callable[[Any], Any], tile: int, lazy: float
) -> tuple[Any, Any, Any]:
    """The online softmax: what is summed of P V, the maximum in use and the sum of P."""
    top = np.full((*scores.shape[:-1], 1), -np.inf, "float32")
    l, output = np.zeros_like(top), np.zeros((*scores.shape[:-1], v.shape[-1]), "float32")
    for start in range(0, scores.shape[-1], tile):
        part = slice(start, start + tile)
        risen = np.maximum(top, scores[..., part].max(axis=-1, keepdims=True))
        risen = np.where(np.isneginf(top) | (risen > _finite(top) + lazy), risen, top)
        alpha = np.exp(top - _finite(risen))
        p = np.exp(scores[..., part] - _finite(risen))
        l = l * alpha + p.sum(axis=-1, keepdims=True)
        output = output * alpha + weights(p) @ v[:, :, part]
        top = risen
    return output, _finite(top), l


def _stored(problem: Problem, output: Any, top: Any, l: Any) -> Answer:
    return Answer((output / np.where(l == 0, 1, l)).astype(storage_dtype(problem.dtype)), _lse(top, l))


def _lse(top: Any, l: Any) -> Any:
    return np.where(l == 0, -np.inf, top + np.log(np.where(l == 0, 1, l)))[..., 0].astype("float32")


def _finite(top: Any) -> Any:
    """The maximum, 0 for a row without keys: exp(-inf - 0) = 0."""
    return np.where(np.isneginf(top), 0, top).astype("float32")


def _rounded(array: Any, dtype: Any) -> Any:
    return array.astype(dtype).astype("float32")
