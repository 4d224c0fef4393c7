"""flash3's backward pass for wide heads with clocks, in the emulator: the same bits, clocks in order."""

from collections import Counter
from functools import cache
from typing import Any

import msgspec
import numpy as np

from flashscope.kernels.cuda import flash3_backward
from flashscope.kernels.cuda.clocked.builds import ClockedRounds, timeline_of
from flashscope.kernels.cuda.clocked.key_tiles import KeyTile, key_tiles
from flashscope.kernels.cuda.clocked.wide_tiles import PRODUCERS
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import (
    ADD_DQ,
    DK,
    DOV,
    DQ,
    DS,
    DV,
    LOAD,
    NO_PLACE,
    QK,
    SOFTMAX,
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
from tests.kernels.cuda.clocked.clock import assert_in_order, counting_groups
from tests.kernels.cuda.emulator.running import needs_compiler, target
from tests.matrix import chosen

SHAPES: dict[str, dict[str, Any]] = {
    "full": {"seqlen_q": 150, "seqlen_k": 200},
    "causal": {"seqlen_q": 300, "seqlen_k": 300, "causal": True, "heads": 2},
    "a group": {"seqlen_q": 100, "seqlen_k": 150, "causal": True, "heads": 4, "kv_heads": 2},
    "keys that none sees": {"seqlen_q": 130, "seqlen_k": 400, "window": (20, 0)},
    "deterministic": {"seqlen_q": 150, "seqlen_k": 290, "heads": 2, "deterministic": True},
    "deterministic, causal": {"seqlen_q": 300, "seqlen_k": 300, "causal": True, "deterministic": True},
}
CASES = [(shape, head_dim) for shape in SHAPES for head_dim in (192, 256)]
each_case = chosen("shape,head_dim", CASES, [("full", 256)])
BLOCKS = 2  # of a pair


def asked(shape: str, head_dim: int) -> Problem:
    return Problem(
        **{"heads": 1, **SHAPES[shape]}, head_dim=head_dim, dtype="float16", seed=2, passes="backward"
    )


@cache
def watched(problem: Problem) -> Run:
    return watched_run("flash3", problem, counting_groups())


def expected(problem: Problem) -> list[KeyTile]:
    return [*key_tiles(problem, watched(problem).build.tile)]


@needs_compiler
@each_case
def test_the_gradients_are_those_of_the_timed_kernel_to_the_bit(shape: str, head_dim: int) -> None:
    problem = asked(shape, head_dim)
    plain = held("flash3", problem, flash3_backward.program(problem, target(HOPPER)))
    assert_same_gradients(watched(problem).found, plain, problem)


@needs_compiler
@each_case
def test_clocks_are_in_order_and_no_bars_of_a_lane_overlap(shape: str, head_dim: int) -> None:
    bars = watched(asked(shape, head_dim)).bars
    assert_in_order(bars)
    assert bars.span_ns >= bars.end.max()
    assert bars.begin.min() >= 0


@needs_compiler
@each_case
def test_every_step_has_its_stages_in_the_warpgroups_that_compute_them(shape: str, head_dim: int) -> None:
    problem = asked(shape, head_dim)
    run, told = watched(problem), Counter[tuple[int, ...]]()
    for head, j, steps in expected(problem):
        told[STORE, head, NO_PLACE, j] += 2 * BLOCKS
        for of_head, i in steps.tolist():
            for stage in (QK, SOFTMAX, DOV, DS, DV, DK):
                told[stage, of_head, i, j] += BLOCKS
            for stage in (LOAD, DQ, ADD_DQ):
                told[stage, of_head, i, j] += 2 * BLOCKS
        if len(steps):
            told[DQ, int(steps[0, 0]), NO_PLACE, j] += BLOCKS  # what the first warpgroup drops
            told[LOAD, head, NO_PLACE, j] += 2 * BLOCKS
    assert Counter(map(tuple, np.column_stack((run.bars.stage, run.bars.tile)).tolist())) == told
    assert sum(told.values()) <= run.build.most_bars


@needs_compiler
@each_case
def test_the_threads_that_load_have_lanes_of_their_own_with_nothing_but_loads(
    shape: str, head_dim: int
) -> None:
    bars = watched(asked(shape, head_dim)).bars
    loading = [n for n, name in enumerate(bars.lanes) if name.endswith(PRODUCERS)]
    assert len(loading) == len(bars.lanes) // 2
    assert np.array_equal(bars.stage == LOAD, np.isin(bars.lane % len(bars.lanes), loading))


@needs_compiler
@each_case
def test_a_tile_of_keys_lasts_from_its_block_to_the_end_of_its_store(shape: str, head_dim: int) -> None:
    problem = asked(shape, head_dim)
    bars = watched(problem).bars
    found = Counter(map(tuple, bars.block.tolist()))
    assert found == {(one.head, one.j): 2 * BLOCKS for one in expected(problem)}
    for lane, begin, end in zip(bars.block_lane, bars.block_begin, bars.block_end, strict=True):
        own = (bars.lane == lane) & (bars.begin >= begin) & (bars.end <= end)
        assert bars.stage[own][-1] == STORE
        assert bars.end[own][-1] == end


@needs_compiler
def test_what_is_recorded_is_written_and_read_again() -> None:
    problem = asked("full", 256)
    build, found = watched(problem)
    request = TimelineRequest(problem=problem, backend="cuda", kernel="flash3", rounds=2)
    device = Device(backend="cuda", name="the emulator", memory_bytes=1 << 30, multiprocessors=SMS)
    timeline = timeline_of(request, build, device, ClockedRounds([70_000, 80_000], [60_000, 65_000], found))
    assert decode_timeline(msgspec.msgpack.encode(timeline)) == timeline
