import dataclasses
import math
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernels.block_mask import BlockMask
from kernels.problem import Problem
from profiles.events import (
    Correctness,
    Event,
    Footprint,
    Measurement,
    PointFailed,
    PointMeasured,
    PointStarted,
    Reading,
    Readings,
    Sample,
)
from profiles.plan import Plan
from profiles.store import Recorder, SessionFileError, load
from profiles.store.schema import VERSION
from tests.profiles.store import builders

INT64 = st.integers(-(2**63), 2**63 - 1)
SIZES = st.integers(0, 2**63 - 1)
FIGURES = st.floats(allow_nan=True, allow_infinity=True).map(lambda x: x + 0.0)  # SQLite has no -0.0
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


def record_all(path: Path, events: list[Event]) -> None:
    recorder = Recorder(path)
    for event in events:
        recorder.record(event)
    recorder.close()


def as_text(value: object) -> str:
    """Equal for equal sessions, NaN included."""
    return repr(value)


def test_a_session_read_back_equals_the_one_in_memory(tmp_path: Path) -> None:
    events = list(builders.whole_sweep())
    record_all(tmp_path / "a.flashscope", events)
    assert load(tmp_path / "a.flashscope") == builders.reduced(iter(events))


def test_masks_and_grouped_heads_are_read_back_also_from_a_large_block_mask(tmp_path: Path) -> None:
    mask = BlockMask.random(128_000, 128_000, block_q=128, block_k=128, kept_share=0.1)
    problems = (
        Problem(seqlen_q=64, seqlen_k=96, heads=4, kv_heads=2, window=(16, -1), causal=True),
        Problem(seqlen_q=128_000, seqlen_k=128_000, block_mask=mask),
    )
    plan = Plan(backend="cpu", kernels=("flash2",), problems=problems)
    record_all(tmp_path / "a.flashscope", [builders.plan_started(plan)])
    assert load(tmp_path / "a.flashscope").plan == plan


def test_a_session_written_before_there_were_masks_is_read_as_one_without(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    record_all(path, list(builders.whole_sweep()))
    remove = "json_remove({0}, '$.kv_heads', '$.window', '$.block_mask')"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE points SET problem = {remove.format('problem')}")  # noqa: S608 - constants
        (text,) = connection.execute("SELECT plan FROM session").fetchone()
        plan = msgspec.json.decode(text)
        for problem in plan["problems"]:
            for name in ("kv_heads", "window", "block_mask"):
                del problem[name]
        connection.execute("UPDATE session SET plan = ?", (msgspec.json.encode(plan).decode(),))
    assert load(path) == builders.reduced(builders.whole_sweep())


def test_a_figure_that_is_not_a_number_is_read_back_as_such(tmp_path: Path) -> None:
    assert builders.MEASUREMENT.correctness is not None
    bad = msgspec.structs.replace(
        builders.MEASUREMENT.correctness, max_abs_error=math.nan, lse_error=math.inf
    )
    measured = msgspec.structs.replace(builders.MEASUREMENT, correctness=bad)
    failed = PointFailed(index=0, t_ns=2, status="wrong", reason="NaN", measurement=measured)
    record_all(tmp_path / "a.flashscope", [builders.plan_started(), failed])
    found = load(tmp_path / "a.flashscope").points[0].measurement
    assert found is not None
    assert found.correctness is not None
    assert math.isnan(found.correctness.max_abs_error)
    assert found.correctness.lse_error == math.inf


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
    huge = msgspec.structs.replace(builders.MEASUREMENT.footprint, workspace=2**63)
    measured = msgspec.structs.replace(builders.MEASUREMENT, footprint=huge)
    with pytest.raises(SessionFileError, match="64 bits"):
        recorder.record(PointMeasured(index=0, t_ns=1, measurement=measured))
    recorder.record(PointMeasured(index=1, t_ns=1, measurement=builders.MEASUREMENT))
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
def measurements(draw: st.DrawFn) -> Measurement:
    correctness = st.builds(
        Correctness,
        max_abs_error=FIGURES,
        bound=FIGURES,
        lse_error=st.none() | FIGURES,
        lse_bound=st.none() | FIGURES,
        rows=SIZES,
        passed=st.booleans(),
    )
    return Measurement(
        samples=tuple(draw(st.lists(st.builds(Sample, FIGURES, st.none() | TEXTS), max_size=5))),
        timer=draw(TEXTS),
        cold=draw(st.booleans()),
        prepare_ms=draw(st.none() | FIGURES),
        first_run_ms=draw(st.none() | FIGURES),
        footprint=draw(
            st.builds(
                Footprint,
                inputs=SIZES,
                outputs=SIZES,
                workspace=SIZES,
                peak=st.none() | SIZES,
                source=TEXTS,
                device_delta=st.none() | INT64,
            )
        ),
        correctness=draw(st.none() | correctness),
        note=draw(TEXTS),
    )


READINGS = st.builds(
    Reading,
    t_ns=INT64,
    memory_used=st.none() | SIZES,
    utilisation=st.none() | FIGURES,
    power_w=st.none() | FIGURES,
    temperature_c=st.none() | FIGURES,
    sm_clock_mhz=st.none() | FIGURES,
    memory_clock_mhz=st.none() | FIGURES,
    throttle=st.none() | st.lists(TEXTS, max_size=2).map(tuple),
)


@st.composite
def sweeps(draw: st.DrawFn) -> list[Event]:
    plan: Plan = builders.plan(seqlens=tuple(draw(st.sets(st.integers(1, 9), min_size=1, max_size=3))))
    events: list[Event] = [builders.plan_started(plan)]
    for point in plan.points():
        events.append(PointStarted(index=point.index, t_ns=draw(INT64)))
        events.append(Readings(readings=tuple(draw(st.lists(READINGS, max_size=3)))))
        measured, t_ns = draw(st.none() | measurements()), draw(INT64)
        if measured is not None and draw(st.booleans()):
            events.append(PointMeasured(index=point.index, t_ns=t_ns, measurement=measured))
        else:
            events.append(
                PointFailed(
                    index=point.index,
                    t_ns=t_ns,
                    status=draw(st.sampled_from(["wrong", "oom", "timeout", "failed", "cancelled"])),
                    reason=draw(TEXTS),
                    detail=draw(TEXTS),
                    measurement=measured,
                )
            )
    return events


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=sweeps())
def test_any_sweep_is_read_back_as_it_was_recorded(
    events: list[Event], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("sweep") / "a.flashscope"
    record_all(path, events)
    assert as_text(dataclasses.asdict(load(path))) == as_text(
        dataclasses.asdict(builders.reduced(iter(events)))
    )
