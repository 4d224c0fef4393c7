"""Ranks in host memory: they take turns on one core, and their time is counted step by step."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import psutil

from flashscope.kernels.context_parallel.cutting import cut
from flashscope.kernels.context_parallel.host import HostChannel, HostPlace
from flashscope.kernels.context_parallel.running import Ranks
from flashscope.kernels.context_parallel.schemes import Partition
from flashscope.kernels.launching.launch import make_grad_output, make_inputs
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.wire.ranks import StepTime
from flashscope.profiles.worker.ranks.spans import TimedRun, lockstep_ms


class HostBench:
    """The clock of the machine; see `RanksBench`."""

    timer = "perf_counter, ranks in turns: in each step the slowest rank's time"

    def __init__(self, ranks: int) -> None:
        self._places = [HostPlace(_now_ms) for _ in range(ranks)]
        self.device, self.devices = self._places[0].device, (0,) * ranks

    def ranks(self, partition: Partition) -> Ranks:
        """See `RanksBench`."""
        problem = partition.problem
        inputs, grad_output = make_inputs(problem, "cpu"), _grad_output(problem)
        return Ranks(partition, self._places, cut(partition, inputs, grad_output), HostChannel())

    def here(self) -> AbstractContextManager[Any]:
        """See `RanksBench`."""
        return nullcontext()

    def free_bytes(self) -> int:
        """See `RanksBench`."""
        return int(psutil.virtual_memory().available)

    def time(self, ranks: Ranks, run: Callable[[], None]) -> TimedRun:
        """See `RanksBench`."""
        begun = _now_ms()
        run()
        steps = tuple(
            tuple(
                StepTime(lane=one.lane, step=one.step, begin_ms=one.begin - begun, end_ms=one.end - begun)
                for one in rank.spans
            )
            for rank in ranks.members
        )
        return TimedRun(lockstep_ms(steps), steps)

    def time_alone(self, run: Callable[[], None]) -> float:
        """See `RanksBench`."""
        begun = _now_ms()
        run()
        return _now_ms() - begun


def _now_ms() -> float:
    return time.perf_counter_ns() / 1e6


def _grad_output(problem: Problem) -> Any:
    return make_grad_output(problem, "cpu") if problem.runs_backward else None
