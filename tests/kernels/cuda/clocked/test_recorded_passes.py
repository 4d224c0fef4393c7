"""Timelines of flash1 and flash3-fp8 on a GPU: the timed answer to the bit, and clocks that tell what ran."""

from itertools import product
from typing import Any

import msgspec
import numpy as np
import pytest

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.cuda.clocked.builds import clocked_build
from flashscope.kernels.cuda.clocked.groups import GroupCut, tiles
from flashscope.kernels.cuda.clocked.passes import passes
from flashscope.kernels.cuda.launch import current_target
from flashscope.kernels.cuda.program import TileSize
from flashscope.kernels.launching.launch import prepare
from flashscope.kernels.launching.passes import draw_given
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import QK, ClockedKernel, StageTimeline, TimelineRequest
from flashscope.profiles.store.blobs.timelines import decode_timeline
from flashscope.profiles.worker.timelines import record_timeline

pytestmark = pytest.mark.gpu
PROBLEMS = [
    Problem(heads=heads, seqlen_q=seqlen, seqlen_k=seqlen, head_dim=head_dim, causal=causal, dtype="float16")
    for (seqlen, heads), head_dim, causal in product(((1000, 1), (2048, 4)), (64, 128, 256), (False, True))
]
each_problem = pytest.mark.parametrize("problem", PROBLEMS, ids=str)


def recorded(kernel: ClockedKernel, problem: Problem) -> StageTimeline:
    request = TimelineRequest(problem=problem, backend="cuda", kernel=kernel, rounds=3)
    return record_timeline(request, lambda _done, _total: None)


@pytest.mark.parametrize("kernel", ["flash1", "flash3-fp8"])
@each_problem
def test_the_answer_is_that_of_the_timed_kernel_to_the_bit(
    kernel: ClockedKernel, problem: Problem, cp: Any
) -> None:
    from flashscope.kernels.cuda.timeline import bind_clocked  # noqa: PLC0415 - imports CuPy

    spec, given = find_kernel(kernel), draw_given(problem, "cuda")
    plain = prepare(spec, problem, given.inputs, "cuda")
    watched = bind_clocked(clocked_build(kernel, problem, current_target()), spec, problem, given)
    for run in (plain.run, watched.run, watched.run):  # twice: a run counts its steps anew
        run()
    cp.cuda.Device().synchronize()
    assert (cp.asarray(plain.output).view(cp.uint16) == watched.buffers["o"].view(cp.uint16)).all()
    assert (cp.asarray(plain.lse).view(cp.uint32) == watched.buffers["lse"].view(cp.uint32)).all()


@each_problem
def test_stages_make_up_the_life_of_every_warp_and_every_warp_tells_each_tile(problem: Problem) -> None:
    timeline = recorded("flash1", problem)
    lane, begin, end = (getattr(timeline, name).numpy() for name in ("lane", "begin", "end"))
    same = lane[1:] == lane[:-1]
    assert (end >= begin).all()
    assert (begin[1:] >= end[:-1])[same].all()
    block_begin, block_end = timeline.block_begin.numpy(), timeline.block_end.numpy()
    assert (end - begin).sum() == pytest.approx((block_end - block_begin).sum(), rel=0.01)
    passed = passes(problem, TileSize(timeline.block_q, timeline.block_k))
    told = timeline.tile.numpy()[timeline.stage.numpy() == QK]
    places, counts = np.unique(told, axis=0, return_counts=True)
    assert {tuple(one[1:]) for one in places.tolist()} == {*passed}
    assert len(places) == problem.heads * len(passed)
    assert len(np.unique(counts)) == 1  # the warps of a block
    assert decode_timeline(msgspec.msgpack.encode(timeline)) == timeline


@each_problem
def test_every_warpgroup_of_flash3_fp8_tells_its_tiles_in_order(problem: Problem) -> None:
    timeline = recorded("flash3-fp8", problem)
    lane, begin, end = (getattr(timeline, name).numpy() for name in ("lane", "begin", "end"))
    same = lane[1:] == lane[:-1]
    assert (end >= begin).all()
    assert (begin[1:] >= end[:-1])[same].all()
    tile = TileSize(timeline.block_q, timeline.block_k)
    kept = [
        (one, j) for one in tiles(problem, GroupCut(tile, fp8=True)) for keys in one.of_groups for j in keys
    ]
    told = timeline.tile.numpy()[timeline.stage.numpy() == QK]
    assert sorted(told.tolist()) == sorted([one.head, one.i, j] for one, j in kept)
    assert decode_timeline(msgspec.msgpack.encode(timeline)) == timeline
