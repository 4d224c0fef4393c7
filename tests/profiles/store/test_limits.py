"""What is written can be read: both know the same limits."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from flashscope.kernels.workload.trace import Trace
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import (
    CorruptFileError,
    Recorder,
    SessionFileError,
    change,
    load,
    rows,
    statements,
    writer,
)
from flashscope.profiles.store.blobs.places import PLACES
from flashscope.profiles.store.records import PointRecord
from flashscope.profiles.store.schema import MAX_NOTE
from flashscope.profiles.wire.events import Event, PointFailed, SamplingStarted, TraceReady
from flashscope.profiles.wire.measurement import Figure, Sample
from tests.profiles.store import builders

LONG = "x" * 1_000_000
LONGER = LONG + "and the end"


def recorded(path: Path, *events: Event) -> Session:
    recorder = Recorder(path)
    for event in (builders.plan_started(), *events):
        recorder.record(event)
    recorder.close()
    return load(path)


def is_cut(text: str) -> bool:
    return len(text) == len(LONG) and text.startswith("xxx") and text.endswith("… [cut, 1000011 characters]")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.flashscope"


def test_a_reason_and_a_detail_that_are_too_long_are_cut_and_say_so(path: Path) -> None:
    failed = PointFailed(index=0, t_ns=1, status="failed", reason=LONGER, detail=LONGER)
    state = recorded(path, failed).points[0]
    assert is_cut(state.reason)
    assert is_cut(state.detail)


def test_texts_of_a_measurement_that_are_too_long_are_cut_and_say_so(path: Path) -> None:
    figures = {"peak_bytes": Figure(missing=LONGER), "input_bytes": Figure(value=1, source=LONGER)}
    samples = (Sample(1.0), Sample(2.0, LONGER))
    measurement = replace(builders.MEASUREMENT, note=LONGER, figures=figures, samples=samples)
    found = recorded(path, *builders.measured(0, 1, measurement)).points[0].measurement
    assert found is not None
    cut = (found.note, found.figures["peak_bytes"].missing, found.figures["input_bytes"].source)
    assert all(map(is_cut, (*cut, found.samples[1].rejected or "")))


def test_a_note_that_grows_too_long_by_a_remark_is_cut_and_says_so(path: Path) -> None:
    checked, done = builders.measured(0, 1, replace(builders.MEASUREMENT, note=LONG))
    remark = SamplingStarted(indices=(0,), t_ns=1, remark="alone")
    found = recorded(path, checked, remark, done).points[0].measurement
    assert found is not None
    assert found.note.endswith("… [cut, 1000008 characters]")


def test_a_text_as_long_as_it_may_be_is_kept_whole(path: Path) -> None:
    failed = PointFailed(index=0, t_ns=1, status="failed", reason=LONG, detail="")
    assert recorded(path, failed).points[0].reason == LONG


def test_a_note_as_long_as_it_may_be_is_kept_and_a_longer_one_refused(path: Path) -> None:
    recorded(path)
    change(path, "note", "n" * MAX_NOTE)
    with pytest.raises(SessionFileError, match=f"{MAX_NOTE} are allowed"):
        change(path, "note", "n" * (MAX_NOTE + 1))
    assert load(path).note == "n" * MAX_NOTE


def test_a_plan_that_no_file_can_hold_is_refused_at_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MAX_POINTS", 3)
    with pytest.raises(SessionFileError, match="more than 3 points"):
        recorded(path)
    assert not path.exists()


def test_a_problem_whose_description_no_file_can_hold_is_refused_at_once(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statements, "MAX_JSON", 10)
    monkeypatch.setattr(
        statements, "longest_texts", lambda kind: {"problem": 10} if kind is PointRecord else {}
    )
    with pytest.raises(SessionFileError, match="cannot hold a problem of"):
        recorded(path)
    assert not path.exists()


def test_what_a_full_file_cannot_hold_is_told_and_costs_nothing_that_is_in_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PLACES, Trace, PLACES[Trace]._replace(most=1))
    recorder = Recorder(path)
    recorder.record(builders.plan_started())
    recorder.record(TraceReady(trace=builders.trace()))
    with pytest.raises(SessionFileError, match="more traces: it has 1"):
        recorder.record(TraceReady(trace=builders.trace()))
    recorder.close()
    assert len(load(path).traces) == 1


MOST = 250_000  # bytes: three of the texts below, and not four


def test_a_file_grows_no_larger_than_one_that_is_opened(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "MAX_FILE_BYTES", MOST)
    recorder = Recorder(path)
    recorder.record(builders.plan_started())
    failed = [PointFailed(index=n, t_ns=1, status="failed", reason=LONG[:40_000]) for n in range(4)]
    for event in failed[:3]:
        recorder.record(event)
    with pytest.raises(SessionFileError, match="as large as a session may be"):
        recorder.record(failed[3])
    with pytest.raises(SessionFileError, match="as large as"):
        recorder.close()
    with closing(sqlite3.connect(path)) as connection:
        told = connection.execute("SELECT count(*) FROM points WHERE reason != ''").fetchone()
    assert told == (3,)
    assert path.stat().st_size <= MOST


def test_a_value_that_no_session_holds_is_told_by_its_column(path: Path) -> None:
    recorded(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE points SET predicted_bytes = -1 WHERE point = 1")
    with pytest.raises(CorruptFileError, match=r"at `points\.predicted_bytes`"):
        load(path)
