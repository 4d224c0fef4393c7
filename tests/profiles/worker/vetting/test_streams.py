"""Runs while the GPU is held: an answer before or after its stream, and work that goes on, are told."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.launching.passes import draw_given, prepare_passes
from flashscope.kernels.workload.problem import Passes, Problem
from flashscope.profiles.worker.failures import CaughtError
from flashscope.profiles.worker.instruments.bench import HeldRun, Run
from flashscope.profiles.worker.instruments.bench_cpu import CpuBench
from flashscope.profiles.worker.vetting.around import Around
from flashscope.profiles.worker.vetting.guards import guarded
from flashscope.profiles.worker.vetting.process_state import ProcessState
from flashscope.profiles.worker.vetting.streams import AWAY_MS, HELD, WAITS, told_of_streams
from tests.matrix import chosen

PROBLEM = Problem(seqlen_q=12, seqlen_k=20, heads=2, head_dim=16)
BEFORE, LATER = np.zeros(4, np.uint8), np.ones(4, np.uint8)


class Holding(CpuBench):
    """A bench whose held runs go as a test says; the answer is there in the end."""

    def __init__(self, *, early: bool = False, at_end: bool = True, waited: bool = False) -> None:
        super().__init__()
        parts = (BEFORE, LATER)[early], (BEFORE, LATER)[at_end], LATER
        self.left_ms, self.host_ms = [0.0] * HELD, 100.0
        self._waited, self._parts = waited, parts

    def held(self, run: Run, answer: Callable[[], Iterable[Any]], ms: float) -> HeldRun:  # type: ignore[override]
        run()
        assert all(np.isfinite(array).all() for array in answer())
        early, at_end, late = ((part,) for part in self._parts)
        return HeldRun(self._waited, early, at_end, late, self.host_ms, ms, self.left_ms.pop())


def told(bench: CpuBench, problem: Problem = PROBLEM) -> str:
    given, guards = guarded(draw_given(problem, "cpu"))
    launch = prepare_passes(find_kernel("flash2"), problem, given, "cpu")
    launch.run()
    return told_of_streams(launch, problem, Around(ProcessState(), guards, given), bench, 1.0)


@pytest.mark.matrix  # it takes a second or more
@pytest.mark.parametrize("passes", ["forward", "both"])
def test_a_kernel_that_works_on_its_own_stream_alone_leaves_nothing_to_doubt(passes: Passes) -> None:
    assert told(Holding(), replace(PROBLEM, passes=passes)) == ""
    assert told(CpuBench()) == ""


def test_an_answer_before_its_stream_was_let_go_is_told() -> None:
    with pytest.raises(CaughtError, match="while the stream that it was called on was held"):
        told(Holding(early=True))


def test_an_answer_after_its_stream_was_through_is_told() -> None:
    with pytest.raises(CaughtError, match="not there when the stream that it was called on was through"):
        told(Holding(at_end=False))


def test_a_call_that_waits_for_the_gpu_is_doubtful_and_was_not_held() -> None:
    assert told(Holding(early=True, waited=True)) == WAITS


def test_a_host_that_is_slow_in_every_call_waits_for_nobody() -> None:
    bench = Holding(waited=True)
    bench.host_ms = AWAY_MS
    assert told(bench) == ""


@chosen(
    "left_ms,caught",
    [([0.2] * HELD, False), ([5, 0.1, 5], False), ([0.4] * HELD, True)],
    [([5, 0.1, 5], False)],
)
def test_work_that_goes_on_behind_every_run_is_told(left_ms: list[float], caught: bool) -> None:
    bench = Holding()
    bench.left_ms = left_ms
    if not caught:
        assert told(bench) == ""
        return
    with pytest.raises(CaughtError, match=r"worked on for 0\.4 ms when its run of 1 ms was over"):
        told(bench)
