import dataclasses
import math
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from flashscope.kernels.workload.audit import ModelAudit
from flashscope.kernels.workload.backward_trace import BackwardTrace
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.landscape import CutLandscape
from flashscope.kernels.workload.problem import PASSES, Problem
from flashscope.kernels.workload.stalls import StallProfile
from flashscope.kernels.workload.timeline import StageTimeline
from flashscope.kernels.workload.trace import Array, Trace
from flashscope.profiles.plan.plan import Plan
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import Recorder, SessionFileError, load
from flashscope.profiles.store.points import LEAST_MS, MOST_MS
from flashscope.profiles.store.schema import VERSION
from flashscope.profiles.wire.events import (
    Event,
    PlanFinished,
    PlanStarted,
    PointChecked,
    PointFailed,
    PointMeasured,
    PointStarted,
    Readings,
    SamplingStarted,
    TelemetryStarted,
    TraceReady,
)
from flashscope.profiles.wire.measurement import Correctness, Figure, Measurement, OutputError, Sample
from flashscope.profiles.wire.ranks import RanksEnded, RanksError, RanksResult
from tests.matrix import in_rounds
from tests.profiles import rank_results
from tests.profiles.sessions import session_of
from tests.profiles.store import builders
from tests.strategies import POSSIBLE, TEXTS, Drawn

SIZES = st.integers(0, 2**63 - 1)
LATER = (
    *("kv_heads", "window", "block_mask", "pass", "query_lengths", "key_lengths", "page_size"),
    *("deterministic", "softcap", "sinks", "alibi", "head_dim_v"),
)
FIGURES = st.floats(allow_nan=True, allow_infinity=True).map(lambda x: x + 0.0)  # SQLite has no -0.0


def record_all(path: Path, events: list[Event]) -> None:
    recorder = Recorder(path)
    for event in events:
        recorder.record(event)
    recorder.close()


def as_text(session: Session) -> str:
    """Equal for equal sessions, NaN included; figures are in the order of their keys."""
    for measured in (state.measurement for state in session.points if state.measurement is not None):
        ordered = sorted(measured.figures.items())
        measured.figures.clear()
        measured.figures.update(ordered)
    return repr(dataclasses.asdict(session))


def test_a_session_read_back_equals_the_one_in_memory(tmp_path: Path) -> None:
    events = list(builders.whole_sweep())
    record_all(tmp_path / "a.flashscope", events)
    assert load(tmp_path / "a.flashscope") == session_of(events)


def test_masks_and_grouped_heads_are_read_back_also_from_a_large_block_mask(tmp_path: Path) -> None:
    mask = BlockMask.random(128_000, 128_000, block_q=128, block_k=128, kept_share=0.1)
    problems = (
        Problem(seqlen_q=64, seqlen_k=96, heads=4, kv_heads=2, window=(16, -1), causal=True),
        Problem(seqlen_q=128_000, seqlen_k=128_000, block_mask=mask),
    )
    plan = Plan(backend="cpu", kernels=("flash2",), problems=problems)
    record_all(tmp_path / "a.flashscope", [builders.plan_started(plan)])
    assert load(tmp_path / "a.flashscope").plan == plan


def test_passes_and_the_errors_of_gradients_are_read_back(tmp_path: Path) -> None:
    problems = tuple(
        Problem(seqlen_q=64, seqlen_k=64, passes=passes, deterministic=passes == "both") for passes in PASSES
    )
    plan = Plan(backend="cpu", kernels=("flash2",), problems=problems)
    errors = (OutputError(output="dK of a row", error=0.5, bound=1.0, place=(0, 1, 2)),)
    right = Correctness(outputs=errors, rows=64, passed=True)
    measured = msgspec.structs.replace(builders.MEASUREMENT, correctness=right, samples=())
    events: list[Event] = [builders.plan_started(plan)]
    events.append(PointChecked(index=1, t_ns=1, measurement=measured, free_bytes=0))
    record_all(tmp_path / "a.flashscope", events)
    found = load(tmp_path / "a.flashscope")
    assert found.plan == plan
    assert [state.point.problem.passes for state in found.cells] == list(PASSES)
    assert found.points[1].measurement is not None
    assert found.points[1].measurement.correctness == right


def test_lengths_and_pages_are_read_back(tmp_path: Path) -> None:
    problem = Problem(
        seqlen_q=3, seqlen_k=64, batch=2, query_lengths=(3, 0), key_lengths=(64, 17), page_size=16
    )
    plan = Plan(backend="cpu", kernels=("flash2",), problems=(problem,))
    record_all(tmp_path / "a.flashscope", [builders.plan_started(plan)])
    found = load(tmp_path / "a.flashscope")
    assert found.plan == plan
    assert [state.point.problem for state in found.cells] == [problem]


