"""A trace of a backward pass beside a replay of the same tiles in float64."""

from typing import Any

import numpy as np

from flashscope.kernels.catalogue.workspace_backward import WIDE_HEAD
from flashscope.kernels.workload.backward_trace import BackwardTrace, BackwardTraceRequest
from flashscope.kernels.workload.trace import Array
from tests.kernels.masked import kept

UNIT = {"float16": 2**-11, "bfloat16": 2**-8, "float32": 2**-20}
"""By how much a weight is off, relatively, when it meets its operand: in float32 the sums' own rounding."""
SMALLEST = {"float16": 2**-25, "bfloat16": 0.0, "float32": 0.0}
"""By how much at most where it is too small for that: half of the smallest number that there is."""
NEAR = 2e-4  # of what is computed in float32


class Whole:
    """P, dP and dS of all pairs of the heads on show, in float64: (G, Nq, Nk) each; delta (G, Nq)."""

    def __init__(self, trace: BackwardTrace) -> None:
        names = ("q", "k", "v", "output", "lse", "grad_output")
        q, k, v, output, lse, grad = (getattr(trace, name).numpy().astype(np.float64) for name in names)
        problem = trace.request.problem
        self.q, self.k, self.grad = q, k, grad
        scores = np.where(kept(problem), q @ k.T * problem.softmax_scale, -np.inf)
        self.p = np.exp(scores - np.where(np.isneginf(lse), np.inf, lse)[..., None])
        self.dp, self.delta = grad @ v.T, (grad * output).sum(axis=-1)
        self.ds = self.p * (self.dp - self.delta[..., None])
        self.dp_size = np.abs(grad) @ np.abs(v).T
        self.delta_size = np.abs(grad * output).sum(axis=-1)
        asked = trace.request
        rounded = asked.kernel == "flash3" and asked.problem.head_dim > WIDE_HEAD  # P, as dS sees it
        self.p_error = NEAR * self.p + 1e-7
        self.ds_error = NEAR * self.p * (self.dp_size + self.delta_size[..., None]) + 1e-6
        if rounded:
            lost = 2 * UNIT[problem.dtype] * self.p + SMALLEST[problem.dtype]
            self.ds_error = self.ds_error + lost * np.abs(self.dp - self.delta[..., None])


class Sums:
    """A gradient of each block so far, and by how much it may be off."""

    def __init__(self, trace: BackwardTrace) -> None:
        self.unit, self.smallest = (table[trace.request.problem.dtype] for table in (UNIT, SMALLEST))
        self.held: dict[Any, Any] = {}

    def add(self, place: Any, weights: tuple[Any, Any], operand: Any, recorded: Any) -> None:
        """Add a tile's product of weights and their error, and hold what was recorded against the sum."""
        of_tile, error = weights
        error = error + 2 * self.unit * np.abs(of_tile) + self.smallest
        parts = of_tile @ operand, error @ np.abs(operand)
        before = self.held.get(place, (0.0, 0.0))
        total, allowed = self.held[place] = before[0] + parts[0], before[1] + parts[1]
        count = len(of_tile)
        assert (np.abs(recorded[:count] - total) <= allowed).all()
        assert not recorded[count:].any()


def check_backward_trace(trace: BackwardTrace) -> None:
    """Hold every state, and the gradients in the end, against float64.

    Raises:
        AssertionError: One is off by more than the rounding of P and dS allows, or a tile is missing.
    """
    whole, dq, dk, dv = Whole(trace), Sums(trace), Sums(trace), Sums(trace)
    names = ("p", "dp", "ds", "delta", "dk", "dv")
    states = {name: getattr(trace, name).numpy().astype(np.float64) for name in names}
    recorded_dq = None if trace.dq is None else trace.dq.numpy().astype(np.float64)
    for t, (head, i, j) in enumerate(trace.tile.numpy().tolist()):
        rows, keys = trace.request.area(i, j)
        check_tile(whole, {name: array[t] for name, array in states.items()}, (head, rows, keys))
        place = head, rows, keys
        p, ds = (whole.p[place], whole.p_error[place]), (whole.ds[place], whole.ds_error[place])
        dv.add(j, (p[0].T, p[1].T), whole.grad[head, rows], states["dv"][t])
        dk.add(j, (ds[0].T, ds[1].T), whole.q[head, rows], states["dk"][t])
        if recorded_dq is not None:
            dq.add((head, i), ds, whole.k[keys], recorded_dq[t])
    check_visited(trace.request, trace.tile)
    check_gradients(trace, whole)
    check_dq_pass(trace, whole)


