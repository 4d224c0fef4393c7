"""What timed kernels record with their recording compiled in, in the emulator, beside float64."""

from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from flashscope.kernels.cuda.instrument import RECORDED, TimedCut, timed, timed_cut
from flashscope.kernels.cuda.program import ceil_div
from flashscope.kernels.launching.tracing import Snapshots
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs
from flashscope.kernels.workload.trace import TimedKernel
from tests.kernels.cuda.emulator.launch import guarded_memory, run
from tests.kernels.cuda.emulator.running import drawn, needs_compiler, target
from tests.kernels.cuda.test_emulated_trace import WITHOUT_CLOCK
from tests.matrix import chosen

pytestmark = needs_compiler
HOPPER = 900
ROUNDING = 2**-10  # of float16, twice half a unit
SHAPES: dict[str, dict[str, Any]] = {
    "full": {"seqlen_q": 150, "seqlen_k": 133},
    "causal": {"seqlen_q": 150, "seqlen_k": 200, "causal": True},
    "more rows": {"seqlen_q": 150, "seqlen_k": 70, "causal": True},
    "window": {"seqlen_q": 340, "seqlen_k": 400, "window": (50, 20)},
    "negative": {"seqlen_q": 40, "seqlen_k": 90, "scale": -0.5},
    "rising": {"seqlen_q": 40, "seqlen_k": 300, "scale": 3.0},
}
CASES: list[tuple[TimedKernel, str, int]] = [
    *(("flash2", shape, head_dim) for shape, head_dim in product(SHAPES, (64, 128))),
    *(("flash3", shape, head_dim) for shape, head_dim in product(SHAPES, (64, 128))),
    *(("flash2", "full", 40), ("flash3", "causal", 256)),
]
IN_EVERY_RUN = [("flash2", "causal", 128), ("flash3", "rising", 128)]


def recorded(problem: Problem, inputs: Inputs, cut: TimedCut, *, traced: bool = True) -> dict[str, Any]:
    """The buffers after a run, with the recording or without."""
    tiles = ceil_div(problem.seqlen_q, cut.tile.q) * ceil_div(problem.seqlen_k, cut.tile.k)
    program = timed(cut.program) if traced else cut.program
    with guarded_memory() as memory:
        buffers = {name: memory.copy(name, array) for name, array in inputs.arrays.items()}
        buffers |= {name: memory.copy(name, table) for name, table in program.tables.items()}
        buffers["o"] = memory.empty("o", problem.q_shape, storage_dtype(problem.dtype))
        buffers["lse"] = memory.empty("lse", problem.q_shape[:3], np.float32)
        clocks = np.zeros(tiles, np.int64), np.zeros(tiles, np.int32)
        empty = (*Snapshots.empty(tiles, *cut.tile, problem.head_dim), *clocks)
        for name, fill in zip(RECORDED, empty, strict=True):
            buffers[name] = memory.copy(name, fill)
        run(program, buffers, arch=HOPPER, edits=WITHOUT_CLOCK if traced else ())
        return {name: array.copy() for name, array in buffers.items()}


class Row(NamedTuple):
    """The state of a tile's rows, in float64; `size` is O with |V|, of which P's rounding takes its share."""

    m: Any
    l: Any
    o: Any
    size: Any
    alpha: Any


def scores_of(problem: Problem, q: Any, k: Any) -> Any:
    """Scaled and masked, in float64."""
    every = slice(0, problem.seqlen_q)
    kept = np.stack([problem.mask.keeping(key, every) for key in range(problem.seqlen_k)], axis=1)
    return np.where(kept, q @ k.T * problem.softmax_scale, -np.inf)


