"""The columns of the table of sessions."""

from collections.abc import Callable
from typing import Any, NamedTuple

from flashscope.app.words.results import sessions
from flashscope.app.words.results.holding import held_text
from flashscope.app.words.results.provenance import LABELS
from flashscope.app.words.units import seqlen_text
from flashscope.profiles.results.model.dates import moment
from flashscope.profiles.store import SessionInfo
from flashscope.profiles.wire.events import PointStatus

ANSWERED: tuple[PointStatus, ...] = ("done", "will-not-fit", "unsupported")  # nothing went wrong with these


class SessionColumn(NamedTuple):
    """One column: its title, its text and the raw value it sorts by."""

    title: str
    text: Callable[[SessionInfo], str]
    raw: Callable[[SessionInfo], Any]
    right: bool = False


def session_name(info: SessionInfo) -> str:
    """The user's name of a session, else its file's."""
    return sessions.named(info, info.path)


def machine_text(info: SessionInfo) -> str:
    """Where a session ran."""
    return f"{LABELS[info.backend]} · {info.device}" if info.backend else ""


def seqlens_text(info: SessionInfo) -> str:
    """From which N to which."""
    if not info.seqlens:
        return ""
    first, last = info.seqlens[0], info.seqlens[-1]
    return seqlen_text(first) if first == last else f"{seqlen_text(first)} – {seqlen_text(last)}"


def kernels_text(info: SessionInfo) -> str:
    """The kernels of its plan; without points what it holds instead."""
    return ", ".join(info.kernels) or held_text(info.held)


def _points(info: SessionInfo) -> str:
    total, answered = sum(info.statuses.values()), sum(info.statuses.get(status, 0) for status in ANSWERED)
    return "" if not total else str(total) if answered == total else f"{answered} of {total}"


def _note(info: SessionInfo) -> str:
    if info.error:  # the cause first: the name stands in a column of its own
        return info.error.replace(f"{info.path} ", "This file ", 1)
    return info.note.partition("\n")[0]


def _tags(info: SessionInfo) -> str:
    return ", ".join(info.tags)


COLUMNS = (
    SessionColumn("Name", session_name, lambda info: session_name(info).casefold()),
    SessionColumn("Device", machine_text, machine_text),
    SessionColumn("Date", sessions.minute_of, lambda info: moment(info.started_at)),
    SessionColumn("Kernels", kernels_text, lambda info: len(info.kernels)),
    SessionColumn("N", seqlens_text, lambda info: max(info.seqlens, default=0), right=True),
    SessionColumn("Points", _points, lambda info: sum(info.statuses.values()), right=True),
    SessionColumn("Tags", _tags, lambda info: _tags(info).casefold()),
    SessionColumn("Note", _note, _note),
)
NAME_COLUMN, DEVICE_COLUMN, DATE_COLUMN, KERNELS_COLUMN = 0, 1, 2, 3
OF_ALL_RUNS = (NAME_COLUMN, 5, 6)  # names, points and tags of a row of several runs
LEAST_FIRST = (5, KERNELS_COLUMN, 6, 4, 7, DEVICE_COLUMN, DATE_COLUMN)  # the order in which they are hidden


def tip_of(info: SessionInfo, column: SessionColumn) -> str:
    """Why a file cannot be read, or the text that the cell has no room for."""
    if info.error or column is COLUMNS[KERNELS_COLUMN]:
        return info.error or column.text(info)
    if column is COLUMNS[NAME_COLUMN]:
        return f"{column.text(info)}\n{info.path}"
    return info.note or str(info.path)
