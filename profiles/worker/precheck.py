"""Try one point before it is timed: does it fit, is it right, what does it hold."""

import time
from typing import NamedTuple

from msgspec.structs import replace

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.launching.passes import (
    Given,
    PassLaunch,
    PassOutputs,
    after_forward,
    draw_given,
    prepare_passes,
)
from flashscope.kernels.oracle.verdict import ON_ROUNDED, Verdict
from flashscope.profiles.plan.problem_words import place_words
from flashscope.profiles.wire.events import LogLine, PointFailed
from flashscope.profiles.wire.measurement import Correctness, Figure, Measurement
from flashscope.profiles.wire.messages import TryPoint
from flashscope.profiles.worker.child import Link
from flashscope.profiles.worker.failures import Refusal
from flashscope.profiles.worker.fitting import refuse_oversize, refuse_unsupported
from flashscope.profiles.worker.footprint import measure_footprint
from flashscope.profiles.worker.instruments.bench import Bench, Reader
from flashscope.profiles.worker.judging import Criteria, PassCriterion, correctness_of, what_is_wrong
from flashscope.profiles.worker.steps import Steps
from flashscope.profiles.worker.stopwatch import Stopwatch
from flashscope.profiles.worker.vetting.around import Around
from flashscope.profiles.worker.vetting.examination import Examination, Means
from flashscope.profiles.worker.vetting.guards import guarded, prepare_guarded
from flashscope.profiles.worker.vetting.process_state import ProcessState

SAME_BITS = "{} further runs gave the same bits"
DIFFERS = "{} of {} further runs gave other bits, though every run was to give the same."
REPEATED = 10  # runs that must give the bits of the first, where that is asked for


class FirstRun(NamedTuple):
    """What a point's first launch yielded.

    Attributes:
        figures: How long it took to prepare and to run, and what the bench's readers read.
        correctness: None when it was not verified.
        note: What the kernel has to say.
        differing: Further runs whose bits differed although they must not.
    """

    figures: dict[str, Figure]
    correctness: Correctness | None
    note: str
    differing: int = 0