def absorbed(before: Row, scores: Any, v: Any, headroom: float) -> Row:
    """One tile's step, where the reference point follows the maximum once it is so far above it."""
    top = scores.max(axis=1)
    m = np.where(top > before.m + headroom, top, before.m)
    origin = np.where(np.isneginf(m), 0, m)
    alpha = np.where(np.isneginf(m), 1, np.exp(before.m - origin))
    weights = np.exp(scores - origin[:, None])
    l = alpha * before.l + weights.sum(axis=1)
    o, size = (alpha[:, None] * old + weights @ x for old, x in ((before.o, v), (before.size, np.abs(v))))
    return Row(m, l, o, size, alpha)


def replayed(problem: Problem, inputs: Inputs, cut: TimedCut) -> Iterator[tuple[tuple[int, int], Any, Row]]:
    """Each tile in the kernel's order, from the last key down: its place, its scores, the state after it."""
    q, k, v = (np.asarray(array, np.float64)[0, 0] for array in inputs.qkv)
    scores, tile = scores_of(problem, q, k), cut.tile
    for i in range(ceil_div(problem.seqlen_q, tile.q)):
        rows = slice(i * tile.q, min((i + 1) * tile.q, problem.seqlen_q))
        count = rows.stop - rows.start
        nothing = np.zeros((count, problem.head_dim))
        state = Row(np.full(count, -np.inf), np.zeros(count), nothing, nothing, None)
        for j in reversed(range(ceil_div(problem.seqlen_k, tile.k))):
            keys = slice(j * tile.k, min((j + 1) * tile.k, problem.seqlen_k))
            if problem.mask.keeps(rows, keys):
                state = absorbed(state, scores[rows, keys], v[keys], cut.headroom)
                yield (i, j), scores[rows, keys], state


def asked(shape: str, head_dim: int) -> Problem:
    return Problem(**SHAPES[shape], head_dim=head_dim, heads=1, dtype="float16", seed=2)


@chosen("kernel,shape,head_dim", CASES, IN_EVERY_RUN)
def test_each_snapshot_is_that_of_a_replay_in_float64(kernel: TimedKernel, shape: str, head_dim: int) -> None:
    problem = asked(shape, head_dim)
    inputs, cut = drawn(problem), timed_cut(kernel, problem, target(HOPPER))
    found, ran = recorded(problem, inputs, cut), 0
    for (i, j), scores, state in replayed(problem, inputs, cut):
        slot, (count, width) = i * ceil_div(problem.seqlen_k, cut.tile.k) + j, scores.shape
        ours = {name: found[f"trace_{name}"][slot, :count] for name in ("s", "m", "l", "alpha", "o")}
        met = ~np.isneginf(state.m)
        np.testing.assert_allclose(ours["s"][:, :width], scores, rtol=1e-3, atol=2e-3)
        assert np.isneginf(ours["s"][:, width:]).all()
        np.testing.assert_allclose(ours["m"], state.m, rtol=1e-3, atol=2e-3)
        for name, expected in (("l", state.l), ("alpha", state.alpha)):
            np.testing.assert_allclose(ours[name][met], expected[met], rtol=3e-3, atol=1e-3)
        assert (np.abs(ours["o"] - state.o)[met] <= ROUNDING * state.size[met] + 2e-3).all()
        assert found["trace_t_ns"][slot] == 7
        ran += 1
    assert ran == np.count_nonzero(found["trace_t_ns"])


@chosen("kernel,shape,head_dim", CASES, IN_EVERY_RUN)
def test_the_answer_is_that_of_the_timed_kernel_to_the_bit(
    kernel: TimedKernel, shape: str, head_dim: int
) -> None:
    problem = asked(shape, head_dim)
    inputs, cut = drawn(problem), timed_cut(kernel, problem, target(HOPPER))
    traced, plain = (recorded(problem, inputs, cut, traced=one) for one in (True, False))
    for name in ("o", "lse"):
        assert traced[name].tobytes() == plain[name].tobytes()


def test_some_cuts_let_the_reference_point_lag_and_some_do_not() -> None:
    cuts = [timed_cut(kernel, asked("full", head_dim), target(HOPPER)) for kernel, _, head_dim in CASES]
    assert {cut.headroom > 0 for cut in cuts} == {False, True}
