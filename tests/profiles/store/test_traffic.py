"""The traffic curve of a point in its file: whole, small, digested, and absent in files from before."""

import sqlite3
from contextlib import closing
from pathlib import Path

from flashscope.profiles.results.model.recorded_events import RecordedEvents
from flashscope.profiles.store import Recorder, load
from flashscope.profiles.store.schema import MAX_TRAFFIC
from flashscope.profiles.wire.events import (
    Event,
    PlanFinished,
    PointChecked,
    PointMeasured,
    PointStarted,
    SamplingStarted,
)
from flashscope.profiles.wire.traffic import MOST_BINS, Traffic
from tests.profiles.store import builders

LARGEST = Traffic(bin_ns=10_000, run_ns=20_000_000, bins=((99_999_999, 99_999_999),) * MOST_BINS)


def recorded(path: Path) -> Path:
    checked = PointChecked(index=0, t_ns=2_000, measurement=builders.measurement(()), free_bytes=1)
    ended = PointMeasured(index=0, t_ns=3_000, samples=builders.MEASUREMENT.samples, traffic=LARGEST)
    events: list[Event] = [
        builders.plan_started(builders.plan((256,), ("flash2",))),
        PointStarted(index=0, t_ns=1_500),
        checked,
        SamplingStarted(indices=(0,), t_ns=2_000),
        ended,
        PlanFinished(t_ns=4_000, outcome="finished"),
    ]
    recorder = Recorder(path)
    for event in events:
        recorder.record(event)
    recorder.close()
    return path


def test_the_largest_curve_is_read_back_whole_and_takes_less_than_its_place(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.flashscope")
    measured = load(path).points[0].measurement
    assert measured is not None
    assert measured.traffic == LARGEST
    with closing(sqlite3.connect(path)) as connection:
        (taken,) = connection.execute("SELECT length(curve) FROM traffic").fetchone()
    assert taken < MAX_TRAFFIC


def test_a_curve_that_is_another_than_was_written_is_told(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.flashscope")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE traffic SET curve = replace(curve, '99999999', '11111111')")
    assert load(path).points[0].status == "altered"


def test_a_replay_has_the_curve_when_its_point_has_ended_and_not_before(tmp_path: Path) -> None:
    session = load(recorded(tmp_path / "a.flashscope"))
    tape = RecordedEvents(session)
    before, after = (tape.at(t_ns).points[0].measurement for t_ns in (2_000, 3_000))
    assert before is not None
    assert before.traffic is None
    assert after is not None
    assert after.traffic == LARGEST
