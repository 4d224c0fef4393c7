"""A launch in slow motion: tiles are told while it runs, in the kernel's order, and it ends when asked."""

import os
import signal
import time

import psutil
import pytest

from flashscope.kernels.workload.live import LiveRequest, kept_tiles
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.wire.events import PlanFinished, RequestFailed
from flashscope.profiles.wire.live_events import LiveEnded, LiveStarted, LiveTiles
from tests.matrix import chosen
from tests.profiles.heard import Heard, quick_plan, running_children

PROBLEM = Problem(seqlen_q=600, seqlen_k=600, batch=1, heads=2, head_dim=16, dtype="float32", causal=True)


def request_of(kernel: str = "flash2", seconds: float = 5.0) -> LiveRequest:
    return LiveRequest(problem=PROBLEM, kernel=kernel, seconds=seconds)  # type: ignore[arg-type]  # one of the two


def test_what_cannot_be_launched_in_slow_motion_says_why(heard: Heard) -> None:
    heard.engine.live(request_of(seconds=0.1))
    failed = heard.until(RequestFailed)
    assert (failed.request, failed.reason.startswith("The kernel failed")) == ("live", False)
    assert "5 to 60 s" in failed.reason


@pytest.mark.matrix
def test_tiles_are_told_while_the_kernel_runs_in_its_own_order_and_o_is_the_kernels(heard: Heard) -> None:
    heard.engine.live(request_of())
    begun = heard.until(LiveStarted)
    heard.until(LiveTiles)
    seen_ns = time.monotonic_ns()
    ended = heard.until(LiveEnded)
    frames = heard.all(LiveTiles)
    order = [tile for frame in frames for tile in frame.tile.numpy().tolist()]
    of_a_head = [*kept_tiles(PROBLEM, begun.block_q, begun.block_k)]
    assert order == [[head, i, j] for head in range(2) for i, j in of_a_head]
    assert begun.tiles == len(order)
    assert seen_ns < frames[-1].t_ns, "the window has seen a tile before the last one was done"
    done = [ns for frame in frames for ns in frame.finished_ns.numpy().tolist()]
    assert done == sorted(done)
    assert ended.same
    assert ended.took_ns >= 5e9 * (begun.tiles - 1) / begun.tiles


def test_one_that_is_given_up_ends_at_once_and_the_worker_serves_on(heard: Heard) -> None:
    heard.engine.live(request_of(seconds=60.0))
    heard.until(LiveTiles)
    heard.engine.give_up_live()
    assert heard.until(RequestFailed).reason == "It was cancelled."
    workers = [child.pid for child in running_children()]
    heard.engine.live(request_of(seconds=60.0))
    heard.until(LiveTiles)
    assert workers == [child.pid for child in running_children()]
    heard.engine.give_up_live()
    heard.until(RequestFailed)


def test_a_sweep_does_not_wait_for_it(heard: Heard) -> None:
    heard.engine.live(request_of(seconds=60.0))
    heard.until(LiveTiles)
    heard.engine.run(quick_plan("flash2", seqlens=(64,)))
    assert heard.until(RequestFailed).request == "live"
    assert heard.until(PlanFinished).outcome == "finished"


@chosen("what", [signal.SIGKILL, signal.SIGSTOP], {signal.SIGKILL})
def test_a_worker_that_dies_or_hangs_leaves_a_reason_and_no_process(
    heard: Heard, what: signal.Signals
) -> None:
    heard.engine.live(request_of(seconds=60.0))
    heard.until(LiveTiles)
    (worker,) = running_children()
    os.kill(worker.pid, what)
    if what == signal.SIGSTOP:
        heard.engine.give_up_live()
    failed = heard.until(RequestFailed)
    assert failed.request == "live"
    assert ("did not react" in failed.reason) is (what == signal.SIGSTOP)
    assert not psutil.pid_exists(worker.pid)
