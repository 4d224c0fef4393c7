"""Inputs whose scores have a shape: rising, falling, one key or one sink that takes all the weight."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.kernels.workload.trace import Array, LoopOrder, TraceRequest

N, D, BLOCK = 32, 8, 8
STEP = 0.4  # by how much the score of a key is above that of the key before
NOISE = 0.15  # of Q and K beside the shape: it changes a score by less than a tile does
SINK = 7.0  # by how much the first key is above all others
HOT = 40.0  # e^-40 is nothing beside 1 in float32


def rising(backend: Backend, order: LoopOrder) -> TraceRequest:
    """Every tile raises the maximum of every row."""
    return _request(_along(tuple(STEP * key for key in range(N))), backend, order)


def falling(backend: Backend, order: LoopOrder) -> TraceRequest:
    """The first tile has the maximum of every row."""
    return _request(_along(tuple(-STEP * key for key in range(N))), backend, order)


def sink(backend: Backend, order: LoopOrder) -> TraceRequest:
    """The first key takes most of the weight of every row."""
    return _request(_along((SINK, *(0.0 for _ in range(N - 1)))), backend, order)


def one_hot(backend: Backend, order: LoopOrder) -> TraceRequest:
    """One key, another in every row, takes all the weight."""
    return _request(_one_hot(), backend, order)


def _request(inputs: tuple[Array, Array, Array], backend: Backend, order: LoopOrder) -> TraceRequest:
    (rows, width), (keys, _) = inputs[0].shape, inputs[1].shape
    problem = Problem(seqlen_q=rows, seqlen_k=keys, head_dim=width, scale=1.0)
    return TraceRequest(
        problem=problem, backend=backend, order=order, block_q=BLOCK, block_k=BLOCK, inputs=inputs
    )


@lru_cache(maxsize=8)
def _along(shape: tuple[float, ...]) -> tuple[Array, Array, Array]:
    """Q, K and V with these scores in every row, and a little noise that differs between rows."""
    random = np.random.default_rng(7)
    q, k = (random.uniform(-NOISE, NOISE, (N, D)) for _ in "QK")
    q[:, 0], k[:, 0] = 1, shape
    return _arrays(q, k, random.standard_normal((N, D)))


@lru_cache(maxsize=1)
def _one_hot() -> tuple[Array, Array, Array]:
    """Row i has the score HOT at one key and 0 at all others."""
    random = np.random.default_rng(8)
    keys = random.permutation(N)
    return _arrays(HOT * np.eye(N)[keys], np.eye(N), random.standard_normal((N, D)))


def _arrays(*arrays: NDArray[np.float64]) -> tuple[Array, Array, Array]:
    q, k, v = (Array.of(array.astype(np.float32)) for array in arrays)
    return q, k, v
