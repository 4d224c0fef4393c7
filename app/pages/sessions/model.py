"""The sessions as a table: searched and sorted here, since a proxy would ask for every cell in Python."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from PySide6.QtCore import QObject, Qt

from flashscope.app.control.guard import guarded
from flashscope.app.pages.sessions.columns import COLUMNS, DATE_COLUMN, SessionColumn, tip_of
from flashscope.app.widgets.plain import plain_tip
from flashscope.app.widgets.row_table import Index, RowsModel, alignment
from flashscope.app.words.plain import cut_short
from flashscope.profiles.store import SessionInfo

INFO_ROLE = Qt.ItemDataRole.UserRole + 1


class SessionRow(NamedTuple):
    """A session as the table shows it, worked out once: in the background where there are thousands.

    Attributes:
        info: The session.
        texts: Its cells.
        raws: What the cells are sorted by.
        search: What is searched, without case.
    """

    info: SessionInfo
    texts: tuple[str, ...]
    raws: tuple[Any, ...]
    search: str

    @classmethod
    def of(cls, info: SessionInfo) -> "SessionRow":
        """The row of a session."""
        texts = [column.text(info) for column in COLUMNS]
        raws = tuple(column.raw(info) for column in COLUMNS)
        return cls(info, tuple(map(cut_short, texts)), raws, " ".join(texts).casefold())


class SessionsModel(RowsModel):
    """One row a file, of those that are searched for."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._known: dict[Path, SessionRow] = {}
        self._shown: list[SessionRow] = []
        self._order = (DATE_COLUMN, True)
        self._text = self._tag = ""

    @property
    def headings(self) -> Sequence[SessionColumn]:
        """The columns."""
        return COLUMNS

    @property
    def rows_shown(self) -> int:
        """Number of files that the search leaves."""
        return len(self._shown)

    @property
    def known(self) -> int:
        """Number of files, also those that the search leaves out."""
        return len(self._known)

    @property
    def tags(self) -> list[str]:
        """Every tag of a file, sorted."""
        tags = {tag.casefold(): tag for row in self._known.values() for tag in row.info.tags}
        return [tags[key] for key in sorted(tags)]

    def show(self, infos: Iterable[SessionInfo]) -> None:
        """List these files and no others."""
        infos = list(infos)
        self.take(map(SessionRow.of, infos))
        self.keep_only({info.path for info in infos})

    def take(self, rows: Iterable[SessionRow]) -> None:
        """List these files, too; those that are listed already, as they are now."""
        for row in rows:
            known = self._known.get(row.info.path)
            if known is None or known.info != row.info:
                self._known[row.info.path] = row
        self._find()

    def keep_only(self, paths: set[Path]) -> None:
        """List no files but these."""
        self._known = {path: row for path, row in self._known.items() if path in paths}
        self._find()

    def search(self, text: str, tag: str = "") -> None:
        """Show the files in which these words stand, and which have this tag; an empty one means any."""
        self._text, self._tag = text.casefold(), tag
        self._find()

    @guarded()
    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Show the files in another order."""
        self._order = (column, order == Qt.SortOrder.DescendingOrder)
        self._find()

    def row_of(self, path: Path) -> int | None:
        """Where a file is shown, None where it is not."""
        return next((place for place, row in enumerate(self._shown) if row.info.path == path), None)

    def infos(self) -> list[SessionInfo]:
        """The files that are shown, in their order."""
        return [row.info for row in self._shown]

    @guarded()
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text or tip of a cell, or the whole SessionInfo."""
        if not index.isValid():
            return None
        give = _ROLES.get(role)
        return give(self._shown[index.row()], index.column()) if give else None

    def _find(self) -> None:
        """Show what is searched for, in order; nothing is told where that changes nothing."""
        column, falling = self._order
        words, tag = self._text, self._tag
        found = [row for row in self._known.values() if words in row.search]
        found = [row for row in found if not tag or tag in row.info.tags]
        found.sort(key=lambda row: (row.raws[column], row.info.path), reverse=falling)
        if not _same(found, self._shown):
            self.beginResetModel()
            self._shown = found
            self.endResetModel()


def _same(some: Sequence[SessionRow], others: Sequence[SessionRow]) -> bool:
    return len(some) == len(others) and all(a is b for a, b in zip(some, others, strict=True))


_ROLES: dict[int, Callable[[SessionRow, int], Any]] = {
    Qt.ItemDataRole.DisplayRole: lambda row, column: row.texts[column],
    Qt.ItemDataRole.ToolTipRole: lambda row, column: plain_tip(tip_of(row.info, COLUMNS[column])),
    Qt.ItemDataRole.TextAlignmentRole: lambda _row, column: alignment(COLUMNS[column]),
    INFO_ROLE: lambda row, _column: row.info,
}
