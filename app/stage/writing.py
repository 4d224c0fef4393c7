"""Adds a stop to a story's file."""

import json
import os
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from app.control.bundled import BUNDLED, NAMES
from app.stage.story import Stop, read_story
from profiles.store import write_whole


def add_stop(path: Path, stop: Stop) -> int:
    """Write a stop at the end of a story, which is made if it is not there; gives its number.

    Raises:
        StoryError: What is there is no story.
        SessionFileError: It cannot be written.
    """
    before = path.read_text("utf-8") if path.exists() else f"title = {_value(path.stem)}\n"
    stops = len(read_story(path).stops) if path.exists() else 0
    write_whole(path, f"{before.rstrip()}\n\n{as_toml(stop)}".encode(), replace=True)
    return stops + 1


def session_named(stop: Stop, session: Path | None, story: Path) -> Stop:
    """The stop with the session on show as the story's file names it; Stepper and Ladder need none."""
    if session is None or stop.page in {"stepper", "ladder"}:
        return stop
    bundled = session.parent == BUNDLED and session.stem in NAMES
    return replace(
        stop, session=session.stem if bundled else os.path.relpath(session, story.absolute().parent)
    )


def as_toml(stop: Stop) -> str:
    """A stop as a table of TOML; what is left at its default is left out."""
    fields: dict[str, Any] = msgspec.to_builtins(stop)
    return "[[stop]]\n" + "".join(f"{key} = {_value(value)}\n" for key, value in fields.items())


def _value(value: Any) -> str:
    """A text, a number or a list of texts: JSON's way to write them is TOML's, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
