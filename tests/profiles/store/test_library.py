from datetime import datetime, timezone
from pathlib import Path

import pytest
from msgspec.structs import replace

from profiles.store import (
    Recorder,
    SessionFileError,
    list_sessions,
    load,
    new_session_path,
    rename,
    restore,
    sessions_dir,
    set_note,
    trash,
)
from profiles.wire.events import Event
from tests.profiles.store import builders


def write(path: Path, *events: Event) -> Path:
    recorder = Recorder(path)
    for event in events or builders.whole_sweep():
        recorder.record(event)
    recorder.close()
    return path


def test_a_list_says_what_is_in_each_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.flashscope")
    (info,) = list_sessions(tmp_path)
    assert (info.path, info.error, info.device, info.outcome) == (path, "", "A CPU", "cancelled")
    assert info.kernels == ("standard", "flash2")
    assert info.seqlens == (256, 512)
    assert info.statuses == {"done": 1, "oom": 1, "wrong": 1, "pending": 1}
    assert info.size_bytes == path.stat().st_size


def test_a_drift_check_adds_no_points_to_a_list(tmp_path: Path) -> None:
    of = builders.plan()
    of = replace(of, protocol=replace(of.protocol, drift_check=True))
    assert len(of.points()) > of.cells
    write(tmp_path / "a.flashscope", builders.plan_started(of))
    (info,) = list_sessions(tmp_path)
    assert info.statuses == {"pending": of.cells}


def test_a_file_that_cannot_be_opened_is_listed_last_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "z.flashscope").write_text("garbage " * 100)
    write(tmp_path / "a.flashscope")
    good, bad = list_sessions(tmp_path)
    assert (good.error, bad.path.name) == ("", "z.flashscope")
    assert "not a Flashscope session" in bad.error


def test_a_folder_that_does_not_exist_has_no_sessions(tmp_path: Path) -> None:
    assert list_sessions(tmp_path / "none") == []
    assert list(tmp_path.iterdir()) == []


def test_a_name_and_a_note_can_be_changed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.flashscope")
    rename(path, "  First light ")
    set_note(path, "Fan at full speed.\n")
    session = load(path)
    assert (session.name, session.note) == ("First light", "Fan at full speed.\n")


def test_a_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.flashscope")
    with pytest.raises(SessionFileError, match="200"):
        rename(path, "x" * 201)
    assert load(path).name == ""


def test_a_deleted_session_can_be_taken_back(tmp_path: Path) -> None:
    path = write(tmp_path / "a.flashscope")
    before = load(path)
    trashed = trash(path)
    assert list_sessions(tmp_path) == []
    assert restore(trashed) == path
    assert load(path) == before


def test_a_session_taken_back_overwrites_no_other(tmp_path: Path) -> None:
    path = write(tmp_path / "a.flashscope")
    trashed = trash(path)
    write(path, builders.plan_started())
    assert restore(trashed) == tmp_path / "a-2.flashscope"
    assert load(path).outcome is None


def test_a_second_deleted_file_of_the_same_name_keeps_the_first(tmp_path: Path) -> None:
    first = trash(write(tmp_path / "a.flashscope"))
    second = trash(write(tmp_path / "a.flashscope"))
    assert first.exists()
    assert second.exists()


def test_a_damaged_file_can_be_deleted(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    path.write_text("garbage " * 100)
    assert trash(path).read_text().startswith("garbage")


def test_deleting_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(SessionFileError, match="No such file"):
        trash(tmp_path / "a.flashscope")


def test_a_new_file_takes_a_free_name(tmp_path: Path) -> None:
    started = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
    first = new_session_path(tmp_path, "cpu", started)
    assert first.name == "2026-01-02-030405-cpu.flashscope"
    first.touch()
    assert new_session_path(tmp_path, "cpu", started).name == "2026-01-02-030405-cpu-2.flashscope"


def test_the_environment_moves_the_sessions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path))
    assert sessions_dir() == tmp_path / "sessions"
    monkeypatch.delenv("FLASHSCOPE_HOME")
    assert sessions_dir().name == "sessions"