class Precheck:
    """One point on its way to be sampled, alone in memory.

    Args:
        command: The point, the protocol and the device.
        spec: Its kernel.
        bench: What runs it.
        criteria: What it is judged by.
        link: The engine.
        state: The process as it was before code of the user's own ran in it; None: none does.

    Attributes:
        steps: Where it is.
    """

    def __init__(
        self,
        command: TryPoint,
        spec: KernelSpec,
        bench: Bench,
        criteria: Criteria,
        link: Link,
        *,
        state: ProcessState | None = None,
    ) -> None:
        self._point, self._protocol, self._device = command.point, command.protocol, command.device
        self._spec, self._bench, self._criteria, self._link = spec, bench, criteria, link
        self._state = state if self._protocol.verify and spec.own is not None else None
        self.steps = Steps(self._point, link)
        self._watch = Stopwatch("trial")

    def run(self) -> Measurement | PointFailed:
        """What is known of it before it is sampled, or that it is `wrong`, `unsupported` or `will-not-fit`.

        Raises:
            CancelledError: The engine gave up on it.
            MemoryError: The allocator refused.
            Exception: Whatever the kernel raised.
        """
        refusal = self._refusal()
        if refusal is not None:
            return refusal.failed(self._point)
        with self._watch.on("prepare"):
            first = self._first_run()
            self._bench.release()
            measurement = self._with_footprint(first)
        measurement = replace(measurement, figures=measurement.figures | self._watch.figures)
        if first.correctness is not None and not first.correctness.passed:
            return Refusal("wrong", what_is_wrong(first.correctness)).failed(self._point, measurement)
        if first.differing:
            changed = DIFFERS.format(first.differing, REPEATED)
            return Refusal("wrong", changed).failed(self._point, measurement)
        return measurement

    def _refusal(self) -> Refusal | None:
        problem = self._point.problem
        return refuse_unsupported(self._spec, problem, self._device) or refuse_oversize(
            self._spec, problem, self._device.backend, self._protocol.fit_margin, self._bench.free_bytes()
        )

    def _first_run(self) -> FirstRun:
        """Compile, run once, compare with the oracle, read what can be read."""
        problem, backend = self._point.problem, self._device.backend
        self.steps.enter("prepare")
        drawn, examination = self._drawn()
        given = after_forward(self._spec, problem, drawn, backend)
        if examination is not None:
            examination.give(given)
        start = time.perf_counter_ns()
        prepared = prepare_passes if examination is None else prepare_guarded
        launch = prepared(self._spec, problem, given, backend)
        prepare_ms = (time.perf_counter_ns() - start) / 1e6
        try:
            first = self._verified(launch, given, examination)
            figures = {"prepare_ms": Figure(value=prepare_ms, source="perf_counter"), **first.figures}
            return first._replace(figures=figures | self._read(launch))
        finally:
            launch.release()

    def _drawn(self) -> tuple[Given, Examination | None]:
        """What is given to the passes: guarded for a kernel of the user's own, with what that is asked."""
        problem = self._point.problem
        drawn = draw_given(problem, self._device.backend)
        if self._state is None:
            return drawn, None
        drawn, guards = guarded(drawn)
        around = Around(self._state, guards, drawn)
        means = Means(self._device, self._bench, self.steps)
        return drawn, Examination(self._spec, problem, around, means)

    def _verified(self, launch: PassLaunch, given: Given, examination: Examination | None) -> FirstRun:
        launch.spoil()
        with self._watch.on("launch"):
            first_ms = self._bench.time_ms(launch.run)
        answer = examination.first_answer(launch) if examination else None
        figures = {"first_run_ms": Figure(value=first_ms, source=self._bench.timer)}
        if not self._protocol.verify:
            return FirstRun(figures, None, launch.note)
        self.steps.enter("verify")
        with self._watch.on("check"):
            judged_by = self._criteria.of_kernel(self._spec, self._point.problem, given)
            verdict = judged_by.judge(answer or launch.answer())
            if examination is not None and answer is not None:
                figures |= self._examined(examination, launch, answer, judged_by, passed=verdict.passed)
        note = launch.note or _on_rounded_inputs(verdict)
        if not (self._point.problem.deterministic and verdict.passed):
            return FirstRun(figures, correctness_of(verdict), note)
        with self._watch.on("check"):
            differing = self._differing(launch)
        same = "" if differing else SAME_BITS.format(REPEATED)
        return FirstRun(figures, correctness_of(verdict), "; ".join(filter(None, (note, same))), differing)

    def _examined(
        self,
        examination: Examination,
        launch: PassLaunch,
        first: PassOutputs,
        judged_by: PassCriterion,
        *,
        passed: bool,
    ) -> dict[str, Figure]:
        """What a kernel of the user's own is asked beside its first answer.

        Raises:
            CaughtError: It did what none may do.
        """
        if passed:
            return examination.ask(launch, first)
        examination.tell_late(launch, judged_by.judge)
        return {}

    def _differing(self, launch: PassLaunch) -> int:
        """How many further runs give other bits than the newest."""
        first, differing = launch.bits(), 0
        for _ in range(REPEATED):
            self.steps.check()
            launch.spoil()
            launch.run()
            pairs = zip(first, launch.bits(), strict=True)
            differing += any((one != other).any() for one, other in pairs)
        return differing

    def _read(self, launch: PassLaunch) -> dict[str, Figure]:
        """What the bench's readers make of the kernel; a reader that raises says why it has no figure."""
        figures = {}
        for key, reader in self._bench.readers.items():
            self.steps.check()
            with self._watch.on("launch"):
                figures[key] = self._attempted(key, reader, launch)
        return figures

    def _attempted(self, key: str, reader: Reader, launch: PassLaunch) -> Figure:
        try:
            return reader(launch.run)
        except Exception as error:  # noqa: BLE001 - whatever an instrument raises, the point goes on without it
            missing = f"{type(error).__name__}: {error}"
            told = f"{self._point.kernel} has no {key} at {place_words(self._point.problem)}: {missing}"
            self._link.send(LogLine(source="worker", text=told, level="warning"))
            return Figure(missing=missing)

    def _with_footprint(self, first: FirstRun) -> Measurement:
        self.steps.check()
        footprint = measure_footprint(
            self._spec, self._point.problem, self._device.backend, self._bench, self._watch
        )
        return Measurement(
            timer=self._bench.timer,
            cold=self._protocol.cold,
            figures=first.figures | footprint,
            correctness=first.correctness,
            note=first.note,
        )


def _on_rounded_inputs(verdict: Verdict) -> str:
    """Both errors of O of a kernel that rounds its inputs, told apart; empty for others."""
    given, rounded = verdict.of("O"), verdict.of(f"O{ON_ROUNDED}")
    if given is None or rounded is None:
        return ""
    return (
        f"8-bit: O is off by {given.error:.2g} from float64 attention on the inputs, and by "
        f"{rounded.error:.2g} ({rounded.bound:.2g} would pass) from that on the inputs in 8 bits."
    )
