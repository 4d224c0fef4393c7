"""Cuts run in turns: each is checked, timed round after round, and the fastest are timed anew."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib import import_module
from statistics import median

from flashscope.kernels.catalogue.buffers import Buffer
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.workspace import flash2_in_tiles
from flashscope.kernels.launching.launch import Launch, make_inputs, prepare
from flashscope.kernels.workload.cut import Cut
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Backend, Problem
from flashscope.kernels.workload.tensors import Inputs
from flashscope.profiles.wire.cuts import CutAnswer, CutsEnded, CutsRound, CutsToTime, CutTimed, CutTimes
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

    def __init__(self, cut: Cut, launch: Launch) -> None:
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


def time_cuts(asked: CutsToTime, say: Say) -> CutsEnded:
    """Check, time and time anew; every cut that was timed, or failed, is told.

    Raises:
        DeviceUnavailableError: There is no such backend here; the text names the remedy.
    """
    device: Device = import_module(f"flashscope.kernels.{asked.backend}.device").describe()
    bench, inputs = make_bench(device), make_inputs(asked.problem, asked.backend)
    finalists = min(asked.finalists, len(asked.cuts)) + 1
    progress = Progress(say, (1 + asked.rounds) * (len(asked.cuts) + finalists))
    runs = _checked(asked, asked.cuts, inputs, say, progress)
    _time(asked, runs, bench, asked.seed, progress)
    timed = [run for run in runs if run.ms]
    for run in timed:
        say(CutTimed(timed=CutTimes(cut=run.cut, ms=tuple(run.ms))))
    fastest = sorted(timed, key=lambda run: median(run.ms))[: asked.finalists]
    again = [run.cut for run in fastest]
    if any(run.cut == asked.shipped for run in timed) and asked.shipped not in again:
        again.append(asked.shipped)
    del runs, timed, fastest
    fresh = _checked(asked, again, inputs, say, progress)
    _time(asked, fresh, bench, asked.seed + 1, progress)
    for run in fresh:
        say(CutTimed(timed=CutTimes(cut=run.cut, ms=tuple(run.ms), anew=True)))
    return CutsEnded(timer=bench.timer, device=device.name)


def launch_of(cut: Cut, problem: Problem, inputs: Inputs, backend: Backend) -> Launch:
    """A cut bound to its arrays: in NumPy by the tile that it holds, in CUDA by its program."""
    if backend == "cpu":

        def tile(problem: Problem, _backend: Backend) -> tuple[Buffer, ...]:
            return flash2_in_tiles(problem, cut.block_q, cut.block_k)

        return prepare(replace(find_kernel("flash2"), workspace=tile), problem, inputs, backend)
    program = partial(import_module("flashscope.kernels.cuda.design.cut").program_of, cut)
    bound: Launch = import_module("flashscope.kernels.cuda.launch").bind(
        find_kernel(cut.kernel), problem, inputs, program
    )
    return bound


def _checked(
    asked: CutsToTime, cuts: Sequence[Cut], inputs: Inputs, say: Say, progress: Progress
) -> list[CutRun]:
    """Those whose first run is right; of the others the reason is told."""
    criteria, found = Criteria(), []
    for cut in cuts:
        try:
            launch = launch_of(cut, asked.problem, inputs, asked.backend)
            launch.run()
            correct = correctness_of(
                criteria.of(asked.problem, inputs, None).judge(launch.output, launch.lse)
            )
            failure = "" if correct.passed else what_is_wrong(correct)
        except Exception as error:  # noqa: BLE001 - whatever a cut raises is its answer
            failure = explain(error, "launch").reason
        if failure:
            say(CutTimed(timed=CutTimes(cut=cut, failure=failure)))
        else:
            found.append(CutRun(cut, launch))
        progress.step()
    return found


def _time(asked: CutsToTime, runs: Sequence[CutRun], bench: Bench, seed: int, progress: Progress) -> None:
    def turn(run: CutRun, _number: int) -> None:
        run.turn(bench)
        progress.step()

    take_turns(runs, lambda run: run.rounds >= asked.rounds, turn, seed)
