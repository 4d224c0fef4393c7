"""Measure one point: check that it fits, verify it, time it, read its footprint."""

import math
import time
from typing import NamedTuple

from kernels.launch import Inputs, Launch, LibraryLaunch, make_inputs, prepare
from kernels.spec import KernelSpec
from kernels.verify import verify
from profiles.bench import Bench
from profiles.child import Link
from profiles.events import (
    Correctness,
    Measurement,
    Phase,
    PointFailed,
    PointMeasured,
    PointProgress,
    Sample,
)
from profiles.fitting import Refusal, refuse_oversize, refuse_unsupported
from profiles.footprint import measure_footprint
from profiles.messages import MeasurePoint

MIN_SAMPLES = 3  # taken even when the time cap has passed
PROGRESS_S = 1 / 30


class Timing(NamedTuple):
    """What a point's timed part yielded; see Measurement."""

    prepare_ms: float
    first_run_ms: float
    correctness: Correctness | None
    samples: tuple[Sample, ...]
    note: str


class Measuring:
    """One point on its way through its phases.

    Attributes:
        phase: Where it is, for the words of a failure.
    """

    def __init__(self, command: MeasurePoint, spec: KernelSpec, bench: Bench, link: Link) -> None:
        self.phase: Phase = "prepare"
        self._point, self._protocol, self._device = command.point, command.protocol, command.device
        self._spec, self._bench, self._link = spec, bench, link
        self._told_at = -math.inf

    def run(self) -> PointMeasured | PointFailed:
        """Measure; the answer is `done`, `wrong`, `unsupported` or `will-not-fit`.

        Raises:
            CancelledError: The engine gave up on it.
            MemoryError: The allocator refused.
            Exception: Whatever the kernel raised.
        """
        refusal = self._refusal()
        if refusal is not None:
            return self.failed(refusal)
        timing = self._time()
        self._bench.release()
        measurement = self._with_footprint(timing)
        if timing.correctness is not None and not timing.correctness.passed:
            return self.failed(Refusal("wrong", _what_is_wrong(timing.correctness)), measurement)
        return PointMeasured(index=self._point.index, t_ns=time.monotonic_ns(), measurement=measurement)

    def failed(self, refusal: Refusal, measurement: Measurement | None = None) -> PointFailed:
        """The point's end with another status than `done`."""
        return PointFailed(
            index=self._point.index,
            t_ns=time.monotonic_ns(),
            status=refusal.status,
            reason=refusal.reason,
            detail=refusal.detail,
            measurement=measurement,
        )

    def _refusal(self) -> Refusal | None:
        problem = self._point.problem
        return refuse_unsupported(self._spec, problem, self._device) or refuse_oversize(
            self._spec, problem, self._device.backend, self._protocol.fit_margin, self._bench.free_bytes()
        )

    def _time(self) -> Timing:
        """Compile, first run, check, warm-up, samples; a wrong output ends it before any sample."""
        problem, backend = self._point.problem, self._device.backend
        self._step("prepare")
        inputs = make_inputs(problem, backend)
        start = time.perf_counter_ns()
        launch = prepare(self._spec, problem, inputs, backend)
        prepare_ms = (time.perf_counter_ns() - start) / 1e6
        try:
            return self._timed(launch, inputs, prepare_ms)
        finally:
            if isinstance(launch, LibraryLaunch):
                launch.release()

    def _timed(self, launch: Launch, inputs: Inputs, prepare_ms: float) -> Timing:
        for array in (launch.output, launch.lse):
            if array is not None:
                array.fill(math.nan)  # an output that is not written never passes
        first_run_ms = self._bench.time_ms(launch.run)
        note = launch.note if isinstance(launch, LibraryLaunch) else ""
        correctness = None
        if self._protocol.verify:
            self._step("verify")
            verdict = verify(self._point.problem, inputs, launch.output, launch.lse)
            correctness = Correctness(**verdict._asdict())
            if not correctness.passed:
                return Timing(prepare_ms, first_run_ms, correctness, (), note)
        self._warm_up(launch)
        return Timing(prepare_ms, first_run_ms, correctness, self._sample(launch), note)

    def _warm_up(self, launch: Launch) -> None:
        """Unrecorded runs, fewer when they alone use up the time cap."""
        begun = time.monotonic()
        for done in range(self._protocol.warmup):
            self._step("warm-up", done, self._protocol.warmup)
            if time.monotonic() - begun >= self._protocol.time_cap_s:
                break
            self._bench.time_ms(launch.run)

    def _sample(self, launch: Launch) -> tuple[Sample, ...]:
        """Timed runs: as many as asked for, or those that fit under the time cap, but at least three."""
        samples: list[Sample] = []
        begun, wanted = time.monotonic(), self._protocol.repeats
        while len(samples) < wanted:
            self._step("measure", len(samples), wanted, samples[-1].ms if samples else None)
            if len(samples) >= MIN_SAMPLES and time.monotonic() - begun >= self._protocol.time_cap_s:
                break
            if self._protocol.cold:
                self._bench.flush()
            ms = self._bench.time_ms(launch.run)
            samples.append(Sample(ms, self._bench.rejection()))
        return tuple(samples)

    def _with_footprint(self, timing: Timing) -> Measurement:
        self._link.check()
        footprint = measure_footprint(self._spec, self._point.problem, self._device.backend, self._bench)
        return Measurement(
            samples=timing.samples,
            timer=self._bench.timer,
            cold=self._protocol.cold,
            prepare_ms=timing.prepare_ms,
            first_run_ms=timing.first_run_ms,
            footprint=footprint,
            correctness=timing.correctness,
            note=timing.note,
        )

    def _step(self, phase: Phase, done: int = 0, total: int = 0, last_ms: float | None = None) -> None:
        """Give up if asked to, and say where the point is, at most 30 times a second."""
        self._link.check()
        self.phase = phase
        now = time.monotonic()
        if now - self._told_at >= PROGRESS_S:
            self._told_at = now
            index = self._point.index
            self._link.send(PointProgress(index=index, phase=phase, done=done, total=total, last_ms=last_ms))


def _what_is_wrong(found: Correctness) -> str:
    """One sentence on an output that differs from the oracle."""
    if math.isnan(found.max_abs_error) or (found.lse_error is not None and math.isnan(found.lse_error)):
        return "The output holds NaN where the float64 oracle does not."
    if found.max_abs_error > found.bound:
        return (
            f"O differs from the float64 oracle by {found.max_abs_error:.3g}; {found.bound:.3g} would pass."
        )
    return f"LSE differs from the float64 oracle by {found.lse_error:.3g}; {found.lse_bound:.3g} would pass."
