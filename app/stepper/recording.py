"""A trace as arrays, with what the Stepper derives from them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashscope.app.stepper.walk import Ints, Tiled
from flashscope.kernels.workload.trace import Fault, Trace, TraceRequest

MOST_HEADROOM = 88.0  # beyond it the exponential of a float32 is infinite
RecordedFloats = NDArray[np.floating[Any]]


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
class Recording(Tiled):
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
    def request(self) -> TraceRequest:  # type: ignore[override]  # read alone, like what it comes from
        """What was traced."""
        return self.trace.request

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
    def plain(self) -> bool:
        """Whether it is of one head, in one part and not in 8 bits: what the modes beside Blocks walk."""
        return not self.request.shared and not self.in_8_bits

    def computed_twice(self, t: int) -> NDArray[np.bool_]:
        """Which rows of tile t were computed again with a new maximum (rows,); none but of flash3-fp8."""
        rows = self.rows(self.at(t)[0])
        if self.trace.twice is None:
            return np.zeros(rows, bool)
        found: NDArray[np.bool_] = self.trace.twice.numpy()[t, :rows].astype(bool)
        return found

    @property
    def value_dim(self) -> int:  # type: ignore[override]  # as above
        """dv, the width of V and O."""
        return int(self.o.shape[2])

    @cached_property
    def additions(self) -> tuple[tuple[int, bool, int], ...]:
        """The additions that merge parts of the keys, as `merge_order` has them; none of one part."""
        return self.trace.merging

    def merged(self, addition: int, i: int) -> RowState:
        """The rows of query block i in the sum that an addition adds to, after it; -1: the empty state."""
        trace = self.trace
        if addition < 0 or trace.merge_m is None or trace.merge_l is None or trace.merge_o is None:
            return self.state(-1, i)
        rows = slice(i * self.block_q, i * self.block_q + self.rows(i))
        return RowState(
            *(array.numpy()[addition, rows] for array in (trace.merge_m, trace.merge_l, trace.merge_o))
        )

    def sum_before(self, addition: int) -> int:
        """The addition before this one to the same sum; -1: that was empty."""
        into = [one[0] for one in self.additions[:addition]]
        return max((k for k, one in enumerate(into) if one == self.additions[addition][0]), default=-1)

    def added(self, addition: int, i: int) -> RowState:
        """The rows of query block i in what an addition adds: a part, or another sum."""
        _, of_parts, which = self.additions[addition]
        if of_parts:
            return self.state(self.ends(i).get(which, -1), i)
        into = [one[0] for one in self.additions[:addition]]
        return self.merged(max((k for k, one in enumerate(into) if one == which), default=-1), i)

    @cached_property
    def m_before(self) -> RecordedFloats:
        """The running maximum before each tile (T, Br), -inf before the first."""
        before = self.m[self.previous]
        before[self.previous < 0] = -np.inf
        return before

    @cached_property
    def score_limit(self) -> float:
        """The largest |score| of the trace: the fixed end of the colour scale."""
        finite = np.isfinite(self.s)
        if not finite.any():
            return 1.0
        ends = self.s.max(where=finite, initial=-np.inf), self.s.min(where=finite, initial=np.inf)
        return float(np.abs(ends).max())

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
        ends = [
            end(held, axis=axes) for held, axes in ((self.l, 1), (self.o, (1, 2))) for end in (np.max, np.min)
        ]
        return np.asarray(np.isfinite(ends).all(axis=0))

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
