"""flash1 with clocks between its stages, in the emulator: the timed answer, and clocks in order."""

from typing import Any

import numpy as np
import pytest

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda import flash1
from flashscope.kernels.cuda.clocked.builds import clocked_build
from flashscope.kernels.cuda.clocked.passes import STAGES, passes
from flashscope.kernels.cuda.compile import read_source
from flashscope.kernels.cuda.program import Program
from flashscope.kernels.cuda.sass.resources import resources
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import LOAD, QK
from tests.kernels.cuda.builds import ON_HOPPER
from tests.kernels.cuda.clocked.clock import counting_passes
from tests.kernels.cuda.clocked.test_builds import INLINE
from tests.kernels.cuda.compiled import check, workload
from tests.kernels.cuda.emulator.build import Edits, tokens
from tests.kernels.cuda.emulator.launch import guarded_memory, run
from tests.kernels.cuda.emulator.running import drawn, needs_compiler
from tests.kernels.cuda.nvrtc_apart import compile_apart
from tests.matrix import chosen

HOPPER, SMS = 900, 4
FOUR_REGISTERS, LEAST_MARKS = 16, 8
SHAPES: dict[str, dict[str, Any]] = {
    "full": {"seqlen_q": 300, "seqlen_k": 133, "head_dim": 64},
    "causal": {"seqlen_q": 300, "seqlen_k": 300, "head_dim": 128, "causal": True, "heads": 2},
    "more rows": {"seqlen_q": 600, "seqlen_k": 70, "head_dim": 64, "causal": True},
    "window": {"seqlen_q": 600, "seqlen_k": 400, "head_dim": 64, "window": (50, 20)},
}
each_shape = chosen("shape", SHAPES, ["full"])


def asked(shape: str) -> Problem:
    return Problem(**{"heads": 1, **SHAPES[shape]}, batch=1, dtype="float16", seed=2)


def ran(problem: Problem, program: Program, recorded: dict[str, Any], edits: Edits = ()) -> dict[str, Any]:
    """The buffers after a run."""
    with guarded_memory() as memory:
        buffers = {name: memory.copy(name, array) for name, array in drawn(problem).arrays.items()}
        buffers["o"] = memory.empty("o", problem.q_shape, storage_dtype(problem.dtype))
        buffers["lse"] = memory.empty("lse", problem.q_shape[:3], np.float32)
        for one in find_kernel("flash1").workspace(problem, "cuda"):
            buffers[one.name] = memory.empty(one.name, one.shape, storage_dtype(one.dtype))
        for name, (shape, dtype) in recorded.items():
            buffers[name] = memory.copy(name, np.zeros(shape, dtype))
        run(program, buffers, arch=HOPPER, edits=edits)
        return {name: array.copy() for name, array in buffers.items()}


@needs_compiler
@each_shape
def test_the_answer_is_that_of_the_timed_kernel_to_the_bit(shape: str) -> None:
    problem = asked(shape)
    build = clocked_build("flash1", problem, ON_HOPPER)
    watched = ran(problem, build.program, build.recorded, counting_passes())
    plain = ran(problem, flash1.program(problem, ON_HOPPER), {})
    for name in ("o", "lse"):
        assert watched[name].tobytes() == plain[name].tobytes()


@needs_compiler
@each_shape
def test_every_warp_tells_each_of_its_tiles_in_order_and_its_stages_make_up_its_life(shape: str) -> None:
    problem = asked(shape)
    build = clocked_build("flash1", problem, ON_HOPPER)
    bars = build.bars(ran(problem, build.program, build.recorded, counting_passes()), SMS)
    warps, heads = build.program.launches[0].threads // 32, problem.heads
    assert (bars.end >= bars.begin).all()
    same = bars.lane[1:] == bars.lane[:-1]
    assert (bars.begin[1:] == bars.end[:-1])[same].all()
    assert (bars.end - bars.begin).sum() == (bars.block_end - bars.block_begin).sum()
    assert bars.span_ns == bars.block_end.max()
    tiles = passes(problem, build.tile)
    told = bars.tile[bars.stage == QK]
    for lane in np.unique(bars.lane):
        own = told[bars.lane[bars.stage == QK] == lane]
        assert [(i, j) for _, i, j in own.tolist()] == tiles
    assert len(told) == heads * warps * len(tiles)
    assert len(bars.stage) == len(told) * len(STAGES) <= build.most_bars
    assert [*bars.stage[:6]] == [*STAGES, LOAD]


@pytest.mark.matrix
@needs_compiler
def test_a_block_of_the_timeline_is_a_tile_of_keys_that_a_head_has_passed() -> None:
    problem = asked("causal")
    build = clocked_build("flash1", problem, ON_HOPPER)
    bars = build.bars(ran(problem, build.program, build.recorded, counting_passes()), SMS)
    keys = sorted({j for _, j in passes(problem, build.tile)})
    found = {tuple(one) for one in bars.block.tolist()}
    assert found == {(head, j) for head in range(problem.heads) for j in keys}
    assert len(bars.block) == len(found) * build.program.launches[0].threads // 32


def test_tiles_of_which_the_mask_keeps_nothing_are_passed_over() -> None:
    problem = Problem(seqlen_q=1024, seqlen_k=1024, dtype="float16", window=(0, 0))
    tile = clocked_build("flash1", problem, ON_HOPPER).tile
    assert passes(problem, tile) == [(j * tile.k // tile.q, j) for j in range(1024 // tile.k)]


@chosen("head_dim", (64, 128, 256), ())
@chosen("causal", (False, True), {True})
def test_a_build_with_clocks_spills_no_more_than_the_timed_one_which_is_short_of_registers(
    head_dim: int, causal: bool
) -> None:
    problem = workload(head_dim, "float16", causal=causal)
    timed = compile_apart(flash1.program(problem, ON_HOPPER), ON_HOPPER)[1]
    spilled = resources(timed)["flash1"].spilled
    check(clocked_build("flash1", problem, ON_HOPPER).program, ON_HOPPER, spilled=spilled + FOUR_REGISTERS)


@needs_compiler
@chosen("head_dim", (64, 128, 256), {64})
@chosen("causal", (False, True), {True})
def test_the_timed_build_is_its_source_without_marks(head_dim: int, causal: bool) -> None:
    program = flash1.program(workload(head_dim, "float16", causal=causal), ON_HOPPER)
    source = read_source(program)
    bare, marks = INLINE.subn("", source)
    assert marks >= LEAST_MARKS
    assert "CLOCK" not in bare
    assert tokens(program, HOPPER, source) == tokens(program, HOPPER, bare)
