"""flash3-fp8 with clocks between its stages, in the emulator: the timed answer, and clocks in order."""

from typing import Any

import numpy as np
import pytest

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda import flash3_fp8
from flashscope.kernels.cuda.clocked.builds import clocked_build
from flashscope.kernels.cuda.clocked.groups import GroupCut, tiles
from flashscope.kernels.cuda.compile import read_source
from flashscope.kernels.cuda.program import Program
from flashscope.kernels.oracle.verify import storage_dtype
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import LOAD, NO_PLACE, PV, QK, SOFTMAX, STORE
from tests.kernels.cuda.builds import ON_HOPPER
from tests.kernels.cuda.clocked.clock import assert_in_order, counting_groups
from tests.kernels.cuda.clocked.test_builds import INLINE
from tests.kernels.cuda.compiled import check, workload
from tests.kernels.cuda.emulator.build import Edits, tokens
from tests.kernels.cuda.emulator.launch import guarded_memory, run
from tests.kernels.cuda.emulator.running import drawn, needs_compiler, target, workspace
from tests.matrix import chosen

HOPPER, SMS, LEAST_MARKS = 900, 4, 18
SPILLED = {64: 0, 128: 16, 256: 0}  # three warpgroups leave a thread too few registers at head dim 128
SHAPES: dict[str, dict[str, Any]] = {
    "full": {"seqlen_q": 300, "seqlen_k": 333, "heads": 3},
    "causal": {"seqlen_q": 400, "seqlen_k": 400, "causal": True, "heads": 2},
    "empty tiles": {"seqlen_q": 500, "seqlen_k": 140, "causal": True, "heads": 2, "kv_heads": 1},
}
CASES = [(shape, head_dim) for shape in SHAPES for head_dim in (64, 128, 256)]
each_case = chosen("shape,head_dim", CASES, [("empty tiles", 64)])


def asked(shape: str, head_dim: int) -> Problem:
    return Problem(**SHAPES[shape], head_dim=head_dim, dtype="float16", seed=2)


def ran(problem: Problem, program: Program, recorded: dict[str, Any], edits: Edits = ()) -> dict[str, Any]:
    """The buffers after a run."""
    with guarded_memory() as memory:
        buffers = {name: memory.copy(name, array) for name, array in drawn(problem).arrays.items()}
        buffers["o"] = memory.empty("o", problem.q_shape, storage_dtype(problem.dtype))
        buffers["lse"] = memory.empty("lse", problem.q_shape[:3], np.float32)
        buffers |= workspace(memory, find_kernel("flash3-fp8").workspace(problem, "cuda"), program)
        for name, (shape, dtype) in recorded.items():
            buffers[name] = memory.copy(name, np.zeros(shape, dtype))
        run(program, buffers, arch=HOPPER, edits=edits)
        return {name: array.copy() for name, array in buffers.items()}


@needs_compiler
@each_case
def test_the_answer_is_that_of_the_timed_kernel_to_the_bit(shape: str, head_dim: int) -> None:
    problem = asked(shape, head_dim)
    build = clocked_build("flash3-fp8", problem, target(HOPPER))
    watched = ran(problem, build.program, build.recorded, counting_groups())
    plain = ran(problem, flash3_fp8.program(problem, target(HOPPER)), {})
    for name in ("o", "lse"):
        assert watched[name].tobytes() == plain[name].tobytes()


@needs_compiler
@each_case
def test_every_warpgroup_tells_its_tiles_in_the_order_of_its_keys(shape: str, head_dim: int) -> None:
    problem = asked(shape, head_dim)
    build = clocked_build("flash3-fp8", problem, target(HOPPER))
    bars = build.bars(ran(problem, build.program, build.recorded, counting_groups()), SMS)
    assert_in_order(bars)
    assert bars.span_ns >= bars.end.max()
    every = [*tiles(problem, GroupCut(build.tile, fp8=True))]
    groups = len(every[0].of_groups)
    for stage in (QK, SOFTMAX, PV):
        told = sorted(bars.tile[bars.stage == stage].tolist())
        assert told == sorted([one.head, one.i, j] for one in every for keys in one.of_groups for j in keys)
    assert (bars.stage == STORE).sum() == len(every) * groups
    loads = bars.tile[bars.stage == LOAD].tolist()
    asked_for = [[one.head, one.i, j] for one in every for j in (NO_PLACE, *one.keys, *one.keys)]
    assert sorted(loads) == sorted(asked_for)
    assert len(bars.stage) <= build.most_bars


@chosen("head_dim", (64, 128, 256), ())
@chosen("causal", (False, True), {True})
def test_products_stay_asynchronous_and_no_more_registers_are_spilled_than_told(
    head_dim: int, causal: bool
) -> None:
    problem = workload(head_dim, "float16", causal=causal)
    check(clocked_build("flash3-fp8", problem, ON_HOPPER).program, ON_HOPPER, spilled=SPILLED[head_dim])


@needs_compiler
@chosen("head_dim", (64, 128, 256), {64})
@chosen("causal", (False, True), {True})
def test_the_timed_build_is_its_source_without_marks(head_dim: int, causal: bool) -> None:
    program = flash3_fp8.program(workload(head_dim, "float16", causal=causal), ON_HOPPER)
    source = read_source(program)
    bare, marks = INLINE.subn("", source)
    assert marks >= LEAST_MARKS
    assert "CLOCK" not in bare
    assert tokens(program, HOPPER, source) == tokens(program, HOPPER, bare)


@pytest.mark.parametrize("head_dim", [64, 256])
def test_the_tiles_and_the_grid_are_those_of_the_timed_build(head_dim: int) -> None:
    problem = workload(head_dim, "float16")
    build, program = clocked_build("flash3-fp8", problem, ON_HOPPER), flash3_fp8.program(problem, ON_HOPPER)
    assert {**program.defines, "CLOCKS": 1} == build.program.defines
    assert [one.grid for one in program.launches] == [one.grid for one in build.program.launches]
