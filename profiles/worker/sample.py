"""Sample points that were checked: kernels of one problem in turns, so that a drift meets them all alike."""

import time
from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.passes import (
    Given,
    PassLaunch,
    after_forward,
    draw_given,
    prepare_passes,
    renewing,
)
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.plan.plan import Point, Protocol
from flashscope.profiles.wire.events import LogLine, PointFailed, PointMeasured
from flashscope.profiles.wire.measurement import Figure, Sample
from flashscope.profiles.wire.messages import SamplePoints, SamplingEnded
from flashscope.profiles.wire.traffic import Traffic
from flashscope.profiles.worker.child import CancelledError, Link
from flashscope.profiles.worker.failures import Refusal, explain
from flashscope.profiles.worker.instruments.bench import Bench
from flashscope.profiles.worker.instruments.conditions import Condition, condition_figures
from flashscope.profiles.worker.instruments.counting import count
from flashscope.profiles.worker.judging import Criteria, Judge, correctness_of, what_is_wrong
from flashscope.profiles.worker.steps import Steps
from flashscope.profiles.worker.stopwatch import Stopwatch
from flashscope.profiles.worker.sustain import sustain
from flashscope.profiles.worker.turns import enough, take_turns
from flashscope.profiles.worker.vetting.around import Around
from flashscope.profiles.worker.vetting.guards import guarded, prepare_guarded
from flashscope.profiles.worker.vetting.process_state import ProcessState
from flashscope.profiles.worker.vetting.timed_runs import TimedRuns
from flashscope.profiles.worker.vetting.values import FreshValues, InputValues, values_of

OURS = "flashscope.kernels.cpu."
BY_WALL = "perf_counter"  # the timer that reads a clock of the wall


