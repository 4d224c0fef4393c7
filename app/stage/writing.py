"""Adds a stop to a story's file."""

import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from flashscope.app.control.bundled import BUNDLED, NAMES
from flashscope.app.stage.story import Stop, StoryError, read_story, story_bytes, story_of
from flashscope.profiles.store import SessionFileError, write_atomically
from flashscope.profiles.wire.text import in_utf8

MOST_TITLE = 100  # characters
WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def add_stop(path: Path, stop: Stop) -> int:
    """Write a stop at the end of a story, which is made if it is not there; gives its number.

    What is to be written is read first as it would be read again. A link stays one: the file that it leads
    to is written, whose mode stays, too.

    Raises:
        StoryError: What is there is no story, or would be none with this stop.
        SessionFileError: It cannot be written.
    """
    there = path.exists()
    before = read_story(path) if there else None
    content = _with_stop(path, story_bytes(path) if there else _begun(path), stop)
    try:
        stops = story_of(path, content).stops
    except StoryError as error:
        raise StoryError(f"this stop does not fit into a story ({error})") from error
    if before is not None and stops[:-1] != before.stops:
        raise StoryError(
            f"{path} is written in a way that no stop can be added to; write each under [[stop]]"
        )
    _write(path.resolve(), content)
    return len(stops)


def _begun(path: Path) -> bytes:
    """A story without stops, called as its file, as far as it can be."""
    return f"title = {_value(in_utf8(path.stem)[:MOST_TITLE])}\n".encode()


def _with_stop(path: Path, before: bytes, stop: Stop) -> bytes:
    """A story's text and a stop more, its lines ended as the others are."""
    end = b"\r\n" if b"\r\n" in before else b"\n"
    try:
        added = as_toml(stop).encode()
    except UnicodeEncodeError as error:
        raise StoryError(f"{path}: a name on show is no text in UTF-8; rename its file") from error
    return before.rstrip() + end * 2 + added.replace(b"\n", end)


def _write(target: Path, content: bytes) -> None:
    """Put it in the place of what is there, unless that is not to be written; its mode stays."""
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    if mode is not None and not (mode & WRITABLE and os.access(target, os.W_OK)):
        raise SessionFileError(f"{target} may only be read; change its permissions, or name another file.")
    write_atomically(target, content, replace=True)
    if mode is not None:
        target.chmod(mode)


def session_named(stop: Stop, session: Path | None, story: Path, compared: Sequence[Path] = ()) -> Stop:
    """The stop with its sessions as the story's file names them; Stepper and Ladder need none.

    Args:
        stop: What is on show.
        session: The session on show.
        story: The file that the stop is written to.
        compared: The sessions of a comparison, the baseline first.
    """
    if stop.page == "compare" and compared:
        first, *others = (_name(path, story) for path in compared)
        return replace(stop, session=first, beside=tuple(others))
    if session is None or stop.page in {"stepper", "ladder"}:
        return stop
    return replace(stop, session=_name(session, story))


def _name(session: Path, story: Path) -> str:
    """A bundled one by its name, another by where it is from the story."""
    bundled = session.parent.resolve() == BUNDLED.resolve() and session.stem in NAMES
    return session.stem if bundled else os.path.relpath(session, story.absolute().parent)


def as_toml(stop: Stop) -> str:
    """A stop as a table of TOML; what is left at its default is left out."""
    fields: dict[str, Any] = msgspec.to_builtins(stop)
    return "[[stop]]\n" + "".join(f"{key} = {_value(value)}\n" for key, value in fields.items())


def _value(value: Any) -> str:
    """A text, a number or a list of texts: JSON's way to write them is TOML's, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
