"""What is caused on purpose: killed writers, full disks, read-only folders, two writers."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from flashscope.profiles.store import (
    BusyFileError,
    Recorder,
    SessionFileError,
    TakenFileError,
    change,
    load,
    migrations,
    trash,
)
from flashscope.profiles.store.opening import check_editable
from flashscope.profiles.wire.events import Event, PointMeasured, PointStarted, SamplingStarted
from tests.matrix import chosen, on_demand
from tests.profiles.store import builders


@pytest.mark.matrix  # it takes a second
@on_demand("acknowledged", range(1, 400, 2), {1, 21})
def test_killing_the_writer_loses_no_acknowledged_point(tmp_path: Path, acknowledged: int) -> None:
    path = tmp_path / "a.flashscope"
    with subprocess.Popen(
        [sys.executable, "-m", "tests.profiles.store.writing_process", str(path), "5000"],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(acknowledged * 3)]
        process.kill()
        lines += process.stdout.readlines()
    seen = [line.split() for line in lines if line.endswith("\n")]
    left = {found.name: found.read_bytes() for found in tmp_path.iterdir()}
    points = load(path).points
    assert {found.name: found.read_bytes() for found in tmp_path.iterdir()} == left
    for word, index in seen:
        if word == "done":
            assert points[int(index)].status == "done"
            assert points[int(index)].measurement == builders.MEASUREMENT
    last_word, last = seen[-1]
    if last_word == "started":
        assert points[int(last)].status in {"interrupted", "done"}
    assert not any(state.status == "running" for state in points)


def test_a_file_read_while_it_is_written_is_never_misjudged(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    seen: list[int] = []
    with subprocess.Popen(
        [sys.executable, "-m", "tests.profiles.store.writing_process", str(path), "80"],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        for _ in process.stdout:  # a line for each of its writes: whoever only read would keep it waiting
            if process.poll() is None:
                seen += points_done(path)
    assert seen == sorted(seen)
    assert points_done(path) == [80]


def points_done(path: Path) -> list[int]:
    """How many points are done; nothing when a writer without a pause kept the reader waiting too long."""
    try:
        session = load(path)
    except BusyFileError:
        return []
    return [sum(state.status == "done" for state in session.points)]


def test_points_in_flight_are_running_while_their_writer_lives_and_interrupted_after(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.flashscope")
    recorder.record(builders.plan_started())
    recorder.record(PointStarted(index=0, t_ns=1))
    recorder.record(PointStarted(index=1, t_ns=2))
    recorder.record(SamplingStarted(indices=(0, 1), t_ns=3))
    assert [state.status for state in load(recorder.path).points[:3]] == ["running", "running", "pending"]
    recorder.close()
    for found in load(recorder.path).points[:2]:
        assert (found.status, found.sampling_ns) == ("interrupted", 3)
        assert "resume the sweep" in found.reason


def full_at(page: int) -> Callable[[sqlite3.Connection], None]:
    def migrate(connection: sqlite3.Connection) -> None:
        connection.execute(f"PRAGMA max_page_count = {page}")
        migrations.migrate(connection)

    return migrate


@pytest.mark.matrix  # it takes a second
@chosen("page", range(1, 26), {13})
def test_a_disk_that_fills_up_is_named_and_costs_nothing_acknowledged(
    tmp_path: Path, page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.flashscope"
    monkeypatch.setattr("flashscope.profiles.store.writer.migrate", full_at(page))
    recorder = Recorder(path)
    events = events_of_a_long_sweep()
    refusals = [refusal(recorder, event) for event in events]
    assert any(refusals)
    assert all("disk is full" in text for text in refusals if text)
    if refusals[0]:
        assert not path.exists()
        return
    points = load(path).points
    for event, refused in zip(events, refusals, strict=True):
        if isinstance(event, PointMeasured) and not refused:
            assert points[event.index].status == "done"


def refusal(recorder: Recorder, event: Event) -> str:
    try:
        recorder.record(event)
    except SessionFileError as error:
        return str(error)
    return ""


def record_all(recorder: Recorder, events: Iterable[Event]) -> None:
    for event in events:
        recorder.record(event)


def events_of_a_long_sweep() -> list[Event]:
    plan = builders.plan(seqlens=tuple(range(1, 41)), kernels=("flash2",))
    events: list[Event] = [builders.plan_started(plan)]
    for point in plan.points():
        many = builders.MEASUREMENT.samples * 100
        measured = builders.measurement(samples=many)
        events.append(PointStarted(index=point.index, t_ns=1))
        events += builders.measured(point.index, 1, measured)
    return events


def test_what_a_full_disk_refused_is_written_once_there_is_room(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.flashscope")
    recorder.record(builders.plan_started())
    assert recorder._connection is not None
    recorder._connection.execute("PRAGMA max_page_count = 1")
    measured = builders.measurement(samples=builders.MEASUREMENT.samples * 500)
    with pytest.raises(SessionFileError, match="disk is full"):
        record_all(recorder, builders.measured(0, 1, measured))
    recorder._connection.execute("PRAGMA max_page_count = 10000")
    recorder.record(PointStarted(index=1, t_ns=2))
    recorder.close()
    assert load(recorder.path).points[0].measurement == measured


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(SessionFileError, match="Permission denied"):
        Recorder(tmp_path / "a.flashscope").record(builders.plan_started())


def test_asking_whether_a_file_can_be_written_changes_none(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    before = path.read_bytes(), path.stat().st_mtime_ns
    check_editable(path)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_is_read_only_is_refused_before_anything_is_to_be_kept_in_it(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    check_editable(path)
    path.chmod(0o400)
    with pytest.raises(SessionFileError, match="read-only"):
        check_editable(path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SessionFileError, match="cannot be used"):
        Recorder(tmp_path / "file" / "a.flashscope").record(builders.plan_started())


def test_a_second_writer_is_refused_and_told_who_the_first_is(tmp_path: Path) -> None:
    first = Recorder(tmp_path / "a.flashscope")
    first.record(builders.plan_started())
    with pytest.raises(TakenFileError, match=f"process {os.getpid()}"):
        Recorder(first.path).record(builders.plan_started())
    first.close()


def test_reading_in_the_recorders_own_process_leaves_its_lock_in_place(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.flashscope")
    recorder.record(builders.plan_started())
    load(recorder.path)
    script = "import pathlib, sys; from flashscope.profiles.store.opening import being_written as b; "
    script += "sys.exit(0 if b(pathlib.Path(sys.argv[1])) else 7)"
    seen = subprocess.run([sys.executable, "-c", script, str(recorder.path)], check=False)
    recorder.close()
    assert seen.returncode == 0


def test_a_finished_file_is_not_written_over(tmp_path: Path) -> None:
    first = Recorder(tmp_path / "a.flashscope")
    first.record(builders.plan_started())
    first.close()
    before = first.path.read_bytes()
    with pytest.raises(SessionFileError, match="exists already"):
        Recorder(first.path).record(builders.plan_started())
    assert first.path.read_bytes() == before


def test_a_second_plan_needs_a_second_file(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "a.flashscope")
    recorder.record(builders.plan_started())
    with pytest.raises(SessionFileError, match="file of its own"):
        recorder.record(builders.plan_started())
    recorder.close()


@pytest.mark.parametrize("change", [lambda path: change(path, "name", "x"), trash], ids=["rename", "trash"])
def test_a_file_being_recorded_is_neither_renamed_nor_deleted(
    tmp_path: Path, change: Callable[[Path], object]
) -> None:
    recorder = Recorder(tmp_path / "a.flashscope")
    recorder.record(builders.plan_started())
    with pytest.raises(BusyFileError, match="being recorded"):
        change(recorder.path)
    for event in builders.measured(0, 1):
        recorder.record(event)
    recorder.close()
    assert load(recorder.path).points[0].status == "done"
