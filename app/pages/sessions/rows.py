"""The rows of the table of sessions: a session, the runs of one plan in one row, or one of these below it."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from msgspec.structs import replace

from flashscope.app.pages.sessions.columns import (
    COLUMNS,
    DATE_COLUMN,
    NAME_COLUMN,
    OF_ALL_RUNS,
    SessionColumn,
    session_name,
    tip_of,
)
from flashscope.app.words.plain import cut_short
from flashscope.app.words.results.sessions import runs_named
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
    newest = max(rows, key=lambda row: row.raws[DATE_COLUMN])
    names = [row.texts[NAME_COLUMN] for row in rows]
    name = runs_named(names, [row.info.run_mark for row in rows])
    runs = tuple(row.info for row in rows)
    head = newest._replace(info=_together(runs, newest.info, name), runs=runs, key=key)
    told = {column: COLUMNS[column] for column in OF_ALL_RUNS}
    texts = [told[k].text(head.info) if k in told else text for k, text in enumerate(head.texts)]
    raws = [told[k].raw(head.info) if k in told else raw for k, raw in enumerate(head.raws)]
    texts[NAME_COLUMN] = f"{name} · {head.counted}"
    head = head._replace(
        texts=tuple(map(cut_short, texts)),
        raws=tuple(raws),
        search="\n".join([name.casefold(), *(row.search for row in rows)]),
    )
    return FoldedRows(head, tuple(map(_below, rows)))


def _below(row: SessionRow) -> SessionRow:
    mark, name = row.info.run_mark, row.texts[NAME_COLUMN]
    told = f"run {mark.run} · {name}" if mark else name
    return row._replace(texts=(cut_short(told), *row.texts[1:]), below=True)


def _together(runs: Sequence[SessionInfo], newest: SessionInfo, name: str) -> SessionInfo:
    """What runs have together: points and bytes of all, tags of any, else what the newest says."""
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


def may_be_joined(infos: Sequence[SessionInfo]) -> bool:
    """Whether sessions may be told to be runs of one plan: several of one folder, none with a family yet."""
    alone = all(not info.error and info.run_mark is None for info in infos)
    return len(infos) > 1 and alone and len({info.path.parent for info in infos}) == 1


def rows_called(rows: Sequence[SessionRow]) -> str:
    """What is in rows: one by its name, several by the number of sessions in them."""
    if len(rows) == 1:
        return rows[0].called
    return f"{len({info.path for row in rows for info in row.runs})} sessions"
