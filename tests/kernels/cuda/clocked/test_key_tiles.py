"""flash3's backward pass with clocks between its stages, in the emulator: the same bits, clocks in order."""

from collections import Counter
from functools import cache
from typing import Any

import msgspec
import numpy as np

from flashscope.kernels.cuda import flash3_backward
from flashscope.kernels.cuda.clocked.builds import ClockedRounds, timeline_of
from flashscope.kernels.cuda.clocked.key_tiles import KeyTile, key_tiles
from flashscope.kernels.cuda.program import TileSize
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
    "full": {"seqlen_q": 150, "seqlen_k": 300},
    "causal": {"seqlen_q": 300, "seqlen_k": 300, "causal": True, "heads": 2},
    "a group": {"seqlen_q": 200, "seqlen_k": 150, "causal": True, "heads": 4, "kv_heads": 2},
    "more queries": {"seqlen_q": 260, "seqlen_k": 130, "causal": True},
    "window": {"seqlen_q": 300, "seqlen_k": 330, "window": (70, 30)},
    "keys that none sees": {"seqlen_q": 130, "seqlen_k": 600, "window": (20, 0)},
    "deterministic": {"seqlen_q": 300, "seqlen_k": 290, "heads": 2, "deterministic": True},
    "deterministic, causal": {"seqlen_q": 300, "seqlen_k": 300, "causal": True, "deterministic": True},
}
CASES = [(shape, head_dim) for shape in SHAPES for head_dim in (64, 128)]
each_case = chosen("shape,head_dim", CASES, [("full", 64)])
PER_STEP = QK, SOFTMAX, DOV, DS, DV, DK


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
def test_every_step_has_each_of_its_stages_once_in_both_warpgroups(shape: str, head_dim: int) -> None:
    problem = asked(shape, head_dim)
    run, told = watched(problem), Counter[tuple[int, ...]]()
    found = Counter(map(tuple, np.column_stack((run.bars.stage, run.bars.tile)).tolist()))
    half = 0  # steps in which one of two warpgroups sees no key
    for head, j, steps in expected(problem):
        told[STORE, head, NO_PLACE, j] += 2
        for n, (of_head, i) in enumerate(steps.tolist()):
            both = n or found[QK, of_head, i, j] == 2
            half += not both
            for stage in PER_STEP:
                told[stage, of_head, i, j] += 2 if both else 1
            for stage in (LOAD, DQ, ADD_DQ):
                told[stage, of_head, i, j] += 2
        if len(steps):
            told[DQ, int(steps[0, 0]), NO_PLACE, j] += 1  # what the first warpgroup drops
            told[LOAD, head, NO_PLACE, j] += 2
    assert found == told
    assert not half or (problem.causal and head_dim == 128)


@needs_compiler
@each_case
def test_a_tile_of_keys_lasts_from_its_first_clock_to_the_end_of_its_store(shape: str, head_dim: int) -> None:
    problem = asked(shape, head_dim)
    bars = watched(problem).bars
    assert len(bars.block) == 2 * len(expected(problem))
    columns = bars.block_lane, bars.block.tolist(), bars.block_begin, bars.block_end
    for lane, (head, j), begin, end in zip(*columns, strict=True):
        own = (bars.lane == lane) & (bars.begin >= begin) & (bars.end <= end)
        heads = range(head, head + problem.heads // problem.key_heads)
        assert np.isin(bars.tile[own, 0], heads).all()
        assert (bars.tile[own, 2] == j).all()
        assert bars.stage[own][-1] == STORE
        assert bars.end[own][-1] == end


@needs_compiler
@chosen("shape", ["full", "deterministic"], {"full"})
def test_what_is_recorded_is_written_and_read_again_and_bars_are_no_more_than_told(shape: str) -> None:
    problem = asked(shape, 64)
    build, found = watched(problem)
    request = TimelineRequest(problem=problem, backend="cuda", kernel="flash3", rounds=2)
    device = Device(backend="cuda", name="the emulator", memory_bytes=1 << 30, multiprocessors=SMS)
    timeline = timeline_of(request, build, device, ClockedRounds([70_000, 80_000], [60_000, 65_000], found))
    assert decode_timeline(msgspec.msgpack.encode(timeline)) == timeline
    assert len(timeline.stage.numpy()) <= build.most_bars


@chosen("shape,head_dim", CASES, [("window", 64)])
def test_a_tile_of_keys_meets_the_tiles_of_queries_of_which_the_mask_keeps_anything(
    shape: str, head_dim: int
) -> None:
    problem = asked(shape, head_dim)
    tile = TileSize(128 if head_dim == 64 else 80, 128)
    for _head, j, steps in key_tiles(problem, tile):
        keys = slice(j * tile.k, min((j + 1) * tile.k, problem.seqlen_k))
        kept = {
            i
            for i in range(-(-problem.seqlen_q // tile.q))
            if problem.mask.keeps(slice(i * tile.q, min((i + 1) * tile.q, problem.seqlen_q)), keys)
        }
        assert {*steps[:, 1].tolist()} >= kept
        assert {*steps[:, 1].tolist()} == kept or problem.window is not None or not kept
