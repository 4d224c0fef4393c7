import os
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path

import pytest
from msgspec.structs import replace

from flashscope.profiles.store import (
    SessionFileError,
    change,
    library,
    list_sessions,
    load,
    new_session_path,
    restore,
    sessions_dir,
    trash,
)
from tests.profiles.store import builders


def test_a_list_says_what_is_in_each_file(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
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
    builders.recorded(tmp_path / "a.flashscope", builders.plan_started(of))
    (info,) = list_sessions(tmp_path)
    assert info.statuses == {"pending": of.cells}


def test_a_file_that_cannot_be_opened_is_listed_last_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "z.flashscope").write_text("garbage " * 100)
    builders.recorded(tmp_path / "a.flashscope")
    good, bad = list_sessions(tmp_path)
    assert (good.error, bad.path.name) == ("", "z.flashscope")
    assert "not a Flashscope session" in bad.error


def spoilt(path: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(builders.recorded(path), isolation_level=None)) as connection:
        connection.execute(statement, values)


BAD: dict[str, Callable[[Path], object]] = {
    "a folder": Path.mkdir,
    "a fifo": os.mkfifo,
    "a link to endless zeros": lambda path: path.symlink_to("/dev/zero"),
    "a link to itself": lambda path: path.symlink_to(path),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "nothing": Path.touch,
    "garbage": lambda path: path.write_bytes(b"garbage " * 999),
    "values nested without end": lambda path: spoilt(path, "UPDATE session SET machine = ?", "[" * 90_000),
    "a start that is none": lambda path: spoilt(path, "UPDATE session SET started_at = '0000-00-00'"),
    "a status that is none": lambda path: spoilt(path, "UPDATE points SET status = 'glorious'"),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("bad", BAD.values(), ids=list(BAD))
def test_a_bad_file_is_one_row_that_says_why_and_the_others_are_listed(
    tmp_path: Path, bad: Callable[[Path], object]
) -> None:
    builders.recorded(tmp_path / "a.flashscope")
    bad(tmp_path / "b.flashscope")
    good, found = list_sessions(tmp_path)
    assert (good.path.name, good.error) == ("a.flashscope", "")
    assert found.path.name == "b.flashscope"
    assert str(found.path) in found.error


def test_a_session_from_before_all_clocks_is_listed(tmp_path: Path) -> None:
    spoilt(tmp_path / "a.flashscope", "UPDATE session SET started_at = '0001-01-01T00:00:00'")
    assert [info.error for info in list_sessions(tmp_path)] == [""]


def test_what_no_one_foresaw_in_a_file_is_told_in_its_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unforeseen(*_: object) -> None:
        raise ZeroDivisionError("by 0")

    builders.recorded(tmp_path / "a.flashscope")
    monkeypatch.setitem(list_sessions.__globals__, "read_head", unforeseen)
    (found,) = list_sessions(tmp_path)
    assert found.error == f"{found.path} cannot be read: ZeroDivisionError: by 0"


def test_a_folder_that_does_not_exist_has_no_sessions(tmp_path: Path) -> None:
    assert list_sessions(tmp_path / "none") == []
    assert list(tmp_path.iterdir()) == []


def test_a_name_and_a_note_can_be_changed(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    change(path, "name", "  First light ")
    change(path, "note", "Fan at full speed.\n")
    session = load(path)
    assert (session.name, session.note) == ("First light", "Fan at full speed.\n")


def test_a_name_that_utf_8_cannot_hold_is_kept_as_an_escape(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    change(path, "name", "half \ud83d")
    assert load(path).name == r"half \ud83d"


def test_a_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    with pytest.raises(SessionFileError, match="200"):
        change(path, "name", "x" * 201)
    assert load(path).name == ""


def test_a_deleted_session_can_be_taken_back(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    before = load(path)
    trashed = trash(path)
    assert list_sessions(tmp_path) == []
    assert restore(trashed) == path
    assert load(path) == before


def test_a_session_taken_back_overwrites_no_other(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    trashed = trash(path)
    builders.recorded(path, builders.plan_started())
    assert restore(trashed) == tmp_path / "a-2.flashscope"
    assert load(path).outcome is None


def test_a_second_deleted_file_of_the_same_name_keeps_the_first(tmp_path: Path) -> None:
    first = trash(builders.recorded(tmp_path / "a.flashscope"))
    second = trash(builders.recorded(tmp_path / "a.flashscope"))
    assert first.exists()
    assert second.exists()


def test_a_damaged_file_can_be_deleted(tmp_path: Path) -> None:
    path = tmp_path / "a.flashscope"
    path.write_text("garbage " * 100)
    assert trash(path).read_text().startswith("garbage")


@pytest.mark.parametrize("content", [b"garbage " * 100, b"SQLite format 3\0" + b"garbage " * 100])
def test_a_file_that_is_no_session_is_deleted_whatever_lies_beside_it(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.flashscope"
    path.write_bytes(content)
    (tmp_path / "a.flashscope-journal").write_bytes(b"garbage " * 999)
    assert trash(path).read_bytes() == content


def at_the_same_instant(
    monkeypatch: pytest.MonkeyPatch, move: Callable[[Path], Path], *paths: Path
) -> list[Path]:
    """Move files in threads of their own, each of which has chosen its name when the first one moves."""
    free, chosen, first = library._free, threading.Barrier(len(paths), timeout=60), threading.local()

    def choose(path: Path) -> Path:
        found = free(path)
        if not hasattr(first, "past"):
            first.past = True
            chosen.wait()
        return found

    with monkeypatch.context() as patched, ThreadPoolExecutor(len(paths)) as threads:
        patched.setattr(library, "_free", choose)
        return list(threads.map(move, paths))


def contents(folder: Path) -> list[str]:
    return sorted(found.read_text() for found in folder.glob("*.flashscope"))


def test_two_files_that_get_the_same_name_in_the_trash_at_the_same_instant_are_both_kept_and_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "a", "a-2"):  # the second finds the first in the trash
        path = tmp_path / f"{name}.flashscope"
        path.write_text(f"garbage of {name}")
        if not (tmp_path / library.TRASH).exists():
            trash(path)
    everything = ["garbage of a", "garbage of a", "garbage of a-2"]
    paths = [tmp_path / "a.flashscope", tmp_path / "a-2.flashscope"]
    moved = at_the_same_instant(monkeypatch, trash, *paths)
    assert contents(tmp_path / library.TRASH) == everything
    (tmp_path / "a.flashscope").write_text("in the way")
    at_the_same_instant(monkeypatch, restore, tmp_path / library.TRASH / "a.flashscope", *moved)
    assert contents(tmp_path) == [*everything, "in the way"]
    assert list((tmp_path / library.TRASH).iterdir()) == []


def test_a_file_that_another_window_has_deleted_meanwhile_leaves_nothing_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.flashscope"
    path.write_text("garbage " * 100)
    monkeypatch.setattr(library, "settle", Path.unlink)
    with pytest.raises(SessionFileError, match="No such file"):
        trash(path)
    assert list((tmp_path / library.TRASH).iterdir()) == []


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


def test_what_is_in_the_trash_goes_no_deeper_and_what_is_not_stays_where_it_is(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "sessions" / "a.flashscope")
    with pytest.raises(SessionFileError, match="is not in the trash"):
        restore(path)
    trashed = trash(path)
    with pytest.raises(SessionFileError, match="is in the trash already"):
        trash(trashed)
    assert restore(trashed) == path
