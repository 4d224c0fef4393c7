"""`selfcheck`: how far the figures of a machine can be trusted, each beside another instrument's.

Exit codes: 0 when nothing differs; 1 when something does, or nothing could be measured; 128 plus the signal's
number after Ctrl-C or SIGTERM.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from queue import SimpleQueue

import msgspec
from msgspec.structs import replace

from flashscope.app.commands.exit_codes import FAILED, SIGNALLED
from flashscope.app.commands.hosts import Hosts
from flashscope.app.commands.local import find_machine, hear_signals, local_driver
from flashscope.app.commands.messages import complain, pasteable, say, say_json, tell
from flashscope.app.commands.printed.printing import Styled, print_table
from flashscope.app.commands.sweep import SweepRun
from flashscope.app.words.figures import NOTHING
from flashscope.app.words.kinds import words_of
from flashscope.app.words.units import bytes_text
from flashscope.kernels.catalogue.registry import LESSON, runnable
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.engine.contract import Engine
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.plan.problem_words import place_words
from flashscope.profiles.results.findings.selfcheck import Check, InstrumentFigures, checks, ncu_figures
from flashscope.profiles.results.model.recorded_events import RecordedEvents
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.traffic import ARBITER
from flashscope.profiles.store import Recorder, check_place
from flashscope.profiles.wire.arbiters import ArbiterAsked, ArbiterEnded, Instrument
from flashscope.profiles.wire.events import PointChecked

KERNELS = (*LESSON, "torch-cudnn")
ON_A_GPU, ON_A_CPU = (4096, 8192), (256, 512)  # N
NO_GPU = "there is no GPU"
SLACK = {"cuda": "the allocator rounds up", "cpu": "the allocator counts Python's own objects, too"}
STYLES = {"agrees": "green", "differs": "bold red", "not tested": "dim"}
HEADINGS = ("kernel", "N", "figure", "ours", "from", "theirs", "by", "ratio", "verdict")
SUSTAIN_S = 1.5  # back to back, for the energy
AMPERE = (8, 0)  # the first with bfloat16


class StoppedError(Exception):
    """A signal came; its number is the argument."""


class Arbiters:
    """The other instruments of the machine that has measured.

    Args:
        engine: Has measured there.

    Attributes:
        counted: What Nsight Compute says, by the points' indices.
        cut_off: Why they are asked no more, a sentence; empty: they are.
    """

    def __init__(self, engine: Engine) -> None:
        self.counted: dict[int, InstrumentFigures] = {}
        self.cut_off = ""
        self._engine = engine
        self._heard: SimpleQueue[ArbiterEnded | int] = SimpleQueue()  # an int is the number of a signal
        hear_signals(self._heard.put)

    def count(self, row: PointRow) -> InstrumentFigures:
        """What Nsight Compute says of a point."""
        said = self._ask("ncu", ARBITER, row)
        answer = self.counted[row.point.index] = said.missing or said.figures
        return answer

    def time(self, row: PointRow) -> Sequence[float] | str:
        """What each of some runs takes by PyTorch's profiler, in ms."""
        said = self._ask("torch", "PyTorch's profiler", row)
        return said.missing or said.times_ms

    def _ask(self, by: Instrument, called: str, row: PointRow) -> ArbiterEnded:
        """An instrument's answer.

        Raises:
            StoppedError: A signal came in the meantime.
        """
        if row.backend == "cpu":
            return ArbiterEnded(missing=NO_GPU)
        if self.cut_off:
            return ArbiterEnded(missing=self.cut_off)
        tell(f"{row.kernel}  {place_words(row.problem)}: {called}")
        asked = ArbiterAsked(by=by, kernel=row.kernel, problem=row.problem)
        process = self._engine.lines("arbiter", [asked], self._heard.put)
        try:
            said = self._heard.get()
        finally:
            process.end()
        if isinstance(said, int):
            raise StoppedError(said)
        self.cut_off = said.reason
        return ArbiterEnded(missing=said.reason) if said.reason else said


