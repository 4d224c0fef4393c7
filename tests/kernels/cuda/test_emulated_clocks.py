"""flash2 with clocks between its stages, in the emulator: the timed answer to the bit, and clocks in order.

The emulator has no clock: one that counts whenever it is read stands in.
"""

from typing import Any

import numpy as np
import pytest

from flashscope.kernels.cuda import flash2
from flashscope.kernels.cuda.clocks import ClockedBlocks, lane_bars, most_steps, slots, walk
from flashscope.kernels.cuda.instrument import CLOCKED, clocked
from flashscope.kernels.cuda.sass.resources import resources
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs
from flashscope.kernels.workload.timeline import FORWARD_STAGES, STAGES, STORE
from tests.kernels.cuda.builds import ON_HOPPER
from tests.kernels.cuda.clocked.clock import assert_in_order, counting_lanes
from tests.kernels.cuda.compiled import workload
from tests.kernels.cuda.emulator.launch import guarded_memory, run
from tests.kernels.cuda.emulator.running import drawn, needs_compiler
from tests.kernels.cuda.nvrtc_apart import compile_apart
from tests.matrix import chosen

HOPPER = 900
SHAPES: dict[str, dict[str, Any]] = {
    "full": {"seqlen_q": 150, "seqlen_k": 133, "head_dim": 64},
    "causal": {"seqlen_q": 300, "seqlen_k": 300, "head_dim": 128, "causal": True, "heads": 2},
    "more rows": {"seqlen_q": 300, "seqlen_k": 70, "head_dim": 64, "causal": True},
    "window": {"seqlen_q": 340, "seqlen_k": 400, "head_dim": 64, "window": (50, 20)},
    "few tiles": {"seqlen_q": 66, "seqlen_k": 1030, "head_dim": 128, "causal": True, "heads": 2},
    "many steps": {"seqlen_q": 64, "seqlen_k": 2300, "head_dim": 64},
}
each_shape = chosen("shape", SHAPES, ["more rows", "many steps"])


def asked(shape: str) -> Problem:
    return Problem(**{"heads": 1, **SHAPES[shape]}, batch=1, dtype="float16", seed=2)


def ran(problem: Problem, inputs: Inputs, *, watched: bool) -> dict[str, Any]:
    """The buffers after a run, with the clocks or without."""
    tile, program = flash2.cut(problem, ON_HOPPER).tile, flash2.program(problem, ON_HOPPER)
    (launch,) = program.launches
    warps, most = launch.grid * launch.threads // 32, most_steps(problem, tile)
    with guarded_memory() as memory:
        buffers = {name: memory.copy(name, array) for name, array in inputs.arrays.items()}
        buffers["o"] = memory.empty("o", problem.q_shape, storage_dtype(problem.dtype))
        buffers["lse"] = memory.empty("lse", problem.q_shape[:3], np.float32)
        for name, array in zip(
            CLOCKED, (np.zeros((warps, most, 4), np.uint32), np.zeros((warps, 4), np.uint64)), strict=True
        ):
            buffers[name] = memory.copy(name, array)
        run(
            clocked(program, most) if watched else program,
            buffers,
            arch=HOPPER,
            edits=counting_lanes() if watched else (),
        )
        return {name: array.copy() for name, array in buffers.items()}


@needs_compiler
@each_shape
def test_the_answer_is_that_of_the_timed_kernel_to_the_bit(shape: str) -> None:
    problem = asked(shape)
    inputs = drawn(problem)
    watched, plain = (ran(problem, inputs, watched=one) for one in (True, False))
    for name in ("o", "lse"):
        assert watched[name].tobytes() == plain[name].tobytes()


@needs_compiler
@each_shape
def test_every_warp_tells_each_of_its_tiles_in_order_and_its_stages_make_up_its_life(shape: str) -> None:
    problem = asked(shape)
    found, tile = ran(problem, drawn(problem), watched=True), flash2.cut(problem, ON_HOPPER).tile
    (launch,) = flash2.program(problem, ON_HOPPER).launches
    warps = launch.threads // 32
    bars = lane_bars(problem, tile, ClockedBlocks(found["clock_steps"], found["clock_ends"], warps), 132)
    assert_in_order(bars)
    assert bars.span_ns == bars.block_end.max() >= bars.end.max()
    taken = bars.end - bars.begin
    assert taken.sum() == (bars.block_end - bars.block_begin).sum()
    told = sorted(map(tuple, bars.tile[bars.stage == 1].tolist()))
    kept = [
        (head, i, j)
        for head, i, keys in (walk(problem, tile, block) for block in range(launch.grid))
        for j in keys
        for _ in range(warps)
    ]
    assert told == sorted(kept)
    assert (bars.stage == STORE).sum() == launch.grid * warps
    unvisited = found["clock_steps"].reshape(-1, 4)[found["clock_steps"].reshape(-1, 4).any(axis=1)]
    assert len(unvisited) == len(told)


@pytest.mark.parametrize("shape", [*SHAPES, "square"])
def test_a_block_walks_over_the_tiles_of_which_the_mask_keeps_anything(shape: str) -> None:
    problem = (
        asked(shape) if shape in SHAPES else Problem(seqlen_q=256, seqlen_k=256, heads=3, dtype="float16")
    )
    tile = flash2.cut(problem, ON_HOPPER).tile
    (launch,) = flash2.program(problem, ON_HOPPER).launches
    walked = [walk(problem, tile, block) for block in range(launch.grid)]
    assert len({(head, i) for head, i, _keys in walked}) == launch.grid
    for _head, i, keys in walked:
        rows = slice(i * tile.q, min((i + 1) * tile.q, problem.seqlen_q))
        columns = (
            slice(j * tile.k, min((j + 1) * tile.k, problem.seqlen_k))
            for j in range(most_steps(problem, tile))
        )
        assert keys == [j for j, part in enumerate(columns) if problem.mask.keeps(rows, part)][::-1]


def test_blocks_that_ran_side_by_side_on_an_sm_have_places_of_their_own() -> None:
    sm, begin, end = (np.array(one, np.int64) for one in ([0, 0, 0, 1], [0, 5, 10, 0], [10, 20, 15, 9]))
    assert slots(sm, begin, end).tolist() == [0, 1, 0, 0]


@chosen("head_dim", (64, 128), {128})
@chosen("causal", (False, True), {True})
def test_a_build_with_clocks_spills_no_register(head_dim: int, causal: bool) -> None:
    program = flash2.program(workload(head_dim, "float16", causal=causal), ON_HOPPER)
    (kernel,) = resources(compile_apart(clocked(program, 128), ON_HOPPER)[1]).values()
    assert (kernel.spilled, kernel.stack) == (0, 0)


def test_stages_have_the_names_of_the_cpus() -> None:
    assert [*map(STAGES.__getitem__, FORWARD_STAGES)] == ["load", "QKᵀ", "softmax", "PV", "store"]
