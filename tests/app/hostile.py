"""A session file whose every text is one of a test's choosing."""

from collections.abc import Mapping
from itertools import product
from pathlib import Path
from textwrap import fill

from msgspec.structs import replace

from flashscope.kernels.cuda.reading.cards import CARDS
from flashscope.kernels.workload.audit import ModelAudit
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.cut import Cut
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.landscape import CutLandscape, CutOutcome
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.timeline import StageTimeline
from flashscope.kernels.workload.trace import Trace
from flashscope.profiles.plan.machine import Machine, ProbeFinding
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.store import Recorder, change
from flashscope.profiles.wire.events import (
    AuditReady,
    Event,
    LandscapeReady,
    PlanFinished,
    PointFailed,
    PointStarted,
    RanksReady,
    Reading,
    Readings,
    TelemetryStarted,
    TimelineReady,
    TraceReady,
)
from flashscope.profiles.wire.measurement import Figure
from flashscope.profiles.wire.ranks import RanksEnded, RanksError, RanksResult
from tests.app.fakes import CPU, SECOND, measurement, plan_started
from tests.app.stepper.builders import random_trace
from tests.app.timelines import made_timeline
from tests.profiles.rank_results import measured, result
from tests.profiles.sessions import ends_well
from tests.profiles.store import builders


def hostile_plan(text: str) -> Plan:
    """Two kernels of hostile names, on problems with and without a mask of a hostile name."""
    problems = tuple(
        Problem(seqlen_q=n, seqlen_k=n, heads=2, block_mask=hostile_mask(text, n // 4) if masked else None)
        for masked, n in product((False, True), (256, 512))
    )
    return Plan(backend="cpu", kernels=(text, f"{text} too", "standard"), problems=problems)


def hostile_machine(text: str) -> Machine:
    """A machine whose every text is hostile."""
    device: Device = replace(CPU, name=text, uuid=text)
    return Machine(
        system=text,
        python=text,
        devices=(device,),
        driver=text,
        cuda=text,
        packages={text: text},
        findings=(ProbeFinding(name=text, ok=False, detail=text, remedy=fill(text, 40)),),
    )


def hostile_events(text: str) -> list[Event]:
    """A sweep in which the first point is done and the others failed, each for a hostile reason."""
    plan = hostile_plan(text)
    measured = measurement(2.0, 4096)
    figures: Mapping[str, Figure] = {
        **measured.figures,
        "dram_bytes": Figure(missing=text),
        text[:200]: Figure(value=1.0, source=text),
    }
    told: list[Event] = [
        plan_started(plan, hostile_machine(text)),
        TelemetryStarted(
            source=text, device=text, memory_total=1 << 34, missing={"power_w": text, "sm_clock_mhz": text}
        ),
    ]
    for point in plan.points():
        t_ns = (point.index + 1) * SECOND
        told += [PointStarted(index=point.index, t_ns=t_ns), _reading(t_ns, text)]
        if point.index % 2:
            told.append(PointFailed(index=point.index, t_ns=t_ns, status="failed", reason=text))
        else:
            hostile = replace(measured, figures=dict(figures), timer=text, note=text)
            told += ends_well(point.index, t_ns, hostile)
    recorded: list[Event] = [
        TraceReady(trace=hostile_trace(text)),
        TimelineReady(timeline=hostile_timeline(text)),
        LandscapeReady(landscape=hostile_landscape(text)),
        AuditReady(audit=hostile_audit(text)),
        *(RanksReady(result=one) for one in hostile_ranks(text)),
    ]
    return [*told, *recorded, PlanFinished(t_ns=20 * SECOND, outcome="finished")]


def hostile_timeline(text: str) -> StageTimeline:
    """A small timeline of so many rows that they scroll, whose device and lanes have hostile names."""
    timeline = made_timeline(seqlen=256, rows=200, row_kind="SM")
    return replace(timeline, device=text, source=text, build=text, lanes=(text,))


def hostile_landscape(text: str) -> CutLandscape:
    """Two cuts of flash2, one of which does not run for a hostile reason, from a device of a hostile name."""
    own = Cut(kernel="flash2", groups=4, subtiles=2)
    return CutLandscape(
        problem=Problem(heads=16, seqlen_q=4096, seqlen_k=4096, dtype="bfloat16"),
        rows="groups",
        device=replace(CARDS[0].device, name=text),
        timer=text,
        build=text,
        shipped=own,
        cells=(
            CutOutcome(cut=own, first_ms=(1.0,), anew_ms=(1.0,)),
            CutOutcome(cut=replace(own, block_k=32), refused=(text,)),
        ),
    )


def hostile_audit(text: str) -> ModelAudit:
    """An audit whose model, layers, operators and reasons have hostile names."""
    known = builders.audit()
    calls = tuple(
        replace(call, layers=(text, text), operators=(text,), why_not=(text,)) for call in known.calls
    )
    own, other = known.steps
    words = dict.fromkeys(("model", "architecture", "implementation", "weights", "dtype"), text)
    steps = own, replace(other, implementation=text, refused=text)
    return replace(known, calls=calls, steps=steps, unseen=(text,), notes=(text,), **words)


def hostile_ranks(text: str) -> tuple[RanksResult, ...]:
    """Ranks on a hostile device, with none beside them for a hostile reason; and none at all."""
    error = RanksError(output=text, error=0.1, bound=0.2)
    one = measured(alone_ms=(), alone_missing=text, errors=(error,))
    known = result(one)
    told = replace(known.ended, device=text, kernel=text, timer=text)
    refused = replace(known, passes=(), ended=RanksEnded(reason=text, detail=text))
    return replace(known, ended=told), refused


def hostile_trace(text: str) -> Trace:
    """A small trace that was recorded on a device of a hostile name."""
    traced = random_trace()
    problem = replace(traced.request.problem, block_mask=hostile_mask(text, 8))
    return replace(traced, request=replace(traced.request, problem=problem), device=text, source=text)


def hostile_mask(text: str, block: int) -> BlockMask:
    """Everything kept, by a pattern of a hostile name."""
    return BlockMask(block_q=block, block_k=block, shape=(4, 4), kept=bytes([1] * 16), pattern=text)


def hostile_file(path: Path, text: str) -> Path:
    """A session file of these texts, with a hostile name and note."""
    recorder = Recorder(path)
    for event in hostile_events(text):
        recorder.record(event)
    recorder.close()
    change(path, "name", text[:200])
    change(path, "note", text[:10_000])
    return path


def _reading(t_ns: int, text: str) -> Event:
    return Readings(readings=(Reading(t_ns=t_ns, memory_used=1 << 32, utilisation=50.0, throttle=(text,)),))
