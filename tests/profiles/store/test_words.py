"""What a user says of a session, and what becomes of it where two say something at once."""

import csv
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashscope.app.commands.printed.table import print_session
from flashscope.profiles.results.formats.export import to_csv, to_json
from flashscope.profiles.results.model.bookmarks import Bookmark
from flashscope.profiles.store import (
    ChangedFileError,
    ReplacedFileError,
    SessionFileError,
    change,
    list_sessions,
    load,
    with_tags,
)
from flashscope.profiles.store.errors import CorruptFileError
from flashscope.profiles.store.schema import MAX_BOOKMARK, MAX_BOOKMARKS, MAX_TAG, MAX_TAGS
from tests.profiles.store import builders

FIRST, SECOND = Bookmark(point=1, text="out of memory here"), Bookmark(t_ns=2_200)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return builders.recorded(tmp_path / "a.flashscope")


def test_tags_and_bookmarks_are_read_as_they_were_written(path: Path) -> None:
    change(path, "tags", ("release", "H200"))
    change(path, "bookmarks", (SECOND, FIRST))
    session = load(path)
    assert session.tags == ("H200", "release")
    assert session.bookmarks == (FIRST, SECOND)
    (info,) = list_sessions(path.parent)
    assert (info.tags, info.bookmarks) == (("H200", "release"), 2)


def test_a_file_from_before_has_neither(tmp_path: Path) -> None:
    session = load(builders.recorded(tmp_path / "a.flashscope"))
    assert (session.tags, session.bookmarks) == ((), ())


def test_a_tag_stands_there_once_however_it_is_written() -> None:
    assert with_tags(("a", "B"), ("  b ", "c  d", "")) == ("a", "B", "c d")
    assert with_tags(("a", "B"), (), ("b",)) == ("a",)


def test_words_about_another_session_than_the_one_meant_are_not_written(path: Path) -> None:
    change(path, "note", "mine", meant=load(path).id)
    with pytest.raises(ReplacedFileError, match="does not hold what is on show any more"):
        change(path, "note", "yours", meant="b" * 32)
    assert load(path).note == "mine"


def test_a_note_that_another_program_changed_meanwhile_is_not_overwritten(path: Path) -> None:
    change(path, "note", "theirs", before="")
    with pytest.raises(ChangedFileError, match=r"Another program has changed the note of a\.flashscope"):
        change(path, "note", "mine", before="")
    assert load(path).note == "theirs"


def test_two_who_add_tags_keep_both(path: Path) -> None:
    change(path, "tags", ("theirs",), before=())
    change(path, "tags", ("mine",), before=())
    assert load(path).tags == ("mine", "theirs")


def test_a_bookmark_that_another_program_has_edited_is_not_overwritten(path: Path) -> None:
    theirs = Bookmark(point=1, text="theirs")
    change(path, "bookmarks", (FIRST, SECOND))
    change(path, "bookmarks", (theirs, SECOND), before=(FIRST, SECOND))
    with pytest.raises(ChangedFileError, match="notes on points and moments"):
        change(path, "bookmarks", (Bookmark(point=1, text="mine"), SECOND), before=(FIRST, SECOND))
    assert load(path).bookmarks == (theirs, SECOND)


@pytest.mark.parametrize(
    ("field", "words", "said"),
    [
        ("tags", ("x" * (MAX_TAG + 1),), f"{MAX_TAG + 1} characters; {MAX_TAG} are allowed"),
        ("tags", tuple(map(str, range(MAX_TAGS + 1))), f"up to {MAX_TAGS} tags"),
        ("bookmarks", (Bookmark(point=0, text="x" * (MAX_BOOKMARK + 1)),), f"{MAX_BOOKMARK} are allowed"),
        ("bookmarks", tuple(Bookmark(t_ns=n) for n in range(MAX_BOOKMARKS + 1)), f"up to {MAX_BOOKMARKS}"),
        ("bookmarks", (Bookmark(),), "on a point or on a moment"),
    ],
)
def test_what_is_too_much_is_refused_with_the_limit(path: Path, field: str, words: object, said: str) -> None:
    before = path.read_bytes()
    with pytest.raises(SessionFileError, match=said):
        change(path, field, words)  # type: ignore[arg-type]
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("column", "stored"),
    [
        ("tags", json.dumps(["x" * (MAX_TAG + 1)])),
        ("tags", '{"a": 1}'),
        ("bookmarks", '[{"point": 99}]'),
        ("bookmarks", '[{"point": 1, "t_ns": 1}]'),
        ("bookmarks", '[{"point": 1, "run": "rm"}]'),
        ("bookmarks", "[" * 100_000),
    ],
)
def test_words_that_no_session_holds_are_refused(path: Path, column: str, stored: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f"UPDATE session SET {column} = ?", (stored,))  # noqa: S608 - one of two
    with pytest.raises(CorruptFileError):
        load(path)


@given(st.lists(st.text(max_size=5)))
def test_tags_tidied_once_are_tidy(words: list[str]) -> None:
    assert with_tags(with_tags((), words), ()) == with_tags((), words)


def test_the_words_of_a_user_are_in_every_text_of_a_session(
    path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    change(path, "tags", ("release", "=1+1"))
    change(
        path,
        "bookmarks",
        (Bookmark(point=0, text="=cmd|' /C calc'!A0"), Bookmark(t_ns=2_200, text="<b>fan</b>")),
    )
    session = load(path)
    (first, *_) = json.loads(to_json(session))["points"]
    assert first["bookmark"] == "=cmd|' /C calc'!A0"
    lines = to_csv(session).splitlines()
    assert "# noted moments: at 0.000 s: <b>fan</b>" in lines
    (row, *_) = csv.DictReader(line for line in lines if not line.startswith("#"))
    assert row["bookmark"].startswith("'=cmd")
    print_session(session)
    shown = capfd.readouterr().out
    assert "Tags: =1+1, release" in shown
    assert "Noted, standard at N = 256: =cmd" in shown
    assert "Noted, at 0.000 s: <b>fan</b>" in shown
