"""What a user says of a session: its name, note, tags and bookmarks. How much may be said is checked here."""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, TypeAlias, cast

import msgspec

from flashscope.profiles.results.model.bookmarks import Bookmark
from flashscope.profiles.store.errors import ChangedFileError, ReplacedFileError, SessionFileError
from flashscope.profiles.store.mark import SessionMark
from flashscope.profiles.store.opening import editing
from flashscope.profiles.store.schema import (
    MAX_BOOKMARK,
    MAX_BOOKMARKS,
    MAX_NAME,
    MAX_NOTE,
    MAX_POINTS,
    MAX_TAG,
    MAX_TAGS,
)
from flashscope.profiles.wire.text import in_utf8

Field = Literal["name", "note", "tags", "bookmarks"]
UserWords: TypeAlias = str | tuple[str, ...] | tuple[Bookmark, ...]

LONGEST: dict[str, int] = {"name": MAX_NAME, "note": MAX_NOTE}
CALLED: dict[Field, str] = {
    "name": "name",
    "note": "note",
    "tags": "tags",
    "bookmarks": "notes on points and moments",
}


def change(
    path: Path, field: Field, after: UserWords, before: UserWords | None = None, meant: str = ""
) -> UserWords:
    """Write other words of the user's into a session and return what it has now.

    An empty name names it by its start.

    Of tags and bookmarks only those are touched that differ, so two who change others do not meet.

    Args:
        path: The file, which keeps its own name.
        field: What is changed.
        after: What it is from now on.
        before: What it was when the user saw it; None: whatever it was.
        meant: Id of the session that is meant; empty: whichever is there.

    Raises:
        ReplacedFileError: The file holds another session; nothing is written.
        ChangedFileError: It is other than it was then; nothing is written.
        SessionFileError: It is too long, or the file cannot be written.
    """
    wanted = _normal(field, after)
    with editing(path) as connection:
        if meant not in {"", SessionMark.read(connection).id}:
            raise ReplacedFileError(path)
        if before is not None:
            wanted = _merged(path, field, _normal(field, before), wanted, _now(connection, field))
        stored = wanted if isinstance(wanted, str) else msgspec.json.encode(wanted).decode()
        connection.execute(f"UPDATE session SET {field} = ?", (stored,))  # noqa: S608 - one of our four columns
    return wanted


def read_tags(stored: str) -> tuple[str, ...]:
    """The tags of a session's row.

    Raises:
        ValueError: They are none that a session holds.
    """
    tags = msgspec.json.decode(stored, type=tuple[str, ...])
    _check_tags(tags)
    return tags


def read_bookmarks(stored: str, points: int) -> tuple[Bookmark, ...]:
    """The bookmarks of a session's row, which has so many points.

    Raises:
        ValueError: They are none that such a session holds.
    """
    bookmarks = msgspec.json.decode(stored, type=tuple[Bookmark, ...])
    _check_bookmarks(bookmarks)
    if any(one.point is not None and not 0 <= one.point < points for one in bookmarks):
        raise ValueError("a note on a point that there is not")
    return bookmarks


def with_tags(tags: Sequence[str], added: Sequence[str], removed: Sequence[str] = ()) -> tuple[str, ...]:
    """The tags with some more and some less, in their order, each once however it is written."""
    kept = {tag.casefold(): tag for tag in (*(" ".join(tag.split()) for tag in added), *tags) if tag}
    for tag in removed:
        kept.pop(tag.casefold(), None)
    return tuple(kept[key] for key in sorted(kept))


def _normal(field: Field, words: UserWords) -> UserWords:
    """The words as a file has them.

    Raises:
        SessionFileError: No file holds them.
    """
    try:
        if isinstance(words, str):
            return _text(field, words)
        if field == "tags":
            return _tags(msgspec.convert(words, tuple[str, ...]))
        return _bookmarks(msgspec.convert(words, tuple[Bookmark, ...]))
    except ValueError as error:
        raise SessionFileError(f"{error}.") from error


def _text(field: Field, text: str) -> str:
    text = in_utf8(text.strip() if field == "name" else text)
    if len(text) > LONGEST[field]:
        raise ValueError(f"The {field} has {len(text)} characters; {LONGEST[field]} are allowed")
    return text


def _tags(tags: tuple[str, ...]) -> tuple[str, ...]:
    kept = with_tags((), tuple(map(in_utf8, tags)))
    _check_tags(kept)
    return kept


def _bookmarks(bookmarks: tuple[Bookmark, ...]) -> tuple[Bookmark, ...]:
    kept = (msgspec.structs.replace(one, text=in_utf8(one.text)) for one in dict.fromkeys(bookmarks))
    ordered = tuple(sorted(kept, key=lambda one: (one.place, one.text)))
    _check_bookmarks(ordered)
    return ordered


def _check_tags(tags: tuple[str, ...]) -> None:
    if len(tags) > MAX_TAGS:
        raise ValueError(f"A session has up to {MAX_TAGS} tags, not {len(tags)}")
    longest = max(map(len, tags), default=0)
    if longest > MAX_TAG:
        raise ValueError(f"A tag has {longest} characters; {MAX_TAG} are allowed")


def _check_bookmarks(bookmarks: tuple[Bookmark, ...]) -> None:
    if len(bookmarks) > MAX_BOOKMARKS:
        raise ValueError(f"A session has up to {MAX_BOOKMARKS} notes on points and moments")
    longest = max((len(one.text) for one in bookmarks), default=0)
    if longest > MAX_BOOKMARK:
        raise ValueError(f"The note has {longest} characters; {MAX_BOOKMARK} are allowed")
    if any((one.point is None) == (one.t_ns is None) for one in bookmarks):
        raise ValueError("A note is on a point or on a moment")


def _now(connection: sqlite3.Connection, field: Field) -> UserWords:
    (stored,) = connection.execute(f"SELECT {field} FROM session").fetchone()  # noqa: S608 - one of our four columns
    if field in LONGEST:
        return str(stored)
    return read_tags(stored) if field == "tags" else read_bookmarks(stored, MAX_POINTS)


def _merged(path: Path, field: Field, before: UserWords, after: UserWords, now: UserWords) -> UserWords:
    """What another program left, with the change in it.

    Raises:
        ChangedFileError: It left nothing of what is to be changed.
    """
    if isinstance(after, str):
        if now not in (before, after):
            raise _changed(path, field)
        return after
    gone = [one for one in before if one not in after]
    if any(one not in now for one in gone):
        raise _changed(path, field)
    left = (one for one in now if one not in gone)
    return _normal(field, cast("UserWords", (*left, *(one for one in after if one not in before))))


def _changed(path: Path, field: Field) -> ChangedFileError:
    return ChangedFileError(
        f"Another program has changed the {CALLED[field]} of {path.name} meanwhile; "
        "nothing was overwritten. Read it again, then change it."
    )
