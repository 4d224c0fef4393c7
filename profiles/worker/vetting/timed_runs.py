"""The timed runs of a kernel of the user's own: what was there when the clock stopped, and what it left."""

import random

import numpy as np

from flashscope.kernels.launching.passes import PassLaunch, PassOutputs
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.worker.vetting.answers import caught, found_wrong, taken, what_is_wrong_in_rows
from flashscope.profiles.worker.vetting.around import Around, bytes_of
from flashscope.profiles.worker.vetting.values import FreshValues, SignedValues


class TimedRuns:
    """Looks after every timed run of one kernel; one of them, drawn at random, is judged at the end.

    Args:
        problem: What is computed.
        around: The process, the inputs and the memory around them.
        values: What the inputs hold from run to run.
    """

    def __init__(self, problem: Problem, around: Around, values: FreshValues | SignedValues) -> None:
        self._problem, self._around = problem, around
        judged = isinstance(values, FreshValues) and problem.runs_forward and not problem.runs_backward
        self._values = values if isinstance(values, FreshValues) and judged else None
        self._draws = random.SystemRandom()
        self._count = 0
        self._kept: tuple[int, int, PassOutputs] | None = None  # number of the run, turn, answer
        self._left: dict[str, bytes] = {}

    def seen(self, launch: PassLaunch) -> None:
        """A timed run is over, just now.

        Raises:
            CaughtError: It changed the process, or wrote around the inputs.
        """
        self._count += 1
        if self._values is not None and self._draws.randrange(self._count) == 0:
            self._kept = self._count, self._values.turn, taken(launch.answer())
            self._left = bytes_of(self._around.given)
        if told := self._around.state.trouble() or self._around.guards.trouble():
            raise caught(told)

    def judge(self) -> None:
        """Judge the run that was drawn.

        Raises:
            CaughtError: Its answer was wrong, or it wrote to its inputs.
        """
        if self._kept is None or self._values is None:
            return
        number, turn, answer = self._kept
        given = self._values.given_in(turn)
        if name := _changed(bytes_of(given), self._left):
            raise caught(f"In a timed run it wrote to {name}, which it was given to read.")
        if told := what_is_wrong_in_rows(self._problem, given, answer, np.random.default_rng()):
            which = f"Of timed run {number} of {self._count}, drawn at random, when the clock stopped"
            raise found_wrong(f"{which}, though the first run was right: {told}")


def _changed(before: dict[str, bytes], after: dict[str, bytes]) -> str:
    return next((name for name, found in before.items() if after[name] != found), "")
