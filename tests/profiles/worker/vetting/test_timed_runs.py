"""Of the timed runs of a kernel of one's own one is judged that was drawn at random, of gradients, too."""

import sys
import time
from collections.abc import Callable
from typing import Any

import psutil
import pytest

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.launching.passes import after_forward, draw_given, prepare_passes
from flashscope.kernels.workload.problem import Passes, Problem
from flashscope.profiles.worker.failures import CaughtError
from flashscope.profiles.worker.vetting import timed_runs
from flashscope.profiles.worker.vetting.around import Around
from flashscope.profiles.worker.vetting.guards import guarded
from flashscope.profiles.worker.vetting.process_state import ProcessState
from flashscope.profiles.worker.vetting.timed_runs import TimedRuns
from flashscope.profiles.worker.vetting.values import FreshValues

FLASH2 = find_kernel("flash2")


def timed(passes: Passes, spoil: bool) -> TimedRuns:
    """One timed run whose gradients, where there are any, are spoilt as it returns."""
    problem = Problem(seqlen_q=48, seqlen_k=48, heads=2, head_dim=16, passes=passes)
    drawn, guards = guarded(draw_given(problem, "cpu"))
    values = FreshValues(problem, drawn)
    given = after_forward(FLASH2, problem, drawn, "cpu")
    launch = prepare_passes(FLASH2, problem, given, "cpu")
    runs = TimedRuns(problem, Around(ProcessState(), guards, drawn), values)
    values.before_timed(0, cold=True, own=True)
    runs.rest()
    runs.run(launch)
    if spoil:
        launch.answer().gradients.dk[0, 0, 3] += 1
    runs.stopped(launch)
    runs.seen(1e3, by_wall=False)
    return runs


def noting(judge: Callable[..., str], told: list[str]) -> Callable[..., str]:
    """The judge, whose words are kept."""

    def judge_and_note(*given: Any) -> str:
        told.append(judge(*given))
        return told[-1]

    return judge_and_note


@pytest.mark.parametrize("passes", ["backward", "both"])
def test_gradients_that_are_wrong_in_a_run_in_the_middle_are_found(passes: Passes) -> None:
    with pytest.raises(CaughtError, match=r"Of timed run 1 of 1, drawn at random.*dK"):
        timed(passes, spoil=True).judge()


@pytest.mark.parametrize("passes", ["forward", "backward", "both"])
def test_a_run_that_is_right_is_judged_and_found_right(
    passes: Passes, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = list[str]()
    for name in ("what_is_wrong_in_rows", "what_is_wrong_in_gradients"):
        monkeypatch.setattr(timed_runs, name, noting(getattr(timed_runs, name), told))
    timed(passes, spoil=False).judge()
    assert told == [""]


def becomes(child: psutil.Popen, *, stopped: bool) -> bool:
    """Whether it is, or is not, held by and by: a signal takes its time."""
    for _ in range(200):
        if (child.status() == psutil.STATUS_STOPPED) is stopped:
            return True
        time.sleep(0.05)
    return False


def test_what_it_has_started_stands_still_from_its_run_to_its_next_turn() -> None:
    problem = Problem(seqlen_q=48, seqlen_k=48, heads=2, head_dim=16)
    drawn, guards = guarded(draw_given(problem, "cpu"))
    state, values = ProcessState(), FreshValues(problem, drawn)
    launch = prepare_passes(FLASH2, problem, drawn, "cpu")
    runs = TimedRuns(problem, Around(state, guards, drawn), values)
    child = psutil.Popen([sys.executable, "-c", "while True: pass"])
    try:
        runs.turn()
        values.before_timed(0, cold=True, own=True)
        runs.rest()
        runs.run(launch)
        runs.stopped(launch)
        runs.seen(1e3, by_wall=False)
        runs.leave(judged=True)
        assert becomes(child, stopped=True)
        runs.turn()
        assert becomes(child, stopped=False)
    finally:
        child.kill()
        child.wait()


def test_rows_of_each_run_are_judged_while_that_takes_no_longer_than_the_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = list[str]()
    judge = getattr(timed_runs, "what_is_wrong_in_rows")  # noqa: B009 - it exports none
    monkeypatch.setattr(timed_runs, "what_is_wrong_in_rows", noting(judge, told))
    timed("forward", spoil=False).leave(judged=True)
    assert told == [""]
    timed("forward", spoil=False).leave(judged=False)
    assert told == [""]
    monkeypatch.setattr(timed_runs, "GLANCES_NS", -(10**15))
    timed("forward", spoil=False).leave(judged=True)
    assert told == [""]


def test_a_run_in_the_middle_that_is_wrong_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = timed("forward", spoil=False)
    monkeypatch.setattr(timed_runs, "what_is_wrong_in_rows", lambda *_: "O differs.")
    with pytest.raises(CaughtError, match=r"Of timed run 1, though the first run was right: O differs\."):
        runs.leave(judged=True)
