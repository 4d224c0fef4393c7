"""Cuts run in turns: each is checked, timed round after round, and the fastest are timed anew."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from importlib import import_module
from statistics import median

from flashscope.kernels.catalogue.buffers import Buffer
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.sources import source_digest
from flashscope.kernels.catalogue.workspace import flash2_in_tiles
from flashscope.kernels.cuda import backward, launch
from flashscope.kernels.cuda.design.compiling import load_here
from flashscope.kernels.cuda.design.cut import program_of, spec_of
from flashscope.kernels.launching.launch import Launch, prepare
from flashscope.kernels.launching.passes import Given, PassLaunch, after_forward, draw_given
from flashscope.kernels.workload.cut import Cut
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.kernels.workload.tensors import Saved
from flashscope.profiles.wire.cuts import (
    CutAnswer,
    CutCompiled,
    CutsEnded,
    CutsRound,
    CutsToTime,
    CutTimed,
    CutTimes,
)
from flashscope.profiles.worker.failures import explain
from flashscope.profiles.worker.instruments.bench import Bench
from flashscope.profiles.worker.judging import Criteria, correctness_of, what_is_wrong
from flashscope.profiles.worker.serve import make_bench
from flashscope.profiles.worker.turns import take_turns

Say = Callable[[CutAnswer], None]


class CutRun:
    """One cut on its way through its rounds.

    Attributes:
        cut: The cut.
        ms: A time for each of its rounds that counts.
        rounds: Rounds that it has had.
    """

    def __init__(self, cut: Cut, launch: PassLaunch) -> None:
        self.cut = cut
        self.ms: list[float] = []
        self.rounds = 0
        self._launch = launch

    def turn(self, bench: Bench) -> None:
        """Run it once, with nothing of it in the cache."""
        sample = bench.sample(self._launch.run, cold=True)
        self.rounds += 1
        if sample.rejected is None:
            self.ms.append(sample.ms)


class Progress:
    """Tells how much is done."""

    def __init__(self, say: Say, total: int) -> None:
        self._say, self._total, self._done = say, total, 0

    def step(self) -> None:
        """One more is done."""
        self._done += 1
        self._say(CutsRound(done=min(self._done, self._total), total=self._total))


class CutTimer:
    """Times cuts, one request after the other; the oracle of a problem serves all that follow with it."""

    def __init__(self) -> None:
        self._bench: Bench | None = None
        self._criteria = Criteria()

    @property
    def healthy(self) -> bool:
        """Whether later requests can run in this process."""
        return self._bench is None or self._bench.healthy()

    def time(self, asked: CutsToTime, say: Say) -> CutsEnded:
        """Check, time and time anew; every cut that was timed, or failed, is told.

        Raises:
            DeviceUnavailableError: There is no such backend here; the text names the remedy.
        """
        device: Device = import_module(f"flashscope.kernels.{asked.backend}.device").describe()
        bench = self._bench = self._bench or make_bench(device)
        timing = CutTiming(asked, bench, self._criteria, say)
        runs = timing.checked(timing.compiled())
        timing.run(runs, asked.rounds, asked.seed)
        timed = [run for run in runs if run.ms]
        for run in timed:
            say(CutTimed(timed=CutTimes(cut=run.cut, ms=tuple(run.ms))))
        again = _finalists(asked, timed)
        del runs, timed
        fresh = timing.checked(again)
        timing.run(fresh, asked.fresh_rounds, asked.seed + 1)
        for run in fresh:
            say(CutTimed(timed=CutTimes(cut=run.cut, ms=tuple(run.ms), anew=True)))
        build = source_digest(asked.backend, asked.shipped.source) or ""
        return CutsEnded(timer=bench.timer, device=device, build=build)


def _finalists(asked: CutsToTime, timed: Sequence[CutRun]) -> list[Cut]:
    """The fastest, and the shipped one if it was timed."""
    fastest = sorted(timed, key=lambda run: median(run.ms))[: asked.finalists]
    again = [run.cut for run in fastest]
    shipped = [run.cut for run in timed if run.cut == asked.shipped and run.cut not in again]
    return [*again, *shipped]


class CutTiming:
    """What the cuts of one request go through: compiler, check, rounds."""

    def __init__(self, asked: CutsToTime, bench: Bench, criteria: Criteria, say: Say) -> None:
        self._asked, self._bench, self._say = asked, bench, say
        self._given, self._criteria = _given(asked), criteria
        finalists = min(asked.finalists, len(asked.cuts)) + 1
        runs = (1 + asked.rounds) * len(asked.cuts) + (1 + asked.fresh_rounds) * finalists
        self._progress = Progress(say, runs + len(asked.cuts))

    def compiled(self) -> list[Cut]:
        """Those that the compiler takes, all cores at work; of each is told what it takes."""
        cuts, problem = self._asked.cuts, self._asked.problem
        if self._asked.backend == "cpu":
            return list(cuts)
        taken = []
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
            for compiled in threads.map(partial(load_here, problem=problem), cuts):
                self._say(CutCompiled(compiled=compiled))
                self._progress.step()
                if not compiled.failure:
                    taken.append(compiled.cut)
        return taken

    def checked(self, cuts: Sequence[Cut]) -> list[CutRun]:
        """Those whose first run is right; of the others the reason is told."""
        asked, found = self._asked, []
        for cut in cuts:
            try:
                bound = launch_of(cut, asked.problem, self._given, asked.backend)
                failure = self._what_is_wrong(cut, bound)
            except Exception as error:  # noqa: BLE001 - whatever a cut raises is its answer
                failure = explain(error, "launch").reason
            if failure:
                self._say(CutTimed(timed=CutTimes(cut=cut, failure=failure)))
            else:
                found.append(CutRun(cut, bound))
            self._progress.step()
        return found

    def run(self, runs: Sequence[CutRun], rounds: int, seed: int) -> None:
        """So many rounds of all of them, in turns."""

        def turn(run: CutRun, _number: int) -> None:
            run.turn(self._bench)
            self._progress.step()

        take_turns(runs, lambda run: run.rounds >= rounds, turn, seed)

    def _what_is_wrong(self, cut: Cut, bound: PassLaunch) -> str:
        """How the answer of a run differs from the oracle's, in a sentence; empty: it does not."""
        bound.spoil()
        bound.run()
        criterion = self._criteria.of_kernel(find_kernel(cut.spec), self._asked.problem, self._given)
        correct = correctness_of(criterion.judge(bound.answer()))
        return "" if correct.passed else what_is_wrong(correct)


