"""Writes a story's file, or a stop more at its end."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from flashscope.app.control.bundled import BUNDLED, NAMES
from flashscope.app.stage.lines import ELSE, MOST_READ
from flashscope.app.stage.story import Stop, StoryError, read_story, story_bytes, story_of
from flashscope.profiles.store import write_atomically
from flashscope.profiles.wire.text import in_utf8

MOST_TITLE = 100  # characters
BOM = b"\xef\xbb\xbf"
HEADER = re.compile(r"^(?:[ \t]*#[^\n]*\n)*[ \t]*\[\[[ \t]*(stop)[ \t]*\]\]", re.MULTILINE)
"""Where a stop begins, with the remarks right above it."""


class ChangedError(StoryError):
    """A story's file is no longer what was read of it."""


def save_story(
    path: Path, title: str, stops: Sequence[Stop], before: bytes = b"", *, unchanged: bool = False
) -> bytes:
    """Write a story, which is read first as it would be read again; gives what was written.

    A stop that was there before keeps its text, with its remarks, wherever it stands now. A link and a mode
    stay, as in `add_stop`.

    Args:
        path: Its file.
        title: What it is called.
        stops: Its stops.
        before: What a file held that the story was read from.
        unchanged: Whether it is refused where the file holds anything else by now.

    Raises:
        ChangedError: It does; what it holds stays.
        StoryError: The story could not be read again: the stop and the remedy.
        SessionFileError: It cannot be written; what was there is as it was.
    """
    if unchanged and path.exists() and story_bytes(path) != before:
        raise ChangedError(f"{path} was changed by another program since it was read")
    content = content_of(path, title, stops, before)
    if not _reads_as(path, content, title, stops):
        content = content_of(path, title, stops, before, anew=True)
        read = story_of(path, content)
        if (read.title, read.stops) != (title, tuple(stops)):
            raise StoryError(f"{path}: what would be written reads otherwise; simplify the text changed last")
    write_atomically(path.resolve(), content, replace=True)
    return content


def _reads_as(path: Path, content: bytes, title: str, stops: Sequence[Stop]) -> bool:
    """Whether a story's text is read as this."""
    try:
        read = story_of(path, content)
    except StoryError:
        return False
    return (read.title, read.stops) == (title, tuple(stops))


def problem_of(path: Path, stop: Stop) -> str:
    """Why a stop could not be read from a story of this file, empty where it could."""
    try:
        story_of(path, content_of(path, "", [stop]))
    except StoryError as error:
        return str(error.__cause__ or error)
    return ""


def content_of(
    path: Path, title: str, stops: Sequence[Stop], before: bytes = b"", *, anew: bool = False
) -> bytes:
    """A story's text; what it has in common with what was before is written as it was there.

    Args:
        path: Its file.
        title: What it is called.
        stops: Its stops.
        before: What the file holds; its line ends stay in any case.
        anew: Whether nothing else of that stays.

    Raises:
        StoryError: A name in it is no text.
    """
    head, written = ("", {}) if anew else _parts(path, before)
    head = head if head and _title_in(path, head) == title else f"title = {_value(title)}\n"
    pieces = [head, *(written.get(stop) or as_toml(stop) for stop in stops)]
    try:
        content = "\n".join(f"{piece.strip()}\n" for piece in pieces).encode()
    except UnicodeEncodeError as error:
        raise StoryError(f"{path}: a name in it is no text in UTF-8; rename its file") from error
    content = content.replace(b"\n", b"\r\n") if b"\r\n" in before else content
    return BOM + content if before.startswith(BOM) else content


def _parts(path: Path, content: bytes) -> tuple[str, Mapping[Stop, str]]:
    """What stands above the first stop, and the text of each; nothing where they are written otherwise."""
    try:
        stops = story_of(path, content).stops
    except StoryError:
        return "", {}
    text = content.decode("utf-8-sig").replace("\r\n", "\n")
    places = _places(text, len(stops))
    if len(places) != len(stops):
        return "", {}
    pieces = (text[begin:end] for begin, end in pairwise([*places, len(text)]))
    return text[: places[0]], dict(zip(stops, pieces, strict=True))


def _places(text: str, stops: int) -> list[int]:
    """Where each stop begins; notes may hold what looks like that, without which the stops are the same."""
    found = [*HEADER.finditer(text)]
    if len(found) != stops and len(found) * len(text) <= MOST_READ:
        found = [one for one in found if _begins(text, one)]
    return [one.start() for one in found]


def _begins(text: str, found: re.Match[str]) -> bool:
    """Whether a stop begins there: called otherwise, it is none."""
    try:
        without = msgspec.toml.decode(f"{text[: found.start(1)]}{ELSE}{text[found.end(1) :]}")
        return len(without.get("stop", ())) < len(msgspec.toml.decode(text)["stop"])
    except (msgspec.DecodeError, TypeError):
        return True


def _title_in(path: Path, head: str) -> str:
    """The title that stands above the stops; empty where that is not all that does."""
    try:
        return story_of(path, f'{head}\n[[stop]]\npage = "profile"\n'.encode()).title
    except StoryError:
        return ""


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
    write_atomically(path.resolve(), content, replace=True)
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


def session_named(stop: Stop, session: Path | None, story: Path, compared: Sequence[Path] = ()) -> Stop:
    """The stop with its sessions as the story's file names them; Stepper and Source need none.

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
    return session.stem if bundled else beside(session, story)


def beside(session: Path, story: Path) -> str:
    """A session's file as a story names it, from where that is."""
    return os.path.relpath(session.absolute(), story.absolute().parent)


def as_toml(stop: Stop) -> str:
    """A stop as a table of TOML; what is left at its default is left out."""
    fields: dict[str, Any] = msgspec.to_builtins(stop)
    return "[[stop]]\n" + "".join(f"{key} = {_value(value)}\n" for key, value in fields.items())


def _value(value: Any) -> str:
    """A text or a number: JSON's way to write them is TOML's, but for one character; or what has several."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key} = {_value(one)}' for key, one in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
