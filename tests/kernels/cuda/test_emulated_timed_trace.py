"""What the timed flash2 records with its recording compiled in, in the emulator, beside float64."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from flashscope.kernels.cuda.instrument import RECORDED, timed, timed_tile
from flashscope.kernels.cuda.program import TileSize, ceil_div
from flashscope.kernels.launching.tracing import Snapshots
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs
from tests.kernels.cuda.builds import FORWARD
from tests.kernels.cuda.emulator.launch import guarded_memory, run
from tests.kernels.cuda.emulator.running import drawn, needs_compiler, target
from tests.kernels.cuda.test_emulated_trace import WITHOUT_CLOCK
from tests.matrix import chosen

pytestmark = needs_compiler
HOPPER, LAZINESS = 900, 8.0  # the second as in flash2.cu: powers of two
ROUNDING = 2**-10  # of float16, twice half a unit
CASES: dict[str, dict[str, Any]] = {
    "full": {"seqlen_q": 150, "seqlen_k": 133, "head_dim": 64},
    "causal": {"seqlen_q": 150, "seqlen_k": 200, "head_dim": 128, "causal": True},
    "more rows": {"seqlen_q": 150, "seqlen_k": 70, "head_dim": 32, "causal": True},
    "window": {"seqlen_q": 140, "seqlen_k": 200, "head_dim": 48, "window": (50, 20)},
    "negative": {"seqlen_q": 40, "seqlen_k": 90, "head_dim": 64, "scale": -0.5},
}


def recorded(problem: Problem, inputs: Inputs, *, traced: bool = True) -> dict[str, Any]:
    """The buffers after a run, with the recording or without."""
    tile = timed_tile(problem, target(HOPPER))
    tiles = ceil_div(problem.seqlen_q, tile.q) * ceil_div(problem.seqlen_k, tile.k)
    program = timed(problem, target(HOPPER)) if traced else FORWARD["flash2"](problem, target(HOPPER))
    with guarded_memory() as memory:
        buffers = {name: memory.copy(name, array) for name, array in inputs.arrays.items()}
        buffers["o"] = memory.empty("o", problem.q_shape, storage_dtype(problem.dtype))
        buffers["lse"] = memory.empty("lse", problem.q_shape[:3], np.float32)
        clocks = np.zeros(tiles, np.int64), np.zeros(tiles, np.int32)
        for name, fill in zip(
            RECORDED, (*Snapshots.empty(tiles, *tile, problem.head_dim), *clocks), strict=True
        ):
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


def absorbed(before: Row, scores: Any, v: Any) -> Row:
    """One tile's step, where the reference point follows the maximum only once it is far above it."""
    top = scores.max(axis=1)
    m = np.where(top > before.m + LAZINESS * np.log(2), top, before.m)
    origin = np.where(np.isneginf(m), 0, m)
    alpha = np.where(np.isneginf(m), 1, np.exp(before.m - origin))
    weights = np.exp(scores - origin[:, None])
    l = alpha * before.l + weights.sum(axis=1)
    o, size = (alpha[:, None] * old + weights @ x for old, x in ((before.o, v), (before.size, np.abs(v))))
    return Row(m, l, o, size, alpha)


def replayed(problem: Problem, inputs: Inputs, tile: TileSize) -> Iterator[tuple[tuple[int, int], Any, Row]]:
    """Each tile in the kernel's order, from the last key down: its place, its scores, the state after it."""
    q, k, v = (np.asarray(array, np.float64)[0, 0] for array in inputs.qkv)
    scores = scores_of(problem, q, k)
    for i in range(ceil_div(problem.seqlen_q, tile.q)):
        rows = slice(i * tile.q, min((i + 1) * tile.q, problem.seqlen_q))
        count = rows.stop - rows.start
        nothing = np.zeros((count, problem.head_dim))
        state = Row(np.full(count, -np.inf), np.zeros(count), nothing, nothing, None)
        for j in reversed(range(ceil_div(problem.seqlen_k, tile.k))):
            keys = slice(j * tile.k, min((j + 1) * tile.k, problem.seqlen_k))
            if problem.mask.keeps(rows, keys):
                state = absorbed(state, scores[rows, keys], v[keys])
                yield (i, j), scores[rows, keys], state


@chosen("case", CASES, {"causal"})
def test_each_snapshot_is_that_of_a_lazy_replay_in_float64(case: str) -> None:
    problem = Problem(**CASES[case], heads=1, dtype="float16", seed=2)
    inputs, tile = drawn(problem), timed_tile(problem, target(HOPPER))
    found, ran = recorded(problem, inputs), 0
    for (i, j), scores, state in replayed(problem, inputs, tile):
        slot, (count, width) = i * ceil_div(problem.seqlen_k, tile.k) + j, scores.shape
        ours = {name: found[f"trace_{name}"][slot, :count] for name in ("s", "m", "l", "alpha", "o")}
        met = ~np.isneginf(state.m)
        np.testing.assert_allclose(ours["s"][:, :width], scores, rtol=1e-3, atol=1e-3)
        assert np.isneginf(ours["s"][:, width:]).all()
        np.testing.assert_allclose(ours["m"], state.m, rtol=1e-3, atol=1e-3)
        for name, expected in (("l", state.l), ("alpha", state.alpha)):
            np.testing.assert_allclose(ours[name][met], expected[met], rtol=2e-3, atol=1e-3)
        assert (np.abs(ours["o"] - state.o)[met] <= ROUNDING * state.size[met] + 1e-3).all()
        assert found["trace_t_ns"][slot] == 7
        ran += 1
    assert ran == np.count_nonzero(found["trace_t_ns"])


@chosen("case", CASES, {"full"})
def test_the_answer_is_that_of_the_timed_kernel_to_the_bit(case: str) -> None:
    problem = Problem(**CASES[case], heads=1, dtype="float16", seed=2)
    inputs = drawn(problem)
    traced, plain = recorded(problem, inputs), recorded(problem, inputs, traced=False)
    for name in ("o", "lse"):
        assert traced[name].tobytes() == plain[name].tobytes()
