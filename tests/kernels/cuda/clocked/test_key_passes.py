"""flash1's backward pass with clocks between its stages, in the emulator: the same bits, clocks in order."""

from collections import Counter
from functools import cache
from typing import Any

import msgspec
import numpy as np

from flashscope.kernels.cuda import flash1_backward
from flashscope.kernels.cuda.clocked.builds import ClockedRounds, timeline_of
from flashscope.kernels.cuda.clocked.key_passes import walks
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import (
    BACKWARD_STAGES,
    DS,
    LOAD,
    NO_PLACE,
    STORE,
    TimelineRequest,
)
from flashscope.profiles.store.blobs.timelines import decode_timeline
from tests.kernels.cuda.clocked.backward_runs import HOPPER, SMS, Run, held, watched_run
from tests.kernels.cuda.clocked.clock import assert_in_order, counting_passes
from tests.kernels.cuda.emulator.running import needs_compiler, target
from tests.matrix import chosen

SHAPES: dict[str, dict[str, Any]] = {
    "full": {"seqlen_q": 150, "seqlen_k": 133},
    "causal": {"seqlen_q": 150, "seqlen_k": 150, "causal": True, "heads": 2},
    "a group": {"seqlen_q": 100, "seqlen_k": 150, "causal": True, "heads": 4, "kv_heads": 2},
    "window": {"seqlen_q": 200, "seqlen_k": 230, "window": (70, 30)},
    "keys that nobody sees": {"seqlen_q": 40, "seqlen_k": 300, "window": (20, 10)},
}
CASES = [(shape, head_dim) for shape in SHAPES for head_dim in (64, 128, 256)]
each_case = chosen("shape,head_dim", CASES, [("a group", 64)])


def asked(shape: str, head_dim: int) -> Problem:
    return Problem(
        **{"heads": 1, **SHAPES[shape]}, head_dim=head_dim, dtype="float16", seed=2, passes="backward"
    )


@cache
def watched(problem: Problem) -> Run:
    return watched_run("flash1", problem, counting_passes())


@needs_compiler
@each_case
def test_the_gradients_are_those_of_the_timed_kernel_to_the_bit(shape: str, head_dim: int) -> None:
    problem = asked(shape, head_dim)
    plain = held("flash1", problem, flash1_backward.program(problem, target(HOPPER)))
    for name in ("dq", "dk", "dv"):
        assert watched(problem).found[name].tobytes() == plain[name].tobytes(), name


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
    warps = build.program.launches[0].threads // 32 * (2 if head_dim > 128 else 1)
    told = Counter[tuple[int, ...]]()
    for head, j, steps in walks(problem, build.tile):
        told[STORE, head, NO_PLACE, j] += warps
        told[STORE, head, NO_PLACE, NO_PLACE] = warps
        for place, (of_head, i) in enumerate(steps.tolist()):
            for stage in set(BACKWARD_STAGES) - {STORE}:
                told[stage, of_head, i, j] += warps * (2 if stage == DS or (stage == LOAD and place) else 1)
    assert Counter(map(tuple, np.column_stack((bars.stage, bars.tile)).tolist())) == told
    assert sum(told.values()) <= build.most_bars


@needs_compiler
@each_case
def test_a_block_of_the_timeline_is_a_tile_of_keys_that_a_group_of_heads_has_passed(
    shape: str, head_dim: int
) -> None:
    problem = asked(shape, head_dim)
    build, bars = watched(problem).build, watched(problem).bars
    warps = build.program.launches[0].threads // 32 * (2 if head_dim > 128 else 1)
    tiles = [(one.head, one.j) for one in walks(problem, build.tile)]
    stored = [(head, NO_PLACE) for head in {head for head, _ in tiles}]
    assert Counter(map(tuple, bars.block.tolist())) == dict.fromkeys([*tiles, *stored], warps)


@needs_compiler
def test_what_is_recorded_is_written_and_read_again() -> None:
    problem = asked("a group", 64)
    build, found = watched(problem)
    request = TimelineRequest(problem=problem, backend="cuda", kernel="flash1", rounds=2)
    device = Device(backend="cuda", name="the emulator", memory_bytes=1 << 30, multiprocessors=SMS)
    timeline = timeline_of(request, build, device, ClockedRounds([70_000, 80_000], [60_000, 65_000], found))
    assert decode_timeline(msgspec.msgpack.encode(timeline)) == timeline
