"""On a GPU, where a kernel of the user's own works: on the stream that it is called on, or joined to it."""

from typing import Any

import numpy as np

from flashscope.kernels.launching.passes import PassLaunch
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.worker.instruments.bench import Bench, HeldRun
from flashscope.profiles.worker.vetting.answers import caught
from flashscope.profiles.worker.vetting.around import Around
from flashscope.profiles.worker.vetting.values import redraw

HELD = 3  # runs, each with values that were never there
LEFT, LEFT_MS = 0.25, 0.03  # a share of a run, and ms, for which the GPU may work on behind it
AWAY_MS = 50.0  # half of what a GPU is held for at most: a host that is slow is so where none is held, too
WAITS = "its call does not return before the GPU is through: it waits on the host in every run"


def told_of_streams(launch: PassLaunch, problem: Problem, around: Around, bench: Bench, ms: float) -> str:
    """What a kernel's use of streams leaves to doubt, as a clause; empty where nothing does.

    Args:
        launch: The kernel, which has run.
        problem: What is computed.
        around: What it is given; V, or dO where there are gradients, is drawn anew.
        bench: What runs it.
        ms: What a run takes.

    Raises:
        CaughtError: It works on streams that nobody waits for, or on after its end.
    """
    given, rng, seen = around.given, np.random.default_rng(), []
    for _ in range(HELD):
        redraw((given.grad_output if problem.runs_backward else given.inputs.v,), rng)
        launch.spoil()
        held = bench.held(launch.run, lambda: _changing(launch, problem), ms)
        if held is None:
            return ""
        _tell_answers(held)
        seen.append(held)
    left, took = min(one.left_ms for one in seen), min(one.ms for one in seen)
    if left > max(LEFT_MS, LEFT * took):
        raise caught(
            f"The GPU worked on for {left:.3g} ms when its run of {took:.3g} ms was over: it leaves work "
            "running, or begins the next answer ahead."
        )
    return WAITS if _waits(launch, around, bench, seen) else ""


def _waits(launch: PassLaunch, around: Around, bench: Bench, seen: list[HeldRun]) -> bool:
    """Whether its call takes long where the GPU is held, and only there."""
    if not all(one.waited for one in seen):
        return False
    begun = around.state.clocks.wall()
    launch.run()
    alone_ms = (around.state.clocks.wall() - begun) / 1e6
    bench.wait()
    return min(one.host_ms for one in seen) > alone_ms + AWAY_MS


def _tell_answers(held: HeldRun) -> None:
    """Whether the answer came with its stream.

    Raises:
        CaughtError: It came before, or after.
    """
    if not held.waited and any(map(np.array_equal, held.early, held.late)):
        raise caught(
            "Its answer was there while the stream that it was called on was held: it was made ahead of the "
            "call, or by another stream that does not wait for that one."
        )
    if not all(map(np.array_equal, held.at_end, held.late)):
        raise caught(
            "Its answer was not there when the stream that it was called on was through: it works on another "
            "stream that nobody waits for, or on after its return."
        )


def _changing(launch: PassLaunch, problem: Problem) -> list[Any]:
    """The arrays of an answer in which all is new: O stays where dO alone is."""
    answer = launch.answer()
    return [*answer.gradients] if problem.runs_backward else [*answer.arrays]
