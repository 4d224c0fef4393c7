"""Attention with a fault, row by row in float64 from the definition: independent of the kernels' tiles."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from flashscope.kernels.workload.trace import Trace
from tests.kernels.masked import kept

Matrix = NDArray[np.float64]
EDGE = {"diagonal-masked": -1, "key-beyond-diagonal": 1}


class After(NamedTuple):
    """One row after one tile: m, l and O as the kernel holds it."""

    t: int
    row: int
    m: float
    l: float
    o: Matrix


class Replay:
    """Walks a faulty trace's tiles over its inputs, and yields what each row holds after each."""

    def __init__(self, trace: Trace) -> None:
        self.request = trace.request
        self.problem, self.fault = trace.request.problem, trace.request.fault
        self.tiles = trace.tile.numpy().tolist()
        self.q, self.k, self.v = (array.numpy().astype(np.float64) for array in (trace.q, trace.k, trace.v))
        self.pairs = self._pairs()
        self.state: dict[int, tuple[float, float, Matrix]] = {}

    def _pairs(self) -> NDArray[np.bool_]:
        problem = self.problem
        if self.fault not in EDGE or not problem.causal:
            return np.asarray(kept(problem))

        edge = np.subtract.outer(np.arange(problem.seqlen_k), np.arange(problem.seqlen_q)).T
        edge = edge - (problem.seqlen_k - problem.seqlen_q)
        free = np.asarray(kept(replace(problem, causal=False)))
        return np.asarray(free & (edge <= EDGE[self.fault]))

    def walk(self) -> Iterator[After]:
        for t, (i, j) in enumerate(self.tiles):
            source = self._sources(t)
            for row in self._span(i, self.request.block_q, self.problem.seqlen_q):
                keys = self._span(j, self.request.block_k, self.problem.seqlen_k)
                seen = [(key, place) for place, key in enumerate(keys) if self.pairs[row, key]]
                yield self._step(t, row, [source[place] for _, place in seen])

    def result(self, row: int) -> tuple[Matrix, float]:
        """O and LSE that the kernel returns, after the walk."""
        m, l, o = self.state.get(row, (-np.inf, 0.0, np.zeros(self.v.shape[1])))
        ends = self.request.order == "flash2" and self.fault != "softmax-per-tile"
        return (o / (l or 1.0) if ends else o), m + np.log(l) if l else -np.inf

    @staticmethod
    def _span(block: int, size: int, count: int) -> range:
        return range(block * size, min((block + 1) * size, count))

    def _sources(self, t: int) -> list[int | None]:
        """The key whose K and V each place of the tile really has; None: zeros."""
        i, j = self.tiles[t]
        own: list[int | None] = list(self._span(j, self.request.block_k, self.problem.seqlen_k))
        if self.fault != "stale-keys" or not t:
            return own
        i_before, j_before = self.tiles[t - 1]
        if j_before == j if self.request.order == "flash1" else i_before != i:
            return own
        old = list(self._span(j_before, self.request.block_k, self.problem.seqlen_k))
        fresh = len(own) // 2
        return [*own[:fresh], *(old[p] if p < len(old) else None for p in range(fresh, len(own)))]

    def _step(self, t: int, row: int, keys: list[int | None]) -> After:
        m, l, o = self.state.get(row, (-np.inf, 0.0, np.zeros(self.v.shape[1])))
        if keys:
            zero = np.zeros
            k = np.array([zero(self.k.shape[1]) if key is None else self.k[key] for key in keys])
            v = np.array([zero(self.v.shape[1]) if key is None else self.v[key] for key in keys])
            m, l, o = self._update(self.problem.softmax_scale * (k @ self.q[row]), v, (m, l, o))
            self.state[row] = m, l, o
        return After(t, row, m, l, o)

    def _update(self, s: Matrix, v: Matrix, old: tuple[float, float, Matrix]) -> tuple[float, float, Matrix]:
        m, l, o = old
        if self.fault == "softmax-per-tile":
            top = float(s.max())
            p = np.exp(s - top)
            return top, float(p.sum()), o + p @ v / p.sum()
        top = 0.0 if self.fault == "no-maximum" else max(m, float(s.max()))
        factor = 1.0 if self.fault in {"no-rescale", "no-maximum"} else float(np.exp(m - top))
        held = o * l if self.request.order == "flash1" else o
        p = np.exp(s - top)
        new_l = factor * l + float(p.sum())
        new_o: Any = factor * held + p @ v
        return top, new_l, new_o / (new_l or 1.0) if self.request.order == "flash1" else new_o
