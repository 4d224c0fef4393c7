"""Slow motion on a GPU through the engine: read while it runs, given up at once, and nothing left."""

import os
import signal
import time
from typing import Any

import numpy as np
import psutil
import pytest

from flashscope.kernels.workload.live import LiveKernel, LiveRequest
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.wire.events import RequestFailed
from flashscope.profiles.wire.live_events import LiveEnded, LiveStarted, LiveTiles
from tests.profiles.heard import Heard, running_children

pytestmark = pytest.mark.gpu
LEFT_BYTES = 4 << 20  # that a driver may keep to itself
KERNELS: tuple[LiveKernel, ...] = ("flash1", "flash2", "flash3")


def request_of(kernel: LiveKernel = "flash3", seconds: float = 5.0, **changed: Any) -> LiveRequest:
    shape = {"seqlen_q": 2048, "seqlen_k": 2048, "batch": 1, "heads": 16, "head_dim": 128, **changed}
    problem = Problem(**{"dtype": "float16", "causal": True, **shape})
    return LiveRequest(problem=problem, backend="cuda", kernel=kernel, seconds=seconds)


def free_bytes() -> int:
    """Of the GPU, asked through NVML: this process has no context there."""
    import pynvml  # noqa: PLC0415 - where there is a GPU

    pynvml.nvmlInit()
    free: int = pynvml.nvmlDeviceGetMemoryInfo(pynvml.nvmlDeviceGetHandleByIndex(0)).free
    pynvml.nvmlShutdown()
    return free


@pytest.fixture(scope="module", autouse=True)
def idle_bytes() -> int:
    """What is free before any worker of these tests has begun."""
    return free_bytes()


@pytest.mark.parametrize("kernel", KERNELS)
def test_tiles_are_told_while_the_kernel_runs(heard: Heard, kernel: LiveKernel) -> None:
    heard.engine.live(request_of(kernel))
    begun = heard.until(LiveStarted)
    seen_ns = []
    frames = []
    while not isinstance(event := heard.next(), LiveEnded):
        if isinstance(event, LiveTiles):
            seen_ns.append(time.monotonic_ns())
            frames.append(event)
    assert event.same
    assert event.took_ns == pytest.approx(5e9, rel=0.1)
    assert sum(len(one.tile.numpy()) for one in frames) == begun.tiles
    last_ns = frames[-1].t_ns
    assert sum(seen < last_ns for seen in seen_ns) > 0.9 * len(frames) - 2, (
        "seen before the last tile was done"
    )
    said = np.array([one.t_ns for one in frames])
    done = np.array([one.finished_ns.numpy().max() for one in frames])
    late = (said - said[0]) - (done - done[0])
    assert np.abs(late).max() < 200e6, "both clocks tell the same story"
    sm = np.unique(np.concatenate([one.sm.numpy() for one in frames if one.sm is not None]))
    assert len(sm) == min(begun.multiprocessors, 16 if kernel == "flash1" else begun.multiprocessors)


@pytest.mark.parametrize("kernel", KERNELS)
def test_one_that_is_given_up_ends_within_a_second_and_the_worker_serves_on(
    heard: Heard, kernel: LiveKernel
) -> None:
    heard.engine.live(request_of(kernel, 60.0))
    heard.until(LiveTiles)
    workers = [child.pid for child in running_children()]
    asked_ns = time.monotonic_ns()
    heard.engine.give_up_live()
    assert heard.until(RequestFailed).reason == "It was cancelled."
    took = time.monotonic_ns() - asked_ns
    assert took < 1e9
    print(f"{kernel}: cancelled in {took / 1e6:.0f} ms")  # noqa: T201 - told
    heard.engine.live(request_of(kernel))
    assert heard.until(LiveEnded).same
    assert [child.pid for child in running_children()] == workers


@pytest.mark.parametrize("what", [signal.SIGKILL, signal.SIGSTOP])
def test_a_worker_that_dies_or_hangs_leaves_a_reason_no_process_and_no_memory(
    heard: Heard, idle_bytes: int, what: signal.Signals
) -> None:
    heard.engine.live(request_of("flash3", 60.0))
    heard.until(LiveTiles)
    (worker,) = running_children()
    assert free_bytes() < idle_bytes - LEFT_BYTES
    os.kill(worker.pid, what)
    if what == signal.SIGSTOP:
        heard.engine.give_up_live()
    failed = heard.until(RequestFailed)
    assert ("did not react" in failed.reason) is (what == signal.SIGSTOP)
    assert not psutil.pid_exists(worker.pid)
    assert free_bytes() >= idle_bytes - LEFT_BYTES


def test_an_engine_that_is_closed_leaves_no_kernel_running(heard: Heard, idle_bytes: int) -> None:
    heard.engine.live(request_of("flash2", 60.0))
    heard.until(LiveTiles)
    heard.engine.close()
    assert running_children() == []
    assert free_bytes() >= idle_bytes - LEFT_BYTES


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"dtype": "float32"}, "choose float16 or bfloat16"),
        ({"seqlen_q": 16384, "seqlen_k": 16384}, "at most 32768"),
    ],
)
def test_what_cannot_be_launched_in_slow_motion_says_why(
    heard: Heard, changed: dict[str, Any], words: str
) -> None:
    heard.engine.live(request_of("flash2", **changed))
    failed = heard.until(RequestFailed)
    assert (failed.request, words in failed.reason) == ("live", True), failed.reason
