"""A timeline of flash2 on a GPU: clocks in order, every SM and every tile, and the overhead told."""

import numpy as np
import pytest

from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import QK, StageTimeline, TimelineRequest
from flashscope.profiles.results.model.timeline_facts import TimelineFacts
from flashscope.profiles.wire.events import TimelineReady, encode
from flashscope.profiles.worker.timelines import record_timeline

pytestmark = pytest.mark.gpu
NEAR_NS = 2_000


def recorded(problem: Problem) -> StageTimeline:
    request = TimelineRequest(problem=problem, backend="cuda", kernel="flash2", rounds=5)
    return record_timeline(request, lambda _done, _total: None)


@pytest.mark.parametrize("head_dim", [64, 128])
@pytest.mark.parametrize("causal", [False, True])
def test_stages_make_up_the_life_of_every_warp_and_tiles_are_told_once(head_dim: int, causal: bool) -> None:
    problem = Problem(
        batch=2, heads=8, seqlen_q=2048, seqlen_k=2048, head_dim=head_dim, causal=causal, dtype="float16"
    )
    timeline = recorded(problem)
    lane, begin, end = (getattr(timeline, name).numpy() for name in ("lane", "begin", "end"))
    same = lane[1:] == lane[:-1]
    assert (end >= begin).all()
    assert (begin[1:] >= end[:-1])[same].all()
    block_begin, block_end = timeline.block_begin.numpy(), timeline.block_end.numpy()
    assert (end - begin).sum() == pytest.approx((block_end - block_begin).sum(), rel=0.01)
    tiles = timeline.tile.numpy()[timeline.stage.numpy() == QK]
    per_block = len(timeline.block.numpy()) / len(np.unique(timeline.block.numpy(), axis=0))
    _, counts = np.unique(tiles, axis=0, return_counts=True)
    assert set(counts.tolist()) == {int(per_block)}  # the warps of a block


def test_the_launch_lasts_as_long_as_its_blocks_do_within_the_overhead() -> None:
    problem = Problem(batch=2, heads=16, seqlen_q=4096, seqlen_k=4096, head_dim=128, dtype="float16")
    timeline = recorded(problem)
    facts = TimelineFacts.of(timeline)
    quickest = timeline.clocked_ns.numpy().min()
    assert timeline.span_ns <= quickest + NEAR_NS
    assert facts.idle_rows == 0
    assert len(encode(TimelineReady(timeline=timeline))) < 128 << 20