class SampledKernel:
    """One kernel on its way through its turns.

    Attributes:
        point: What it is sampled on.
        steps: Where it is.
        closed: Whether its point has ended.
    """

    def __init__(self, point: Point, spec: KernelSpec, link: Link, beside: tuple[int, ...] = ()) -> None:
        self.point = point
        self.steps = Steps(point, link)
        self.closed = False
        self._spec, self._beside = spec, beside
        self._launch: PassLaunch | None = None
        self._values: InputValues | None = None
        self._timed_runs: TimedRuns | None = None
        self._judge: Judge | None = None
        self._samples: list[Sample] = []
        self._figures: dict[str, Figure] = {}
        self._seen: list[Condition] = []
        self._traffic: Traffic | None = None
        self._spent_s = 0.0
        self._watch = Stopwatch("sampling")

    @property
    def own(self) -> bool:
        """Whether it is the user's own."""
        return self._spec.own is not None

    def prepare(self, drawn: Given, values: InputValues, backend: Backend, criteria: Criteria | None) -> None:
        """Allocate what it needs; what was compiled for the check is compiled no more.

        Args:
            drawn: Q, K and V, and dO where there is one, which all members share.
            values: What changes them before each sample.
            backend: Where it runs.
            criteria: What the last timed run is judged by; None: by nothing.
        """
        self.steps.enter("prepare")
        with self._watch.on("prepare"):
            given = after_forward(self._spec, self.point.problem, drawn, backend)
            prepared = prepare_guarded if self.own else prepare_passes
            self._launch = prepared(self._spec, self.point.problem, given, backend)
            self._values = self._of_its_own(given, backend) if self.has_inputs_alone else values
        if criteria is not None:
            self._judge = self._values.judge_of(self._spec, criteria)

    @property
    def has_inputs_alone(self) -> bool:
        """Whether its inputs are to change where those of others may not: see `FreshValues`."""
        return self.own and self.point.problem.runs_backward and self.point.problem.even

    def _of_its_own(self, given: Given, backend: Backend) -> FreshValues:
        problem = self.point.problem
        if problem.runs_forward:
            return FreshValues(problem, given, renew=lambda: None)  # each run computes O and LSE
        return FreshValues(problem, given, renew=renewing(self._spec, problem, given, backend))

    @property
    def quiet(self) -> bool:
        """Whether it works in the thread that calls it alone, as NumPy's kernels of ours do."""
        return self._spec.implementation.get("cpu", "").startswith(OURS)

    def watch(self, around: Around, *, quiet: bool) -> None:
        """Have each of its timed runs looked after, beside others that are quiet or not."""
        if self._launch is not None and self._values is not None:
            self._timed_runs = TimedRuns(self.point.problem, around, self._values, quiet=quiet)
            self._timed_runs.watch(self._launch)

    def warm_up(self, protocol: Protocol, bench: Bench) -> None:
        """Unrecorded runs, fewer when they alone use up the time cap."""
        begun = time.monotonic()
        for done in range(protocol.warmup):
            self.steps.enter("warm-up", done, protocol.warmup)
            if time.monotonic() - begun >= protocol.time_cap_s:
                break
            with self._watch.on("launch"):
                bench.time_ms(self._run)

    def sample(self, protocol: Protocol, bench: Bench, number: int | None) -> None:
        """Take one sample, in the round of that number; None: nobody else takes turns.

        Inputs change before, so that a stored answer is found, and what earlier runs wrote is spoilt, so that
        a run which leaves some of it out is. Warm, an untimed run comes between: others have used the cache.
        A kernel of the user's own, and those beside it, are timed on values that they never had before.
        """
        last_ms = self._samples[-1].ms if self._samples else None
        self.steps.enter("measure", len(self._samples), protocol.repeats, last_ms)
        begun = time.monotonic()
        self._change_inputs(protocol, bench)
        if self._launch is not None and self._judge is not None:
            self._launch.spoil()
        with self._watch.on("flush"):
            taken = bench.sample(self._timed_run, cold=protocol.cold, after=self._stopped)
        if self._timed_runs is not None:
            with self._watch.on("check"):
                self._timed_runs.seen(taken.ms, by_wall=bench.timer == BY_WALL)
                self._timed_runs.leave(judged=self._judge is not None)
        self._watch.move(taken.ms, "flush", "launch")
        self._samples.append(replace(taken, round=number))
        self._look_around(bench)
        self._spent_s += time.monotonic() - begun

    def _change_inputs(self, protocol: Protocol, bench: Bench) -> None:
        """Others than in the run before; warm, after a run with others still."""
        if self._values is None:
            return
        turn = len(self._samples)
        if self._timed_runs is not None:
            self._timed_runs.turn()
        if not protocol.cold:
            with self._watch.on("check"):
                self._values.before_warm(turn)
                self._look_back()
            with self._watch.on("launch"):
                bench.time_ms(self._run)
        with self._watch.on("check"):
            if self._timed_runs is not None:
                self._timed_runs.rest()
            self._values.before_timed(turn, cold=protocol.cold, own=self.own)
            if protocol.cold:
                self._look_back()

    def _look_back(self) -> None:
        """Whether the last timed run of a kernel of the user's own was over when it returned."""
        if self._timed_runs is not None and self._launch is not None:
            self._timed_runs.look_back(self._launch)

    def _look_around(self, bench: Bench) -> None:
        """Keep how the device is after each sample, and after the first one who else is on it."""
        condition = bench.condition()
        self._seen += [] if condition is None else [condition]
        others = bench.others(self._beside) if len(self._samples) == 1 else None
        self._figures |= {} if others is None else {"other_processes": others}

    def has_enough(self, protocol: Protocol) -> bool:
        """Whether its samples suffice."""
        return enough(protocol, len(self._samples), self._spent_s)

    def sustain(self, protocol: Protocol, bench: Bench) -> None:
        """Run back to back, when nobody takes turns any more."""
        self.steps.enter("sustain")
        with self._watch.on("launch"):
            self._figures |= sustain(bench, self._run, protocol.sustain_s, self.steps.check)

    def count(self, protocol: Protocol, bench: Bench) -> str:
        """Run while counters are read, after everything that is timed; why they cannot be, or nothing."""
        self.steps.enter("count")
        with self._watch.on("count"):
            counted = count(bench, self._run, cold=protocol.cold)
        self._figures |= counted.figures
        self._traffic = counted.traffic
        return counted.missing

    def ended(self) -> PointMeasured | PointFailed:
        """Its point's end: `wrong` where the run that was timed last wrote something else than the first."""
        if self._launch is not None and self._judge is not None:
            self.steps.enter("verify")
            with self._watch.on("check"):
                if self._timed_runs is not None:
                    self._timed_runs.judge()
                correctness = correctness_of(self._judge(self._launch.answer()))
            if not correctness.passed:
                reason = (
                    f"Of the last timed run, though the first run was right: {what_is_wrong(correctness)}"
                )
                return Refusal("wrong", reason).failed(self.point)
        samples = tuple(self._samples)
        figures = self._figures | condition_figures(self._seen) | self._watch.figures
        return PointMeasured(
            index=self.point.index,
            t_ns=time.monotonic_ns(),
            samples=samples,
            figures=figures,
            traffic=self._traffic,
        )

    def release(self) -> None:
        """Give its memory back."""
        if self._timed_runs is not None:
            self._timed_runs.let_go()
        if self._launch is not None:
            self._launch.release()
        self._launch = self._values = self._judge = self._timed_runs = None

    def _run(self) -> None:
        if self._timed_runs is not None:
            self._timed_runs.let_go()
        if self._launch is not None:
            self._launch.run()

    def _stopped(self) -> None:
        if self._timed_runs is not None and self._launch is not None:
            self._timed_runs.stopped(self._launch)

    def _timed_run(self) -> None:
        if self._timed_runs is None:
            self._run()
        elif self._launch is not None:
            self._timed_runs.run(self._launch)


