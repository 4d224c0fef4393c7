"""The trace of a backward pass as arrays, with what the Stepper derives from them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from flashscope.app.stepper.recording import RecordedFloats
from flashscope.app.stepper.walk import Ints
from flashscope.kernels.workload.backward_trace import BackwardTrace, BackwardTraceRequest
from flashscope.kernels.workload.trace import Array

Weights = Literal["p", "dp", "ds"]
Sums = Literal["dq", "dk", "dv"]
SUMS: tuple[Sums, ...] = get_args(Sums)
MOST = 0.995  # of all numbers have a colour of their own; those beyond have that of the end
SAMPLED = 1 << 14  # numbers are looked at for that


class TilePlace(NamedTuple):
    """Which tile it is.

    Attributes:
        head: The query head in the group.
        i: Its query block.
        j: Its key block.
    """

    head: int
    i: int
    j: int


@dataclass(frozen=True, eq=False)
class BackwardRecording:
    """A trace's tiles in one row: the T of the main launch, then the R of a launch that computes dQ alone.

    Attributes:
        trace: What was recorded; see `kernels.workload.backward_trace` for shapes.
        tile: Head in the group, i and j of each tile, int (T + R, 3).
        main: T.
    """

    trace: BackwardTrace
    tile: Ints
    main: int

    @classmethod
    def of(cls, trace: BackwardTrace) -> "BackwardRecording":
        """Decode a trace; arrays are read-only views of its bytes."""
        tile = trace.tile.numpy()
        apart = trace.dq_pass
        both = tile if apart is None else np.concatenate([tile, apart.tile.numpy()])
        return cls(trace, both, len(tile))

    @property
    def tiles(self) -> int:
        """T + R, the number of tiles that ran."""
        return len(self.tile)

    def at(self, t: int) -> TilePlace:
        """Which tile t is."""
        return TilePlace(*map(int, self.tile[t]))

    def apart(self, t: int) -> bool:
        """Whether tile t is one of a launch that computes dQ alone."""
        return t >= self.main

    def request_at(self, t: int) -> BackwardTraceRequest:
        """The request in the tile's size of tile t's launch."""
        return self.trace.apart if self.apart(t) else self.trace.request

    def area(self, t: int) -> tuple[slice, slice]:
        """The queries and the keys of tile t."""
        place = self.at(t)
        return self.request_at(t).area(place.i, place.j)

    def weights(self, name: Weights, t: int) -> RecordedFloats:
        """P, dP or dS of tile t without its padding (rows, keys)."""
        rows, keys = self.area(t)
        held = self._held(name, t)
        return held[: rows.stop - rows.start, : keys.stop - keys.start]

    def delta(self, t: int) -> RecordedFloats:
        """rowsum(dO O) of tile t's queries (rows,)."""
        head, rows = self.at(t).head, self.area(t)[0]
        if not self.apart(t):
            delta: RecordedFloats = self.trace.delta.numpy()[t, : rows.stop - rows.start]
            return delta
        grad, output = (getattr(self.trace, name).numpy()[head, rows] for name in ("grad_output", "output"))
        return np.asarray((grad * output).sum(axis=1))

    def has(self, name: Sums, t: int) -> bool:
        """Whether tile t adds to dQ, dK or dV."""
        if name == "dq":
            return self.apart(t) or self.trace.dq is not None
        return not self.apart(t)

    def after(self, name: Sums, t: int) -> RecordedFloats | None:
        """DQ of tile t's queries after it (rows, d), or dK or dV of its keys (keys, d); None: it adds none.

        dQ and dK lack the scale.
        """
        if not self.has(name, t):
            return None
        span = self.area(t)[0 if name == "dq" else 1]
        return self._held(name, t)[: span.stop - span.start]

    def before(self, name: Sums, t: int) -> RecordedFloats | None:
        """The same before tile t: zeros where it is the first that adds; None: it adds none."""
        after = self.after(name, t)
        earlier = int(self.previous[name][t])
        return after if after is None else np.zeros_like(after) if earlier < 0 else self.after(name, earlier)

    @cached_property
    def previous(self) -> dict[Sums, Ints]:
        """For each tile the one before it that adds to the same rows of dQ, dK or dV; -1: it is the first."""
        head, i, j = self.tile.T.astype(np.int64)
        main = np.arange(self.tiles) < self.main
        queries = head * (1 + int(i.max(initial=0))) + i
        of_dq = main if self.trace.dq is not None else ~main
        return {"dq": _before(queries, of_dq), "dk": _before(j, main), "dv": _before(j, main)}

    @cached_property
    def finishes(self) -> dict[Sums, frozenset[int]]:
        """The tiles after which dQ of their queries, or dK or dV of their keys, is whole."""
        main = np.arange(self.tiles) < self.main
        adds = {"dq": main if self.trace.dq is not None else ~main, "dk": main, "dv": main}
        found: dict[Sums, frozenset[int]] = {}
        for name in SUMS:
            followed = np.isin(np.arange(self.tiles), self.previous[name])
            found[name] = frozenset(np.flatnonzero(adds[name] & ~followed).tolist())
        return found

    def limit(self, name: Weights | Sums) -> float:
        """The fixed end of the colour scale: what most magnitudes of the trace keep within, P's largest."""
        return self._limits[name]

    @cached_property
    def _limits(self) -> dict[str, float]:
        trace, apart = self.trace, self.trace.dq_pass
        found = {}
        for name in ("p", "dp", "ds", *SUMS):
            arrays = [getattr(trace, name), getattr(apart, name, None)]
            share = 1.0 if name == "p" else MOST
            tops = [_end(one, share) for one in arrays if one is not None]
            found[name] = max(tops, default=0.0) or 1.0
        return found

    @cached_property
    def max_errors(self) -> dict[Sums, float]:
        """The largest difference of each gradient from the oracle's, measured on what the kernel returned."""
        pairs = {"dq": "q", "dk": "k", "dv": "v"}
        found: dict[Sums, float] = {}
        for name in SUMS:
            ours, exact = (getattr(self.trace, f"{kind}_{pairs[name]}").numpy() for kind in ("grad", "exact"))
            with np.errstate(all="ignore"):
                found[name] = float(np.abs(ours.astype(np.float64) - exact).max())
        return found

    def order_of_tile(self, t: int) -> Ints:
        """When the tiles of tile t's head ran in its launch, -1: every pair is masked (int, (Tr, Tc))."""
        order: Ints = self._orders[self.apart(t)][self.at(t).head]
        return order

    @cached_property
    def _orders(self) -> tuple[Ints, Ints]:
        """Those of every head (heads, Tr, Tc) in the main launch, and in one that computes dQ alone."""
        parts = (0, self.main, self.trace.request), (self.main, self.tiles, self.trace.apart)
        orders = []
        for first, end, asked in parts:
            order = np.full(asked.grid, -1)
            order[tuple(self.tile[first:end].T)] = np.arange(first, end)
            orders.append(order)
        return orders[0], orders[1]

    def find(self, place: tuple[int, int, int]) -> int | None:
        """The tile of the main launch with this head in the group, i and j; None: it did not run."""
        found = np.flatnonzero((self.tile[: self.main] == np.array(place)).all(axis=1))
        return int(found[0]) if len(found) else None

    def sm(self, t: int) -> int | None:
        """The SM that computed tile t; None: it is not known, as on a CPU."""
        held = self.trace.dq_pass if self.apart(t) else self.trace
        if held is None or held.sm is None:
            return None
        return int(held.sm.numpy()[t - self.main if self.apart(t) else t])

    def _held(self, name: Weights | Sums, t: int) -> RecordedFloats:
        if self.apart(t):
            held: RecordedFloats = getattr(self.trace.dq_pass, name).numpy()[t - self.main]
        else:
            held = getattr(self.trace, name).numpy()[t]
        return held


def _before(rows: Ints, adds: NDArray[np.bool_]) -> Ints:
    """For each tile that adds the one before it that adds to the same rows, by their number; else -1."""
    found = np.full(len(rows), -1)
    chosen = np.flatnonzero(adds)
    order = chosen[np.argsort(rows[chosen], kind="stable")]
    same = rows[order][1:] == rows[order][:-1]
    found[order[1:][same]] = order[:-1][same]
    return found


def _end(array: Array, share: float) -> float:
    """The magnitude that this share of the numbers keep within, of so many of them; 0: there is none.

    All of them are those of P, of which none is negative.

    A few rows hold far more than the others, whose colours would be those of 0.
    """
    numbers = array.numpy().ravel()
    if share == 1 and len(numbers) and np.isfinite(top := numbers.max()):
        return float(top)
    numbers = numbers[:: max(1, len(numbers) // SAMPLED)]
    sizes = np.abs(numbers[np.isfinite(numbers) & (numbers != 0)])
    return float(np.quantile(sizes, share)) if len(sizes) else 0.0
