"""Thousands of files are read once: what is cached is what reading again would say."""

import os
import sqlite3
from pathlib import Path

import pytest

from flashscope.profiles.store import Headers, change, duplicate, list_sessions, listing, load, trash
from flashscope.profiles.store.errors import SessionFileError
from tests.profiles.store import builders

OLD_NS = 1_700_000_000_000_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "sessions"
    made.mkdir()
    for name in ("a", "b"):
        aged(builders.recorded(made / f"{name}.flashscope"))
    return made


@pytest.fixture
def cache(tmp_path: Path) -> Headers:
    return Headers(tmp_path / "cache" / "headers.sqlite")


def aged(path: Path, ns: int = OLD_NS) -> Path:
    os.utime(path, ns=(ns, ns))
    return path


def names(folder: Path, cache: Headers) -> list[str]:
    return sorted(info.name or info.path.stem for batch in listing(folder, cache) for info in batch)


def read(folder: Path, cache: Headers) -> list[str]:
    """The files that the cache does not know."""
    _known, *rest = listing(folder, cache)
    return sorted(info.path.stem for batch in rest for info in batch)


def test_what_was_read_once_is_not_read_again(folder: Path, cache: Headers) -> None:
    assert read(folder, cache) == ["a", "b"]
    assert read(folder, cache) == []
    (known, *_) = listing(folder, cache)
    assert sorted(known, key=str) == sorted(list_sessions(folder), key=str)


def test_a_changed_file_is_read_again_and_a_deleted_one_forgotten(folder: Path, cache: Headers) -> None:
    read(folder, cache)
    change(folder / "a.flashscope", "name", "better")
    assert names(folder, cache) == ["b", "better"]
    trash(folder / "b.flashscope")
    assert names(folder, cache) == ["better"]
    assert [path.stem for path in cache.of(folder)] == ["a"]


def test_a_file_changed_just_now_is_not_cached_as_it_may_change_again_at_once(
    folder: Path, cache: Headers
) -> None:
    builders.recorded(folder / "new.flashscope")
    read(folder, cache)
    assert read(folder, cache) == ["new"]


def test_a_file_that_cannot_be_read_is_tried_again_each_time(folder: Path, cache: Headers) -> None:
    aged_bad = folder / "bad.flashscope"
    aged_bad.write_bytes(b"no session")
    aged(aged_bad)
    read(folder, cache)
    assert read(folder, cache) == ["bad"]


@pytest.mark.parametrize("garbage", [b"", b"garbage" * 1000])
def test_a_damaged_cache_changes_nothing(folder: Path, tmp_path: Path, garbage: bytes) -> None:
    path = tmp_path / "headers.sqlite"
    path.write_bytes(garbage)
    assert names(folder, Headers(path)) == ["a", "b"]
    assert names(folder, Headers(path)) == ["a", "b"]


def test_a_cache_that_holds_nonsense_is_passed_over(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "headers.sqlite"
    read(folder, Headers(path))
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE headers SET info = x'00'")
    connection.close()
    assert names(folder, Headers(path)) == ["a", "b"]


def test_a_cache_that_cannot_be_written_changes_nothing(folder: Path) -> None:
    assert names(folder, Headers(Path("/dev/null/headers.sqlite"))) == ["a", "b"]


def test_a_duplicate_is_whole_has_a_name_and_leaves_the_first_as_it_is(folder: Path) -> None:
    first = folder / "a.flashscope"
    before = first.read_bytes()
    copy = duplicate(first, folder)
    assert copy == folder / "a-2.flashscope"
    assert (load(copy).name, load(copy).points) == ("a (copy)", load(first).points)
    assert first.read_bytes() == before


def test_what_cannot_be_duplicated_leaves_nothing_behind(folder: Path) -> None:
    bad = folder / "bad.flashscope"
    bad.write_bytes(b"no session")
    with pytest.raises(SessionFileError):
        duplicate(bad, folder)
    assert sorted(path.stem for path in folder.iterdir()) == ["a", "b", "bad"]
