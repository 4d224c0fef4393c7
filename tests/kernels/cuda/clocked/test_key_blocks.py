"""flash2's backward pass with clocks between its stages, in the emulator: the same bits, clocks in order."""

from collections import Counter
from functools import cache
from typing import Any

import msgspec
import numpy as np

from flashscope.kernels.cuda import flash2_backward
from flashscope.kernels.cuda.clocked.builds import ClockedRounds, timeline_of
from flashscope.kernels.cuda.clocked.key_blocks import key_blocks
from flashscope.kernels.cuda.clocked.key_tiles import KeyTile
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import (
    ADD_DQ,
    BACKWARD_STAGES,
    DK,
    DQ,
    DV,
    NO_PLACE,
    STORE,
    TimelineRequest,
)
from flashscope.profiles.store.blobs.timelines import decode_timeline
from tests.kernels.cuda.clocked.backward_runs import (
    HOPPER,
    SMS,
    Run,
    assert_same_gradients,
    held,
    watched_run,
)
from tests.kernels.cuda.clocked.clock import assert_in_order, counting_lanes
from tests.kernels.cuda.emulator.running import needs_compiler, target
from tests.matrix import chosen

SHAPES: dict[str, dict[str, Any]] = {
    "full": {"seqlen_q": 150, "seqlen_k": 133},
    "causal": {"seqlen_q": 150, "seqlen_k": 150, "causal": True, "heads": 2},
    "a group": {"seqlen_q": 100, "seqlen_k": 150, "causal": True, "heads": 4, "kv_heads": 2},
    "window": {"seqlen_q": 200, "seqlen_k": 230, "window": (70, 30)},
    "deterministic": {"seqlen_q": 150, "seqlen_k": 133, "heads": 2, "deterministic": True},
}
CASES = [(shape, head_dim) for shape in SHAPES for head_dim in (64, 128, 256)]
each_case = chosen("shape,head_dim", CASES, [("full", 64)])


def asked(shape: str, head_dim: int) -> Problem:
    return Problem(
        **{"heads": 1, **SHAPES[shape]}, head_dim=head_dim, dtype="float16", seed=2, passes="backward"
    )


@cache
def watched(problem: Problem) -> Run:
    return watched_run("flash2", problem, counting_lanes())


def expected(problem: Problem) -> list[KeyTile]:
    return [*key_blocks(problem, watched(problem).build.tile, flash2_backward.section(problem))]


@needs_compiler
@each_case
def test_the_gradients_are_those_of_the_timed_kernel_to_the_bit(shape: str, head_dim: int) -> None:
    problem = asked(shape, head_dim)
    plain = held("flash2", problem, flash2_backward.program(problem, target(HOPPER)))
    assert_same_gradients(watched(problem).found, plain, problem)


@needs_compiler
@each_case
def test_clocks_are_in_order_and_no_bars_of_a_lane_overlap(shape: str, head_dim: int) -> None:
    bars = watched(asked(shape, head_dim)).bars
    assert_in_order(bars)
    assert bars.span_ns == bars.block_end.max() >= bars.end.max()


@needs_compiler
@each_case
def test_every_step_has_each_of_its_stages_in_all_warps(shape: str, head_dim: int) -> None:
    problem = asked(shape, head_dim)
    build, bars = watched(problem).build, watched(problem).bars
    defines = build.program.defines
    warps = defines["KEY_WARPS"] * defines["COLUMN_WARPS"]
    halves = 2 if head_dim == 64 else 1
    told = Counter[tuple[int, ...]]()
    for head, j, steps in expected(problem):
        told[STORE, head, NO_PLACE, j] += warps
        for of_head, i in steps.tolist():
            for stage in set(BACKWARD_STAGES) - {STORE}:
                told[stage, of_head, i, j] += warps * (halves if stage not in {0, DQ, ADD_DQ} else 1)
            for stage in (DV, DK):
                told[stage, of_head, i, j] += warps * (defines["COLUMN_WARPS"] > 1)
    if problem.deterministic:
        told = Counter({key: count for key, count in told.items() if key[0] not in {DQ, ADD_DQ}})
    found = Counter(map(tuple, np.column_stack((bars.stage, bars.tile)).tolist()))
    assert found == told
    assert sum(found.values()) == build.most_bars


@needs_compiler
def test_what_is_recorded_is_written_and_read_again() -> None:
    problem = asked("full", 64)
    build, found = watched(problem)
    request = TimelineRequest(problem=problem, backend="cuda", kernel="flash2", rounds=2)
    device = Device(backend="cuda", name="the emulator", memory_bytes=1 << 30, multiprocessors=SMS)
    timeline = timeline_of(request, build, device, ClockedRounds([70_000, 80_000], [60_000, 65_000], found))
    assert decode_timeline(msgspec.msgpack.encode(timeline)) == timeline
