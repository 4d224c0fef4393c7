"""`selfcheck`: how far the figures of this machine can be trusted, each beside another instrument's.

Exit codes: 0 when nothing differs; 1 when something does, or nothing could be measured; 128 plus the signal's
number after Ctrl-C or SIGTERM.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from flashscope.app.commands.exit_codes import FAILED, SIGNALLED
from flashscope.app.commands.local import Events, find_machine, local_driver
from flashscope.app.commands.messages import pasteable, say, say_json, tell
from flashscope.app.commands.printed.printing import Styled, print_table
from flashscope.app.commands.sweep import SweepRun
from flashscope.app.words.figures import NOTHING
from flashscope.app.words.kinds import words_of
from flashscope.app.words.units import bytes_text
from flashscope.kernels.catalogue.registry import LESSON, runnable
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.engine.arbiters import counted_by_ncu, timed_by_torch
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.plan.problem_words import place_words
from flashscope.profiles.results.findings.selfcheck import Check, InstrumentFigures, checks, ncu_figures
from flashscope.profiles.results.model.recorded_events import RecordedEvents
from flashscope.profiles.results.model.rows import PointRow, rows
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.traffic import ARBITER
from flashscope.profiles.store import Recorder, check_place
from flashscope.profiles.wire.events import PointChecked

KERNELS = (*LESSON, "torch-cudnn")
ON_A_GPU, ON_A_CPU = (4096, 8192), (256, 512)  # N
NO_GPU = "there is no GPU here"
SLACK = {"cuda": "the allocator rounds up", "cpu": "the allocator counts Python's own objects, too"}
STYLES = {"agrees": "green", "differs": "bold red", "not tested": "dim"}
HEADINGS = ("kernel", "N", "figure", "ours", "from", "theirs", "by", "ratio", "verdict")
SUSTAIN_S = 1.5  # back to back, for the energy
AMPERE = (8, 0)  # the first with bfloat16


class StoppedError(Exception):
    """A signal came; its number is the argument."""


def run(*, seqlens: tuple[int, ...] | None, out: Path | None, as_json: bool) -> int:
    """Measure, ask the other instruments, print what agrees.

    Args:
        seqlens: N; None: two that suit the device.
        out: A session file for what was measured, with what Nsight Compute says; None: nothing is kept.
        as_json: Print one JSON document.
    """
    if out is not None:
        check_place(out)
    with local_driver() as (driver, events):
        machine = find_machine(driver, events)
        if isinstance(machine, int):
            return SIGNALLED + machine
        sweep = SweepRun(driver, events)
        sweep.run(plan_for(machine, seqlens))
    if sweep.stopped_by is not None:
        return SIGNALLED + sweep.stopped_by
    if sweep.session is None:
        return FAILED
    counted: dict[int, InstrumentFigures] = {}
    try:
        made = checks_of(sweep.session, events, counted)
    except StoppedError as stopped:
        return SIGNALLED + int(stopped.args[0])
    (print_json if as_json else print_checks)(sweep.session, made)
    if out is not None:
        record_again(sweep.session, counted, out)
        tell(f"Saved as {pasteable(out)}")
    return FAILED if not made or any(one.verdict == "differs" for one in made) else 0


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


def checks_of(session: Session, events: Events, answers: dict[int, InstrumentFigures]) -> list[Check]:
    """Every point beside what the other instruments say.

    Args:
        session: What was measured.
        events: Where signals come from.
        answers: Takes what Nsight Compute says, by the points' indices.

    Raises:
        StoppedError: A signal came in the meantime.
    """
    on_gpu = session.backend == "cuda"

    def asked(row: PointRow, what: str) -> None:
        stop = next((one for one in iter_now(events) if isinstance(one, int)), None)
        if stop is not None:
            raise StoppedError(stop)
        tell(f"{row.kernel}  {place_words(row.problem)}: {what}")

    def counted(row: PointRow) -> InstrumentFigures:
        if not on_gpu:
            return NO_GPU
        asked(row, ARBITER)
        answer = answers[row.point.index] = counted_by_ncu(row.kernel, row.problem)
        return answer

    def timed(row: PointRow) -> list[float] | str:
        if not on_gpu:
            return NO_GPU
        asked(row, "PyTorch's profiler")
        return timed_by_torch(row.kernel, row.problem)

    return checks(rows(session), counted, timed)


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


def iter_now(events: Events) -> list[object]:
    """What has arrived until now."""
    return [events.get() for _ in range(events.qsize())]


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
