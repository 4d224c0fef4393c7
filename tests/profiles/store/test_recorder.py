"""The recorder keeps what it is told, whatever happens to the disk, the file and its name."""

import os
import sqlite3
from pathlib import Path

import pytest
from msgspec.structs import replace

from flashscope.profiles.store import (
    MovedFileError,
    Recorder,
    SessionFileError,
    TakenFileError,
    load,
    migrations,
    opening,
    writer,
)
from flashscope.profiles.store.rows import write_event
from flashscope.profiles.wire.events import Event, PlanFinished, PointFailed, PointStarted
from tests.profiles.store import builders

PLAN = builders.plan(seqlens=tuple(range(1, 11)), kernels=("flash2",))

LARGE = builders.measurement(samples=builders.MEASUREMENT.samples * 100)


def events() -> list[Event]:
    """A sweep of ten points, each large enough to need room of its own."""
    every: list[Event] = [builders.plan_started(PLAN)]
    for point in PLAN.points():
        every.append(PointStarted(index=point.index, t_ns=1))
        every += builders.measured(point.index, 1, LARGE)
    return [*every, PlanFinished(t_ns=9, outcome="finished")]


class Disk:
    """The disk under recorders, which can be full."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full = False
        self._connections: list[sqlite3.Connection] = []
        self._connect = opening.connect
        monkeypatch.setattr(writer, "connect", self._connected)
        monkeypatch.setattr(writer, "migrate", self._migrated)

    def fill(self, *, full: bool) -> None:
        """No file can grow from now on, or each again."""
        self.full = full
        for connection in self._connections:
            self._bound(connection)

    def _connected(self, path: Path, mode: str) -> sqlite3.Connection:
        connection = self._connect(path, mode)
        self._connections.append(connection)
        self._bound(connection)
        return connection

    def _migrated(self, connection: sqlite3.Connection) -> None:
        self._bound(connection)  # the recorder has set a bound of its own
        migrations.migrate(connection)

    def _bound(self, connection: sqlite3.Connection) -> None:
        try:
            connection.execute(f"PRAGMA max_page_count = {1 if self.full else 100_000}")
        except sqlite3.ProgrammingError:  # it is closed
            self._connections.remove(connection)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def refusal(recorder: Recorder, event: Event) -> str:
    try:
        recorder.record(event)
    except SessionFileError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("nth", [1, 2, 4, 5, 7, 8, 10, 11])  # a check, every third event, needs no room
def test_a_disk_that_is_full_at_every_nth_event_costs_nothing(tmp_path: Path, disk: Disk, nth: int) -> None:
    recorder = Recorder(tmp_path / "a.flashscope")
    refusals = []
    for number, event in enumerate(events(), 1):
        disk.fill(full=number % nth == 0)
        refusals.append(refusal(recorder, event))
    disk.fill(full=False)
    recorder.close()
    assert any(refusals)
    assert all("disk is full" in text for text in refusals if text)
    session = load(recorder.path)
    assert session.outcome == "finished"
    assert {state.status for state in session.points} == {"done"}


@pytest.mark.parametrize("nth", range(1, 32, 5))
def test_a_disk_that_is_full_from_the_nth_event_on_leaves_a_valid_file_and_is_told_at_the_end(
    tmp_path: Path, disk: Disk, nth: int
) -> None:
    recorder = Recorder(tmp_path / "a.flashscope")
    acknowledged: list[Event] = []
    for number, event in enumerate(events(), 1):
        disk.fill(full=number >= nth)
        if not refusal(recorder, event):
            acknowledged.append(event)
    with pytest.raises(SessionFileError, match="disk is full"):
        recorder.close()
    assert recorder.created is recorder.path.exists() is (nth > 1)
    if recorder.created:
        statuses = [state.status for state in load(recorder.path).points]
        started = sum(isinstance(event, PointStarted) for event in acknowledged)
        assert statuses[: started - 1] == ["done"] * (started - 1)


def test_a_name_that_is_taken_gets_a_number(tmp_path: Path) -> None:
    wanted = tmp_path / "a.flashscope"
    wanted.write_text("mine")
    recorders = [Recorder(wanted, numbered=True) for _ in range(3)]
    for recorder in recorders:
        recorder.record(builders.plan_started())
        recorder.close()
    assert [recorder.path.name for recorder in recorders] == [f"a-{n}.flashscope" for n in (2, 3, 4)]
    assert wanted.read_text() == "mine"


def test_a_name_that_was_chosen_is_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    path.write_text("mine")
    with pytest.raises(TakenFileError, match="exists already"):
        Recorder(path).record(builders.plan_started())
    assert path.read_text() == "mine"


@pytest.mark.parametrize("replaced", [True, False], ids=["replaced", "removed"])
def test_a_file_that_loses_its_name_goes_on_in_another_with_all_that_it_held(
    tmp_path: Path, *, replaced: bool
) -> None:
    path = tmp_path / "a.flashscope"
    recorder = Recorder(path)
    opening, *others = events()
    recorder.record(opening)
    for event in others[:10]:
        recorder.record(event)
    path.rename(tmp_path / "b.flashscope")
    if replaced:
        path.write_text("mine")
    with pytest.raises(MovedFileError, match="it goes on in"):
        recorder.record(others[10])
    for event in others[11:]:
        recorder.record(event)
    recorder.close()
    assert recorder.path.name == ("a-2.flashscope" if replaced else "a.flashscope")
    assert not replaced or path.read_text() == "mine"
    assert {state.status for state in load(recorder.path).points} == {"done"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_is_created_as_soon_as_its_folder_lets_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    recorder = Recorder(tmp_path / "a.flashscope")
    opening, *others = events()
    assert "Permission denied" in refusal(recorder, opening)
    tmp_path.chmod(0o700)
    for event in others:
        recorder.record(event)
    recorder.close()
    assert load(recorder.path).outcome == "finished"


def test_text_that_no_file_can_hold_is_kept_with_a_mark_and_costs_nothing_else(tmp_path: Path) -> None:
    lone = "cannot start /home/\udcff/python"
    recorder = Recorder(tmp_path / "a.flashscope")
    recorder.record(builders.plan_started(PLAN))
    recorder.record(PointStarted(index=0, t_ns=1))
    recorder.record(PointFailed(index=0, t_ns=2, status="failed", reason=lone, detail=lone))
    recorder.record(PointStarted(index=1, t_ns=3))
    for event in builders.measured(1, 4, replace(builders.MEASUREMENT, note=lone)):
        recorder.record(event)
    recorder.close()
    failed, done, *_ = load(recorder.path).points
    assert failed.status == "failed"
    assert failed.reason == failed.detail == r"cannot start /home/\udcff/python"
    assert done.status == "done"
    assert done.measurement is not None
    assert done.measurement.note == r"cannot start /home/\udcff/python"


def test_an_event_that_cannot_be_written_for_any_reason_costs_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = write_event

    def unwritable(connection: sqlite3.Connection, event: Event) -> None:
        written(connection, event)
        if event == broken:
            raise ValueError("what no one foresaw")

    broken = PointStarted(index=1, t_ns=3)
    monkeypatch.setattr(writer, "write_event", unwritable)
    recorder = Recorder(tmp_path / "a.flashscope")
    recorder.record(builders.plan_started(PLAN))
    with pytest.raises(SessionFileError, match="what no one foresaw"):
        recorder.record(broken)
    for event in builders.measured(0, 4):
        recorder.record(event)
    recorder.close()
    assert [state.status for state in load(recorder.path).points[:2]] == ["done", "pending"]
