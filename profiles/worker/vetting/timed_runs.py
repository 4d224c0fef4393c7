"""The timed runs of a kernel of the user's own: what was there when the clock stopped, and what it left."""

import random

import numpy as np

from flashscope.kernels.launching.passes import Given, PassLaunch, PassOutputs
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.worker.child import blas_threads
from flashscope.profiles.worker.vetting.answers import (
    LATE,
    caught,
    copied,
    differ,
    found_wrong,
    taken,
    what_is_wrong_in_gradients,
    what_is_wrong_in_rows,
)
from flashscope.profiles.worker.vetting.around import Around, bytes_of
from flashscope.profiles.worker.vetting.values import FreshValues, InputValues

SAME_TIME, CLOCK_MS = 0.9, 0.05  # a share, and ms between the readings of two clocks
AHEAD, AHEAD_MS = 0.25, 2.0  # a share of the timed runs, and ms, that threads may work between them
MEANWHILE_MS = 2.0  # for each run: a pool of threads looks for more work so long before it sleeps
GLANCE_ROWS = 8  # of each head, of every run
GLANCES_NS = 500_000_000  # that looking at every run may take beside as long as the runs


class TimedRuns:
    """Looks after every timed run of one kernel; one of them, drawn at random, is judged at the end.

    Args:
        problem: What is computed.
        around: The process, the inputs and the memory around them.
        values: What the inputs hold from run to run.
        quiet: Whether those that take turns with it work in the thread that times them alone.
    """

    def __init__(self, problem: Problem, around: Around, values: InputValues, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._problem, self._around, self._started = problem, around, around.state.started
        self._values = values if isinstance(values, FreshValues) else None
        self._draws = random.SystemRandom()
        self._count = 0
        self._kept: tuple[int, int, PassOutputs] | None = None  # number of the run, draw, answer
        self._left: dict[str, bytes] = {}
        self._newest: PassOutputs | None = None
        self._clocks = around.state.clocks
        self._idle_from, self._others_ns, self._all_ns = 0, 0, 0
        self._left_at: int | None = None  # others' CPU time at the end of its newest run
        self._meanwhile_ns, self._glances_ns = 0, 0
        self._ns: int | None = None

    def watch(self, launch: PassLaunch) -> None:
        """Look after the memory around what it writes, too."""
        self._around.guards.add(launch)

    def look_back(self, launch: PassLaunch) -> None:
        """Some time has gone by since the last timed run, and nothing else has run since.

        Raises:
            CaughtError: Its answer has changed.
        """
        newest, self._newest = self._newest, None
        if newest is not None and differ(newest, launch.answer()):
            raise caught(LATE)

    def turn(self) -> None:
        """Its next turn begins: what others were timed in between is over.

        Raises:
            CaughtError: Its threads took the time of others meanwhile.
        """
        if self._left_at is not None:
            self._meanwhile_ns += self._others_cpu() - self._left_at
        self._left_at = None
        self.let_go()
        meanwhile, runs = self._meanwhile_ns / 1e6, self._all_ns / 1e6
        allowed = max(MEANWHILE_MS * self._count, AHEAD * runs)
        if self._quiet and blas_threads() == 1 and meanwhile > allowed:
            raise caught(
                f"Its threads worked for {meanwhile:.3g} ms after its timed runs of {runs:.3g} ms: it takes "
                "the time of what is measured beside it."
            )

    def let_go(self) -> None:
        """Have processes that it has started go on: something of it is to run."""
        self._started.let_go()

    def rest(self) -> None:
        """Nothing of the kernel is to run from now on until its timed run."""
        self._started.hold()
        self._idle_from, self._ns = self._others_cpu(), None

    def run(self, launch: PassLaunch) -> None:
        """The timed run, also on a clock of our own."""
        wall = self._clocks.wall
        self._others_ns += self._others_cpu() - self._idle_from
        self._started.let_go()
        begun = wall()
        launch.run()
        self._ns = wall() - begun

    def stopped(self, launch: PassLaunch) -> None:
        """The clock has stopped, on a GPU in the order of the stream: what stands there now is its answer."""
        self._left_at = self._others_cpu()
        self._newest = copied(launch.answer())

    def seen(self, ms: float, *, by_wall: bool) -> None:
        """The timed run is over.

        Args:
            ms: What it took by the instruments.
            by_wall: Whether these read a clock of the wall, as ours is; a GPU's driver has threads, too.

        Raises:
            CaughtError: It changed the process or its clock, wrote around the inputs, or worked ahead.
        """
        self._count += 1
        newest = self._newest
        if self._values is not None and newest is not None and self._draws.randrange(self._count) == 0:
            self._kept = self._count, self._values.drawn, taken(newest)
            self._left = bytes_of(self._around.given)
        if told := self._around.state.trouble() or self._around.guards.trouble():
            raise caught(told)
        if self._ns is None:
            raise caught("A timed run did not run it: it changed the instruments.")
        self._all_ns += self._ns
        held_ms = self._ns / 1e6
        if not by_wall:
            return
        if ms < SAME_TIME * held_ms - CLOCK_MS:
            raise caught(f"It took {ms:.3g} ms by the instruments and {held_ms:.3g} ms by another clock.")
        self._tell_ahead()

    def leave(self, *, judged: bool) -> None:
        """Its turn is over: others are timed now, while processes that it has started stand still.

        Args:
            judged: Whether answers are compared at all.

        Raises:
            CaughtError: The answer of the newest run was wrong.
        """
        if judged:
            self._glance()
        self._started.hold()

    def _glance(self) -> None:
        """Judge a few rows of the newest run, unless looking takes longer than the runs."""
        newest, given = self._newest, self._around.given
        if self._values is None or newest is None or self._problem.runs_backward:
            return
        if self._glances_ns > self._all_ns + GLANCES_NS:
            return
        begun = self._clocks.wall()
        told = what_is_wrong_in_rows(
            self._problem, given, taken(newest), np.random.default_rng(), GLANCE_ROWS
        )
        self._glances_ns += self._clocks.wall() - begun
        if told:
            raise found_wrong(f"Of timed run {self._count}, though the first run was right: {told}")

    def _others_cpu(self) -> int:
        """CPU time (ns) of all other threads of the process."""
        return self._clocks.process() - self._clocks.thread()

    def _tell_ahead(self) -> None:
        """Whether threads worked while nothing of it was to run; with one thread for products none spins."""
        others, runs = self._others_ns / 1e6, self._all_ns / 1e6
        if blas_threads() == 1 and others > max(AHEAD_MS, AHEAD * runs):
            raise caught(
                f"Its threads worked for {others:.3g} ms between timed runs of {runs:.3g} ms: it works "
                "ahead of them, or on after them."
            )

    def judge(self) -> None:
        """Judge the run that was drawn.

        Raises:
            CaughtError: Its answer was wrong, or it wrote to its inputs.
        """
        if self._kept is None or self._values is None:
            return
        number, drawn, answer = self._kept
        given = self._values.given_in(drawn)
        if name := _changed(bytes_of(given), self._left):
            raise caught(f"In a timed run it wrote to {name}, which it was given to read.")
        if told := self._wrong(given, answer):
            which = f"Of timed run {number} of {self._count}, drawn at random, when the clock stopped"
            raise found_wrong(f"{which}, though the first run was right: {told}")

    def _wrong(self, given: Given, answer: PassOutputs) -> str:
        if self._problem.runs_backward:
            return what_is_wrong_in_gradients(self._problem, given, answer)
        return what_is_wrong_in_rows(self._problem, given, answer, np.random.default_rng())


def _changed(before: dict[str, bytes], after: dict[str, bytes]) -> str:
    return next((name for name, found in before.items() if after[name] != found), "")
