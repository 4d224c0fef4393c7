"""Of the timed runs of a kernel of one's own one is judged that was drawn at random, of gradients, too."""

from collections.abc import Callable
from typing import Any

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
