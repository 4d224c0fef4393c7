"""A timeline from asking to answering: by a child, after what runs, to be given up alone."""

import pytest

from flashscope.kernels.workload.problem import Backend, Dtype, Problem
from flashscope.kernels.workload.timeline import TimelineRequest
from flashscope.profiles.wire.events import (
    PlanFinished,
    PointStarted,
    RequestFailed,
    TimelineProgress,
    TimelineReady,
)
from tests.profiles.engine.conftest import Gate
from tests.profiles.engine.test_control import LONG
from tests.profiles.heard import Heard, quick_plan


def request_of(backend: Backend = "cpu", seqlen: int = 600, rounds: int = 3) -> TimelineRequest:
    dtype: Dtype = "float32" if backend == "cpu" else "float16"
    problem = Problem(seqlen_q=seqlen, seqlen_k=seqlen, batch=1, heads=2, head_dim=16, dtype=dtype)
    return TimelineRequest(problem=problem, backend=backend, kernel="flash2", rounds=rounds)


def test_a_timeline_is_answered_with_what_was_asked_after_its_rounds_were_told(heard: Heard) -> None:
    heard.engine.timeline(request_of())
    timeline = heard.until(TimelineReady).timeline
    assert timeline.request == request_of()
    assert [(one.done, one.total) for one in heard.all(TimelineProgress)] == [(0, 3), (1, 3), (2, 3)]
    spans = timeline.clocked_ns.numpy()
    assert len(spans) == len(timeline.plain_ns.numpy()) == 3
    assert timeline.span_ns == spans.min()
    took = timeline.end.numpy() - timeline.begin.numpy()
    assert took.sum() <= timeline.span_ns
    blocks = timeline.block.numpy().tolist()
    assert blocks == [[head, i] for head in range(2) for i in range(5)]
    assert (timeline.block_begin.numpy()[1:] >= timeline.block_end.numpy()[:-1]).all()


def test_a_timeline_that_no_build_can_give_says_which_can(heard: Heard) -> None:
    heard.engine.timeline(request_of("cuda"))
    failed = heard.until(RequestFailed)
    assert failed.request == "timeline"
    assert "CuPy" in failed.reason


def test_more_bars_than_a_timeline_holds_are_refused_before_anything_runs(heard: Heard) -> None:
    heard.engine.timeline(request_of(seqlen=200_000))
    assert "at most 1500000 are recorded" in heard.until(RequestFailed).reason
    assert heard.all(TimelineProgress) == []


def test_one_that_is_given_up_ends_after_its_round_and_the_worker_serves_on(heard: Heard) -> None:
    heard.engine.timeline(request_of(rounds=100))
    heard.until(TimelineProgress)
    heard.engine.give_up_timeline()
    assert heard.until(RequestFailed).reason == "It was cancelled."
    heard.engine.timeline(request_of(rounds=1))
    heard.until(TimelineReady)


@pytest.mark.matrix
def test_one_that_waits_for_a_sweep_is_given_up_while_that_goes_on(heard: Heard, gate: Gate) -> None:
    heard.engine.run(quick_plan("gated", protocol=LONG))
    gate.await_run(heard, 1)
    heard.engine.timeline(request_of())
    heard.engine.give_up_timeline()
    heard.barrier()
    assert heard.all(PlanFinished) == []
    heard.engine.cancel()
    gate.let(100)
    heard.until(PlanFinished)
    assert heard.until(RequestFailed).reason == "It was cancelled before it began."
    assert len(heard.all(PointStarted)) == 1
