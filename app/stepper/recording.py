"""A trace as arrays, with what the Stepper derives from them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashscope.kernels.workload.trace import Fault, Trace

MOST_HEADROOM = 88.0  # beyond it the exponential of a float32 is infinite
RecordedFloats = NDArray[np.floating[Any]]
Ints = NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class RowState:
    """The running state of the rows of one query block.

    Attributes:
        m: Running maximum (rows,), -inf before the first kept score.
        l: Running sum (rows,).
        o: Accumulator (rows, dv) as the kernel holds it.
    """

    m: RecordedFloats
    l: RecordedFloats
    o: RecordedFloats


@dataclass(frozen=True, eq=False)
class Recording:
    """A trace's arrays; see `kernels.workload.trace.Trace` for their shapes."""

    trace: Trace
    tile: Ints
    s: RecordedFloats
    m: RecordedFloats
    l: RecordedFloats
    alpha: RecordedFloats
    o: RecordedFloats
    output: RecordedFloats
    exact: RecordedFloats

    @classmethod
    def of(cls, trace: Trace) -> "Recording":
        """Decode a trace; arrays are read-only views of its bytes."""
        arrays = (
            trace.tile,
            trace.s,
            trace.m,
            trace.l,
            trace.alpha,
            trace.o,
            trace.output,
            trace.exact_output,
        )
        return cls(trace, *(array.numpy() for array in arrays))

    @property
    def order(self) -> str:
        """The loop order, `flash1` or `flash2`."""
        return self.trace.request.order

    @property
    def fault(self) -> Fault:
        """What it gets wrong on purpose; empty: nothing."""
        return self.trace.request.fault

    @property
    def normalised(self) -> bool:
        """Whether O is held divided by l."""
        return self.trace.normalised

    @property
    def headroom(self) -> float:
        """By how much a row's maximum may pass m before m follows it; 0: m is the running maximum.

        So is it where a file has a headroom that no exponent of a float32 has room for.
        """
        return self.trace.headroom if 0 < self.trace.headroom < MOST_HEADROOM else 0.0

    @property
    def block_q(self) -> int:
        """Br, rows of a tile."""
        return self.trace.request.block_q

    @property
    def block_k(self) -> int:
        """Bc, columns of a tile."""
        return self.trace.request.block_k

    @property
    def seqlen_q(self) -> int:
        """Nq, the number of query rows."""
        return self.trace.request.problem.seqlen_q

    @property
    def seqlen_k(self) -> int:
        """Nk, the number of key rows."""
        return self.trace.request.problem.seqlen_k

    @property
    def blocks_q(self) -> int:
        """Tr, the number of query blocks."""
        return self.trace.request.grid[0]

    @property
    def blocks_k(self) -> int:
        """Tc, the number of key blocks."""
        return self.trace.request.grid[1]

    @property
    def tiles(self) -> int:
        """T, the number of tiles that ran."""
        return len(self.tile)

    @property
    def value_dim(self) -> int:
        """dv, the width of V and O."""
        return int(self.o.shape[2])

    def rows(self, i: int) -> int:
        """Rows of query block i that exist."""
        return min(self.block_q, self.seqlen_q - i * self.block_q)

    def columns(self, j: int) -> int:
        """Columns of key block j that exist."""
        return min(self.block_k, self.seqlen_k - j * self.block_k)

    def at(self, t: int) -> tuple[int, int]:
        """The (i, j) of tile t."""
        return int(self.tile[t, 0]), int(self.tile[t, 1])

    @cached_property
    def previous(self) -> Ints:
        """For each tile, the tile before it of the same query block; -1 for the first (int, (T,))."""
        last = np.full(self.blocks_q, -1)
        result = np.empty(self.tiles, dtype=np.int64)
        for t, i in enumerate(self.tile[:, 0]):
            result[t], last[i] = last[i], t
        return result

    @cached_property
    def m_before(self) -> RecordedFloats:
        """The running maximum before each tile (T, Br), -inf before the first."""
        before = self.m[self.previous]
        before[self.previous < 0] = -np.inf
        return before

    @cached_property
    def order_of_tile(self) -> Ints:
        """When the tile (i, j) ran, -1 when it was skipped because every score is masked (int, (Tr, Tc))."""
        grid = np.full((self.blocks_q, self.blocks_k), -1)
        grid[self.tile[:, 0], self.tile[:, 1]] = np.arange(self.tiles)
        return grid

    @cached_property
    def score_limit(self) -> float:
        """The largest |score| of the trace: the fixed end of the colour scale."""
        finite = self.s[np.isfinite(self.s)]
        return float(np.abs(finite).max()) if finite.size else 1.0

    @cached_property
    def weight_limit(self) -> float:
        """The largest weight: 1, and where m lags behind the maximum the largest P of the trace, if more."""
        if not self.headroom:
            return 1.0
        known = np.isfinite(self.m)
        exponents = np.where(known, self.s.max(axis=2), 0) - np.where(known, self.m, 0)
        return float(np.exp(min(max(0.0, float(exponents.max(initial=0.0))), self.headroom)))

    @cached_property
    def finite(self) -> NDArray[np.bool_]:
        """Whether l and O are finite after each tile (bool, (T,))."""
        outputs = self.o.reshape(self.tiles, -1)
        return np.asarray(np.isfinite(np.concatenate([self.l, outputs], axis=1)).all(axis=1))

    @cached_property
    @np.errstate(all="ignore")
    def max_error(self) -> float:
        """The largest |O - exact| over all rows, measured on what the kernel returned."""
        return float(np.abs(self.output.astype(np.float64) - self.exact).max())

    def scores(self, t: int) -> RecordedFloats:
        """S of tile t without its padding (rows, columns)."""
        i, j = self.at(t)
        return self.s[t, : self.rows(i), : self.columns(j)]

    @np.errstate(all="ignore")  # a file may hold any m
    def weights(self, t: int, *, local: bool = False) -> RecordedFloats:
        """P of tile t, recomputed as exp(S - m) from the recorded S and m (rows, columns).

        Args:
            t: The tile.
            local: Subtract the tile's own row maximum, as the slides do, not the running one.
        """
        scores = self.scores(t)
        top = scores.max(axis=1) if local else self.m[t, : len(scores)]
        return np.exp(scores - np.where(np.isfinite(top), top, 0)[:, None])

    def state(self, t: int, i: int) -> RowState:
        """The rows of query block i after tile t; the empty state for t = -1."""
        rows = self.rows(i)
        if t < 0:
            empty = np.zeros((rows, self.value_dim))
            return RowState(np.full(rows, -np.inf), np.zeros(rows), empty)
        return RowState(self.m[t, :rows], self.l[t, :rows], self.o[t, :rows])
