"""The rows of the table of sessions: a session, the runs of one plan in one row, or one of these below it."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from msgspec.structs import replace

from flashscope.app.pages.sessions.columns import COLUMNS, NAME_COLUMN, SessionColumn, session_name, tip_of
from flashscope.app.words.plain import cut_short
from flashscope.app.words.sessions import runs_named
from flashscope.profiles.results.model.dates import moment
from flashscope.profiles.results.model.families import FamilyKey, Kinship
from flashscope.profiles.store import SessionInfo
from flashscope.profiles.wire.events import PointStatus

RowKey: TypeAlias = Path | FamilyKey
"""What tells a row from others: the file of a session, or what the runs of one plan share."""


class SessionRow(NamedTuple):
    """A row as the table shows it, worked out once: in the background where there are thousands.

    Attributes:
        info: The session; of a row of runs what they have together, the newest's file and note.
        texts: Its cells.
        raws: What the cells are sorted by.
        search: What is searched, without case.
        runs: The sessions in it: one, or all runs in their order.
        key: What tells it from others.
        below: Whether it stands below the row of its plan's runs, which is unfolded.
    """

    info: SessionInfo
    texts: tuple[str, ...]
    raws: tuple[Any, ...]
    search: str
    runs: tuple[SessionInfo, ...]
    key: RowKey
    below: bool = False

    @classmethod
    def of(cls, info: SessionInfo) -> "SessionRow":
        """The row of a session."""
        texts = [column.text(info) for column in COLUMNS]
        raws = tuple(column.raw(info) for column in COLUMNS)
        return cls(info, tuple(map(cut_short, texts)), raws, " ".join(texts).casefold(), (info,), info.path)

    @property
    def family(self) -> FamilyKey | None:
        """What its runs share, None of a row of one session."""
        return self.key if isinstance(self.key, FamilyKey) else None

    @property
    def newest(self) -> SessionInfo:
        """The run that was made last: what is done with one session is done with it."""
        return max(self.runs, key=lambda info: moment(info.started_at))

    @property
    def called(self) -> str:
        """Its name, with the number of its runs."""
        return (
            session_name(self.info) if self.family is None else f"{session_name(self.info)}, {self.counted}"
        )

    @property
    def counted(self) -> str:
        """How many runs are in it, and of how many where some are missing."""
        asked = max((info.run_mark.of for info in self.runs if info.run_mark), default=0)
        return f"{len(self.runs)} runs" if asked <= len(self.runs) else f"{len(self.runs)} of {asked} runs"

    def tip(self, column: SessionColumn) -> str:
        """What the cell has no room for."""
        if self.family is not None and column is COLUMNS[NAME_COLUMN]:
            return (
                f"{self.called} of one plan\nThe newest: {self.newest.path}\nRight unfolds it, Left folds it"
            )
        return tip_of(self.info, column)


class FoldedRows(NamedTuple):
    """A row, and those below it where it is unfolded: none of a session that is alone."""

    head: SessionRow
    below: tuple[SessionRow, ...]


def kinship(row: SessionRow) -> Kinship:
    """What decides to which family a session's row belongs."""
    return Kinship(row.info.run_mark, row.info.id, row.info.path)


def folded(key: FamilyKey, rows: Sequence[SessionRow]) -> FoldedRows:
    """The row of all runs of a plan, and a row for each: found wherever one of them is."""
    runs = tuple(row.info for row in rows)
    name = runs_named([session_name(info) for info in runs], [info.run_mark for info in runs])
    head = SessionRow.of(_together(runs, name))._replace(runs=runs, key=key)
    texts = (cut_short(f"{name} · {head.counted}"), *head.texts[1:])
    search = "\n".join([head.search, *(row.search for row in rows)])
    return FoldedRows(head._replace(texts=texts, search=search), tuple(map(_below, rows)))


def _below(row: SessionRow) -> SessionRow:
    mark = row.info.run_mark
    told = f"run {mark.run} · {session_name(row.info)}" if mark else session_name(row.info)
    return row._replace(texts=(cut_short(told), *row.texts[1:]), below=True)


def _together(runs: Sequence[SessionInfo], name: str) -> SessionInfo:
    """What runs have together: points and bytes of all, tags of any, else what the newest says."""
    newest = max(runs, key=lambda info: moment(info.started_at))
    statuses: Counter[PointStatus] = Counter()
    for info in runs:
        statuses.update(info.statuses)
    tags = {tag.casefold(): tag for info in runs for tag in info.tags}
    return replace(
        newest,
        name=name,
        size_bytes=sum(info.size_bytes for info in runs),
        bookmarks=sum(info.bookmarks for info in runs),
        tags=tuple(tags[key] for key in sorted(tags)),
        statuses=dict(statuses),
    )


def rows_called(rows: Sequence[SessionRow]) -> str:
    """What is in rows: one by its name, several by the number of sessions in them."""
    if len(rows) == 1:
        return rows[0].called
    return f"{len({info.path for row in rows for info in row.runs})} sessions"