def launch_of(cut: Cut, problem: Problem, given: Given, backend: Backend) -> PassLaunch:
    """A cut bound to its arrays: in NumPy by the tile that it holds, in CUDA by its program."""
    if backend == "cpu":
        return PassLaunch(_in_tiles(cut, problem, given), None)
    spec, program = spec_of(cut), partial(program_of, cut)
    if not cut.backward:
        return PassLaunch(launch.bind(spec, problem, given.inputs, program), None)
    saved = Saved(*given.inputs.qkv, given.output, given.lse, given.grad_output)
    return PassLaunch(None, backward.bind(spec, problem, saved, program))


def _in_tiles(cut: Cut, problem: Problem, given: Given) -> Launch:
    def tile(problem: Problem, _backend: Backend) -> tuple[Buffer, ...]:
        return flash2_in_tiles(problem, cut.block_q, cut.block_k)

    return prepare(replace(find_kernel(cut.spec), workspace=tile), problem, given.inputs, "cpu")


def _given(asked: CutsToTime) -> Given:
    """Q, K and V; for a backward pass also dO, and O and LSE of the kernel's forward pass."""
    drawn = draw_given(asked.problem, asked.backend)
    return after_forward(find_kernel(asked.shipped.spec), asked.problem, drawn, asked.backend)