def test_a_file_of_a_pass_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    record_all(path, [builders.plan_started()])
    with closing(sqlite3.connect(path)) as connection, connection:
        for table, column in (("session", "plan"), ("points", "problem")):
            known, other = '"pass":"forward"', '"pass":"sideways"'
            connection.execute(f"UPDATE {table} SET {column} = replace({column}, ?, ?)", (known, other))  # noqa: S608 - constants
    with pytest.raises(SessionFileError, match="sideways"):
        load(path)


def test_a_session_written_before_there_were_masks_passes_or_lengths_is_read_as_one_without(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.flashscope"
    record_all(path, list(builders.whole_sweep()))
    remove = f"json_remove({{0}}, {', '.join(repr(f'$.{name}') for name in LATER)})"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE points SET problem = {remove.format('problem')}, digest = ''")  # noqa: S608 - constants
        (text,) = connection.execute("SELECT plan FROM session").fetchone()
        plan = msgspec.json.decode(text)
        for problem in plan["problems"]:
            for name in LATER:
                del problem[name]
        connection.execute("UPDATE session SET plan = ?", (msgspec.json.encode(plan).decode(),))
    expected = session_of(builders.whole_sweep())
    for state in expected.points:
        state.altered = None
    assert load(path) == expected


def test_a_figure_that_is_not_a_number_is_read_back_as_such(tmp_path: Path) -> None:
    assert builders.MEASUREMENT.correctness is not None
    errors = (
        OutputError(output="O", error=math.nan, bound=1.0),
        OutputError(output="LSE", error=math.inf, bound=1.0),
    )
    bad = msgspec.structs.replace(builders.MEASUREMENT.correctness, outputs=errors)
    measured = msgspec.structs.replace(builders.MEASUREMENT, correctness=bad)
    failed = PointFailed(index=0, t_ns=2, status="wrong", reason="NaN", measurement=measured)
    record_all(tmp_path / "a.flashscope", [builders.plan_started(), failed])
    found = load(tmp_path / "a.flashscope").points[0].measurement
    assert found is not None
    assert found.correctness is not None
    output, lse = found.correctness.outputs
    assert math.isnan(output.error)
    assert lse.error == math.inf


def test_the_file_says_what_it_is(tmp_path: Path) -> None:
    record_all(tmp_path / "a.flashscope", [builders.plan_started()])
    header = (tmp_path / "a.flashscope").read_bytes()[:100]
    assert header.startswith(b"SQLite format 3\0")
    assert int.from_bytes(header[60:64], "big") == VERSION
    assert header[68:72] == b"FSCP"
    assert header[18:20] == b"\x01\x01"  # rollback journal


def test_a_figure_beyond_64_bits_is_refused_and_the_rest_still_recorded(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.flashscope")
    recorder.record(builders.plan_started())
    huge = {**builders.MEASUREMENT.figures, "workspace_bytes": Figure(value=2**63)}
    measured = msgspec.structs.replace(builders.MEASUREMENT, figures=huge)
    checked, _ = builders.measured(0, 1, measured)
    with pytest.raises(SessionFileError, match="64 bits"):
        recorder.record(checked)
    for event in builders.measured(1, 1):
        recorder.record(event)
    recorder.close()
    assert [s.status for s in load(recorder.path).points[:2]] == ["pending", "done"]


def test_readings_wait_no_longer_than_a_second_of_telemetry(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.flashscope")
    recorder.record(builders.plan_started())
    recorder.record(builders.readings(10_000_000_000))
    recorder.record(builders.readings(10_900_000_000))
    assert load(recorder.path).readings == []
    recorder.record(builders.readings(11_000_000_000))
    assert len(load(recorder.path).readings) == 3
    recorder.close()


def test_readings_are_written_with_every_point(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.flashscope")
    recorder.record(builders.plan_started())
    recorder.record(builders.readings(1, 2))
    recorder.record(PointStarted(index=0, t_ns=3))
    assert len(load(recorder.path).readings) == 2
    recorder.close()


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    """Traces of one tile, with any bytes in their arrays that are numbers."""
    known = builders.trace()
    arrays = {name: one for name, one in msgspec.structs.asdict(known).items() if isinstance(one, Array)}
    drawn = {
        name: Array(one.dtype, one.shape, draw(st.binary(min_size=len(one.data), max_size=len(one.data))))
        for name, one in arrays.items()
        if name != "tile"
    }
    order, reverse = draw(st.sampled_from(["flash1", "flash2"])), draw(st.booleans())
    request = msgspec.structs.replace(known.request, order=order, reverse=reverse)
    words = {name: draw(TEXTS) for name in ("device", "source")}
    return msgspec.structs.replace(known, request=request, **drawn, **words)


@st.composite
def timelines(draw: st.DrawFn) -> StageTimeline:
    """Timelines whose clocks are in order, with any words and numbers beside them."""
    known = builders.timeline()
    moments = np.sort(draw(st.lists(st.integers(0, known.span_ns), min_size=6, max_size=6)))
    begin = Array.of(np.append(moments[0::2], moments[0]))
    end = Array.of(np.append(moments[1::2], moments[5]))
    rounds = Array.of(np.array(draw(st.lists(st.integers(0, 1 << 40), min_size=2, max_size=2)), np.int64))
    words = {name: draw(TEXTS) for name in ("device", "source", "build")}
    return msgspec.structs.replace(known, begin=begin, end=end, clocked_ns=rounds, plain_ns=rounds, **words)


@st.composite
def profiles(draw: st.DrawFn) -> StallProfile:
    """Stall profiles of any samples, with any words beside them."""
    known = builders.stalls()
    counts = draw(st.lists(st.integers(0, 1 << 20), min_size=9, max_size=9))
    samples = np.array(counts, np.int32).reshape(3, 3)
    words = {name: draw(TEXTS) for name in ("device", "sampler", "build", "file", "source", "entry")}
    share = draw(st.integers(0, 3))
    idle = Array.of((samples.sum(axis=1) * share // 3).astype(np.int32))
    return msgspec.structs.replace(known, samples=Array.of(samples), idle=idle, **words)


@st.composite
def landscapes(draw: st.DrawFn) -> CutLandscape:
    """Landscapes with any times and words."""
    known = builders.landscape()
    times = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=4).map(tuple)
    cells = [
        msgspec.structs.replace(cell, first_ms=draw(times), anew_ms=draw(st.just(()) | times))
        if cell.first_ms
        else msgspec.structs.replace(cell, refused=(draw(TEXTS),))
        for cell in known.cells
    ]
    words = {name: draw(TEXTS) for name in ("timer", "build")}
    return msgspec.structs.replace(known, cells=tuple(cells), **words)


@st.composite
def audits(draw: st.DrawFn) -> ModelAudit:
    """Audits with any times and words."""
    known = builders.audit()
    times = st.lists(st.floats(0, 1e6), min_size=1, max_size=4).map(tuple)
    calls = [
        msgspec.structs.replace(call, took_ms=draw(times), why_not=(draw(TEXTS),)) for call in known.calls
    ]
    words = {name: draw(TEXTS) for name in ("model", "architecture", "implementation", "weights", "dtype")}
    return msgspec.structs.replace(known, calls=tuple(calls), notes=(draw(TEXTS),), **words)


@st.composite
def backward_traces(draw: st.DrawFn) -> BackwardTrace:
    """Traces of one tile, with dQ in it or in a launch of its own, and any bytes that are numbers."""

    def filled(held: Any) -> Any:
        arrays = {name: one for name, one in msgspec.structs.asdict(held).items() if isinstance(one, Array)}
        drawn = {
            name: Array(one.dtype, one.shape, draw(st.binary(min_size=len(one.data), max_size=len(one.data))))
            for name, one in arrays.items()
            if name != "tile"
        }
        return msgspec.structs.replace(held, **drawn)

    known: BackwardTrace = filled(builders.backward_trace(apart=draw(st.booleans())))
    if known.dq_pass is not None:
        known = msgspec.structs.replace(known, dq_pass=filled(known.dq_pass))
    return msgspec.structs.replace(known, **{name: draw(TEXTS) for name in ("device", "source")})


@st.composite
def ranks_results(draw: st.DrawFn) -> RanksResult:
    """Results of ranks with any times and words, and with passes or a reason why there is none."""
    times = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=4).map(tuple)
    errors = (RanksError(output=draw(TEXTS), error=draw(st.none() | st.floats(0, 1)), bound=1.0),)
    one = rank_results.measured(ms=draw(times), alone_ms=draw(times), errors=errors)
    words: dict[str, Any] = {name: draw(TEXTS) for name in ("detail", "device", "kernel", "timer")}
    passes = draw(st.sampled_from([(), (one,), (one, msgspec.structs.replace(one, passes="backward"))]))
    ended = RanksEnded(reason=draw(TEXTS) if passes else "It is too large.", **words)
    return RanksResult(rank_results.result().asked, passes, ended)


def right(error: OutputError) -> OutputError:
    return error if error.passed else msgspec.structs.replace(error, error=0.0, bound=0.0)


TIMES = st.floats(LEAST_MS, MOST_MS)
OF_ERRORS: dict[tuple[type[msgspec.Struct], str], st.SearchStrategy[Any]] = {
    (OutputError, name): FIGURES.map(abs) for name in ("error", "bound")
}
RECORDED = {
    Trace: traces(),
    StageTimeline: timelines(),
    StallProfile: profiles(),
    CutLandscape: landscapes(),
    ModelAudit: audits(),
    BackwardTrace: backward_traces(),
    RanksResult: ranks_results(),
}
ANY = Drawn(
    {**POSSIBLE, int: SIZES, float: FIGURES, **RECORDED},
    {(Sample, "ms"): TIMES, **OF_ERRORS},
)
RIGHT = ANY.struct(
    Correctness, passed=st.just(True), outputs=st.lists(ANY.of(OutputError).map(right), max_size=3).map(tuple)
)
COLUMNS = Drawn(
    {**ANY.hints, Correctness: RIGHT},
    {**ANY.fields, (PointMeasured, "samples"): st.lists(ANY.of(Sample), min_size=1, max_size=3).map(tuple)},
)
TEXT = Drawn({**COLUMNS.hints, float: st.floats(allow_nan=False, allow_infinity=False)})  # JSON has no NaN


def ends_well(index: st.SearchStrategy[int]) -> st.SearchStrategy[tuple[Event, ...]]:
    return st.tuples(checked(index), sampling(index), COLUMNS.struct(PointMeasured, index=index))


def fails_in_turns(index: st.SearchStrategy[int]) -> st.SearchStrategy[tuple[Event, ...]]:
    failed = COLUMNS.struct(PointFailed, index=index, measurement=st.none())
    return st.tuples(checked(index), sampling(index), failed)


def fails_at_once(index: st.SearchStrategy[int]) -> st.SearchStrategy[tuple[Event, ...]]:
    return st.tuples(COLUMNS.struct(PointFailed, index=index))


def checked(index: st.SearchStrategy[int]) -> st.SearchStrategy[Event]:
    tried = COLUMNS.struct(Measurement, samples=st.just(()))
    return COLUMNS.struct(PointChecked, index=index, measurement=tried)


def sampling(index: st.SearchStrategy[int]) -> st.SearchStrategy[Event]:
    return COLUMNS.struct(SamplingStarted, indices=st.tuples(index))


@st.composite
def sweeps(draw: st.DrawFn) -> list[Event]:
    """Events of a whole sweep, every field of each of them drawn."""
    plan: Plan = builders.plan(seqlens=tuple(draw(st.sets(st.integers(1, 9), min_size=1, max_size=3))))
    plan = draw(TEXT.struct(Plan, **{name: st.just(getattr(plan, name)) for name in ("kernels", "problems")}))
    count = len(plan.points())
    started = TEXT.struct(
        PlanStarted,
        plan=st.just(plan),
        started_at=st.datetimes().map(datetime.isoformat),
        predicted_bytes=st.lists(SIZES, min_size=count, max_size=count).map(tuple),
    )
    events: list[Event] = [draw(started)]
    for index in map(st.just, range(count)):
        events.append(draw(COLUMNS.struct(PointStarted, index=index)))
        events.append(draw(COLUMNS.struct(Readings)))
        events += draw(st.one_of(ends_well(index), fails_in_turns(index), fails_at_once(index)))
    last = (TEXT.struct(TelemetryStarted), COLUMNS.struct(TraceReady), COLUMNS.struct(PlanFinished))
    return [*events, *map(draw, last)]


NOT_SHRUNK = [Phase.reuse, Phase.generate]  # making a whole sweep smaller takes longer than reading it


@in_rounds(4)
@settings(max_examples=6, deadline=None, phases=NOT_SHRUNK, suppress_health_check=list(HealthCheck))
@given(events=sweeps())
def test_any_sweep_is_read_back_as_it_was_recorded(
    turn: int, events: list[Event], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("sweep") / "a.flashscope"
    record_all(path, events)
    assert as_text(load(path)) == as_text(session_of(events))