class Sampling:
    """Points of one problem, together in memory with one set of inputs."""

    def __init__(
        self,
        command: SamplePoints,
        specs: tuple[KernelSpec, ...],
        bench: Bench,
        criteria: Criteria,
        link: Link,
        *,
        state: ProcessState | None = None,
        beside: tuple[int, ...] = (),
    ) -> None:
        self._state = state
        self._protocol, self._backend = command.protocol, command.device.backend
        self._bench, self._link = bench, link
        self._criteria = criteria if command.protocol.verify else None
        self._members = [SampledKernel(p, find_kernel(p.kernel, specs), link, beside) for p in command.points]
        self._alone = len(self._members) == 1
        self._more_to_come = bool(self._protocol.sustain_s or self._protocol.counters)
        self._broken_by = ""

    def run(self) -> SamplingEnded:
        """Sample every point and send how each ended; one that failed through another has no end yet."""
        try:
            self._sample()
        except CancelledError as error:
            self._close(self._members, error)
        except Exception as error:  # noqa: BLE001 - whatever is raised while several are held is nobody's
            if not self._alone:
                return SamplingEnded(left_open=explain(error, "measure").reason)
            self._close(self._members, error)
        finally:
            for member in self._members:
                member.release()
        return SamplingEnded(left_open=self._broken_by)

    def _sample(self) -> None:
        problem = self._members[0].point.problem
        drawn = draw_given(problem, self._backend)
        own, around = any(member.own for member in self._members), None
        if own and self._state is not None:
            drawn, guards = guarded(drawn)
            around = Around(self._state, guards, drawn)
        values = values_of(problem, drawn, own=own)
        for member in self._members:
            lent, looked_at = self._lent_alone(drawn) if member.has_inputs_alone else (drawn, around)
            self._attempt(member, partial(self._prepare, lent, values))
            if member.own and looked_at is not None:
                others = (one for one in self._members if one is not member)
                member.watch(looked_at, quiet=self._backend == "cpu" and all(one.quiet for one in others))
        for member in self._members:
            self._attempt(member, lambda one: one.warm_up(self._protocol, self._bench))
        take_turns(self._members, self._sampled, self._turn, problem.seed)
        for member in self._members:
            self._attempt(member, self._finish)

    def _lent_alone(self, drawn: Given) -> tuple[Given, Around | None]:
        """Inputs for one member alone, and what is looked at around them."""
        lent, guards = guarded(drawn)
        return lent, None if self._state is None else Around(self._state, guards, lent)

    def _prepare(self, lent: Given, values: InputValues, member: SampledKernel) -> None:
        member.prepare(lent, values, self._backend, self._criteria)

    def _finish(self, member: SampledKernel) -> None:
        """What comes after the turns: nobody is timed in them any more."""
        if self._protocol.sustain_s:
            member.sustain(self._protocol, self._bench)
        if self._protocol.counters:
            self._count(member)
        self._end(member)

    def _count(self, member: SampledKernel) -> None:
        missing = member.count(self._protocol, self._bench)
        if missing:
            text = f"No traffic of {member.point.kernel} was counted: {missing}."
            self._link.send(LogLine(source="worker", text=text, level="warning"))

    def _turn(self, member: SampledKernel, number: int) -> None:
        round_number = None if self._alone else number
        self._attempt(member, lambda one: one.sample(self._protocol, self._bench, round_number))
        if member.has_enough(self._protocol) and not self._more_to_come:
            self._attempt(member, self._end)

    def _end(self, member: SampledKernel) -> None:
        end = member.ended()
        member.closed = True
        self._link.send(end)

    def _attempt(self, member: SampledKernel, act: Callable[[SampledKernel], None]) -> None:
        """Do something with one kernel. If it raises, its point has failed; a broken device ends all."""
        if self._done(member):
            return
        try:
            act(member)
        except (CancelledError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 - whatever a kernel raises is its point's answer
            self._close([member], error)
            if self._state is not None and self._state.is_spoilt_by(error):
                self._broken_by = f"{member.point.kernel} is no company for others in one process."
            elif not self._bench.healthy():
                self._broken_by = f"{member.point.kernel} broke the device's context."

    def _sampled(self, member: SampledKernel) -> bool:
        return self._done(member) or member.has_enough(self._protocol)

    def _done(self, member: SampledKernel) -> bool:
        return member.closed or bool(self._broken_by)

    def _close(self, members: Sequence[SampledKernel], error: BaseException) -> None:
        for member in members:
            if not member.closed:
                member.closed = True
                self._link.send(explain(error, member.steps.phase).failed(member.point))