def run(
    *, seqlens: tuple[int, ...] | None, out: Path | None, as_json: bool, connect: str | None = None
) -> int:
    """Measure, here or on a host, ask the other instruments there, print what agrees.

    Args:
        seqlens: N; None: two that suit the device.
        out: A session file for what was measured, with what Nsight Compute says; None: nothing is kept.
        as_json: Print one JSON document.
        connect: The connection file or address of the host; None: here.
    """
    if out is not None:
        check_place(out)
    with local_driver(Hosts.one(connect)) as (driver, events):
        machine = find_machine(driver, events)
        if isinstance(machine, int):
            return SIGNALLED + machine
        sweep = SweepRun(driver, events)
        sweep.run(plan_for(machine, seqlens))
        if sweep.stopped_by is not None:
            return SIGNALLED + sweep.stopped_by
        if sweep.session is None:
            return FAILED
        arbiters = Arbiters(driver.engine)
        try:
            made = checks(rows(sweep.session), arbiters.count, arbiters.time)
        except StoppedError as stopped:
            return SIGNALLED + int(stopped.args[0])
    (print_json if as_json else print_checks)(sweep.session, made)
    if out is not None:
        record_again(sweep.session, arbiters.counted, out)
        tell(f"Saved as {pasteable(out)}")
    if arbiters.cut_off:
        complain("selfcheck", arbiters.cut_off)
    differs = any(one.verdict == "differs" for one in made)
    return FAILED if arbiters.cut_off or not made or differs else 0


def plan_for(machine: Machine, seqlens: tuple[int, ...] | None = None) -> Plan:
    """What is measured: on the GPU, where there is one; at these N, else at two that suit the device."""
    device = machine.device("cuda") or machine.device("cpu")
    if device is None:
        raise RuntimeError("a machine without a CPU")
    problems = problems_for(device, seqlens)
    return Plan(
        backend=device.backend,
        kernels=runnable(KERNELS, problems, device),
        problems=problems,
        protocol=Protocol(counters=True, sustain_s=SUSTAIN_S),
    )


def problems_for(device: Device, seqlens: tuple[int, ...] | None = None) -> tuple[Problem, ...]:
    """Large ones on a GPU, whose figures are known from other instruments; small ones on a CPU."""
    if device.backend == "cpu":
        return tuple(Problem(seqlen_q=n, seqlen_k=n, heads=2) for n in seqlens or ON_A_CPU)
    dtype = "bfloat16" if (device.compute_capability or AMPERE) >= AMPERE else "float16"
    return tuple(
        Problem(seqlen_q=n, seqlen_k=n, heads=16, head_dim=128, dtype=dtype)  # type: ignore[arg-type]
        for n in seqlens or ON_A_GPU
    )


def record_again(session: Session, answers: Mapping[int, InstrumentFigures], path: Path) -> None:
    """Record the session again, with what Nsight Compute says of its points.

    Raises:
        SessionFileError: It cannot be written.
    """
    recorder = Recorder(path)
    for event in RecordedEvents(session).all_events():
        recorder.record(_with_ncu(event, answers) if isinstance(event, PointChecked) else event)
    recorder.close()


def _with_ncu(event: PointChecked, answers: Mapping[int, InstrumentFigures]) -> PointChecked:
    said = ncu_figures(answers[event.index]) if event.index in answers else {}
    known = event.measurement
    return replace(event, measurement=replace(known, figures=known.figures | said))


def print_json(session: Session, made: Sequence[Check]) -> None:
    """One document: the device, and each check with its ratio and verdict."""
    told = [msgspec.to_builtins(one) | {"ratio": one.ratio, "verdict": one.verdict} for one in made]
    say_json({"device": session.machine.device(session.backend), "checks": told})


def print_checks(session: Session, made: Sequence[Check]) -> None:
    """A line a check, then why some could not be made, then how many agree."""
    device = session.machine.device(session.backend)
    say(f"On {device.name if device else session.backend}:")
    if made:
        print_table(HEADINGS, [_line(one) for one in made], keys=3)
    for slack in dict.fromkeys(one.slack for one in made if one.slack):
        say(f"A footprint agrees within {bytes_text(slack)}: {SLACK[session.backend]}.")
    untested: dict[str, list[str]] = {}
    for one in made:
        if one.verdict == "not tested":
            untested.setdefault(f"{one.quantity.title}: {one.missing}", []).append(one.kernel)
    for why, kernels in untested.items():
        say(f"Not tested, {why} ({', '.join(dict.fromkeys(kernels))}).")
    for state in session.cells:
        if state.status != "done":
            say(f"{state.point.kernel} at {place_words(state.point.problem)}: {state.status}. {state.reason}")
    counts = Counter[str](one.verdict for one in made)
    say(", ".join(f"{counts[verdict]} {verdict}" for verdict in STYLES))


def _line(one: Check) -> list[str | Styled]:
    text = words_of(one.quantity).text
    ours, theirs = (NOTHING if value is None else text(value) for value in (one.ours, one.theirs))
    ratio = NOTHING if one.ratio is None else f"{one.ratio:.4f}"
    verdict = Styled(one.verdict, STYLES[one.verdict])
    source, arbiter = one.source or NOTHING, one.arbiter or NOTHING
    return [one.kernel, str(one.seqlen), one.quantity.title, ours, source, theirs, arbiter, ratio, verdict]