def check_dq_pass(trace: BackwardTrace, whole: Whole) -> None:
    """Hold what a launch of dQ alone recorded against float64, and dQ to the bit against its last sums."""
    one, asked = trace.dq_pass, trace.apart
    assert (one is None) == (trace.dq is not None)
    if one is None:
        return
    states = {name: getattr(one, name).numpy().astype(np.float64) for name in ("p", "dp", "ds", "dq")}
    sums, expected = Sums(trace), np.zeros_like(trace.grad_q.numpy())
    for t, (head, i, j) in enumerate(one.tile.numpy().tolist()):
        rows, keys = place = asked.area(i, j)
        check_weights(whole, {name: array[t] for name, array in states.items()}, (head, *place))
        where = head, rows, keys
        sums.add((head, i), (whole.ds[where], whole.ds_error[where]), whole.k[keys], states["dq"][t])
        expected[head, rows] = one.dq.numpy()[t, : rows.stop - rows.start]
    check_visited(asked, one.tile)
    expected *= np.float32(asked.problem.softmax_scale)
    assert (as_stored(asked.problem.dtype, expected) == trace.grad_q.numpy()).all()


def check_tile(whole: Whole, state: dict[str, Any], place: tuple[int, slice, slice]) -> None:
    """Hold P, dP, dS and delta of a tile against float64; what lies behind the last row or key is 0."""
    check_weights(whole, state, place)
    head, rows, _ = place
    count = rows.stop - rows.start
    far = np.abs(state["delta"][:count] - whole.delta[head, rows])
    assert (far <= NEAR * whole.delta_size[head, rows]).all()
    assert not state["delta"][count:].any()


def check_weights(whole: Whole, state: dict[str, Any], place: tuple[int, slice, slice]) -> None:
    """Hold P, dP and dS of a tile against float64.

    dP of hidden pairs may be 0, too: of a part of a tile of which the mask keeps nothing it is not computed.
    """
    _, rows, keys = place
    count, width = rows.stop - rows.start, keys.stop - keys.start
    skipped = (whole.p[place] == 0) & (state["dp"][:count, :width] == 0)
    allowed = {
        "p": whole.p_error[place],
        "dp": np.where(skipped, np.inf, NEAR * whole.dp_size[place] + 1e-6),
        "ds": whole.ds_error[place],
    }
    for name, most in allowed.items():
        assert (np.abs(state[name][:count, :width] - getattr(whole, name)[place]) <= most).all(), name
        assert not state[name][count:].any()
        assert not state[name][:, width:].any()


def check_visited(asked: BackwardTraceRequest, tile: Array) -> None:
    """Every tile that keeps a pair ran, and no other."""
    ran = [(head, i, j) for head, i, j in tile.numpy().tolist()]
    heads, rows, columns = asked.grid
    every = [(h, i, j) for h in range(heads) for i in range(rows) for j in range(columns)]
    areas = ((place, asked.area(*place[1:])) for place in every)
    assert sorted(ran) == [place for place, area in areas if asked.mask.keeps(*area)]


def check_gradients(trace: BackwardTrace, whole: Whole) -> None:
    """The gradients that the kernel returned are those of the last states, times the scale, to the bit."""
    asked, scale = trace.request, np.float32(trace.request.problem.softmax_scale)
    returned = {"dk": (trace.grad_k, trace.dk), "dv": (trace.grad_v, trace.dv)}
    last = {j: t for t, (_, _, j) in enumerate(trace.tile.numpy().tolist())}
    for name, (answer, states) in returned.items():
        expected = np.zeros_like(answer.numpy())
        for j, t in last.items():
            keys = asked.area(0, j)[1]
            expected[keys] = states.numpy()[t, : keys.stop - keys.start] * (scale if name == "dk" else 1)
        assert (as_stored(asked.problem.dtype, expected) == answer.numpy()).all(), name
    exact = whole.ds @ whole.k * float(scale)
    unit = UNIT[asked.problem.dtype]
    error = (whole.ds_error + 2 * unit * np.abs(whole.ds)) @ np.abs(whole.k) * abs(float(scale))
    assert (np.abs(trace.grad_q.numpy() - exact) <= error + unit * np.abs(exact) + 1e-6).all()


def as_stored(dtype: str, array: Any) -> Any:
    """A gradient as the kernel stores it, in float32 again."""
    return array if dtype == "float32" else array.astype(dtype).astype(np.float32)
