"""The sessions as a table: searched, folded and sorted here, as a proxy would ask for each cell in Python."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Qt

from flashscope.app.control.guard import guarded
from flashscope.app.pages.sessions.columns import COLUMNS, DATE_COLUMN, NAME_COLUMN, SessionColumn
from flashscope.app.pages.sessions.rows import FoldedRows, RowKey, SessionRow, folded, kinship
from flashscope.app.widgets.plain import plain_tip
from flashscope.app.widgets.row_table import Index, RowsModel, alignment
from flashscope.profiles.results.model.families import FamilyKey, RunFamily, families
from flashscope.profiles.store import SessionInfo

ROW_ROLE = Qt.ItemDataRole.UserRole + 1


class SessionsModel(RowsModel):
    """One row a session, but the runs of one plan in one row, of those that are searched for.

    A row of runs is found where one of its runs is, is sorted by what they have together, and has all of them
    below it while it is unfolded, in their order.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._known: dict[Path, SessionRow] = {}
        self._rows: list[FoldedRows] = []
        self._families: dict[FamilyKey, tuple[tuple[SessionRow, ...], FoldedRows]] = {}
        self._unfolded: set[FamilyKey] = set()
        self._shown: list[SessionRow] = []
        self._places: dict[RowKey, int] | None = None  # worked out when it is asked for
        self._order = (DATE_COLUMN, True)
        self._text = self._tag = ""

    @property
    def headings(self) -> Sequence[SessionColumn]:
        """The columns."""
        return COLUMNS

    @property
    def rows_shown(self) -> int:
        """Number of rows that the search and the folding leave."""
        return len(self._shown)

    @property
    def known(self) -> int:
        """Number of files, also those that the search leaves out."""
        return len(self._known)

    @property
    def folds(self) -> bool:
        """Whether any of the files are runs of one plan."""
        return bool(self._families)

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
        known = self._known
        given = ((row.info.path, row) for row in rows)
        changed = {path: row for path, row in given if path not in known or known[path].info != row.info}
        if changed:
            self._known = known | changed
            self._fold()

    def keep_only(self, paths: set[Path]) -> None:
        """List no files but these."""
        kept = {path: row for path, row in self._known.items() if path in paths}
        if len(kept) < len(self._known):
            self._known = kept
            self._fold()

    def search(self, text: str, tag: str = "") -> None:
        """Show the files in which these words stand, and which have this tag; an empty one means any."""
        self._text, self._tag = text.casefold(), tag
        self._find()

    @guarded()
    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Show the files in another order."""
        self._order = (column, order == Qt.SortOrder.DescendingOrder)
        self._find()

    def unfold(self, family: FamilyKey, unfolded: bool = True) -> None:
        """Show the runs of a plan below their row, or no more."""
        (self._unfolded.add if unfolded else self._unfolded.discard)(family)
        self._find()

    def is_unfolded(self, family: FamilyKey) -> bool:
        """Whether its runs stand below their row."""
        return family in self._unfolded

    def family_of(self, path: Path) -> FamilyKey | None:
        """The family of a file that is one of several runs."""
        return next(
            (key for key, (rows, _) in self._families.items() if any(row.key == path for row in rows)), None
        )

    def row_of(self, key: RowKey) -> int | None:
        """Where a row is shown; of a file whose runs are folded, the row of these; None where it is not."""
        if self._places is None:
            self._places = {run.path: place for place, row in enumerate(self._shown) for run in row.runs}
            self._places |= {row.key: place for place, row in enumerate(self._shown)}
        return self._places.get(key)

    def row_at(self, place: int) -> SessionRow:
        """What stands in a row."""
        return self._shown[place]

    def rows(self) -> list[SessionRow]:
        """The rows that are shown, in their order."""
        return list(self._shown)

    def infos(self) -> list[SessionInfo]:
        """The files that are shown or folded in rows that are, each once, in their order."""
        return [info for row in self._shown if not row.below for info in row.runs]

    @guarded()
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Text or tip of a cell, or the whole row."""
        if not index.isValid():
            return None
        row = self._shown[index.row()]
        if role == Qt.ItemDataRole.AccessibleTextRole and row.family and index.column() == NAME_COLUMN:
            return f"{row.texts[NAME_COLUMN]}, {'unfolded' if self.is_unfolded(row.family) else 'folded'}"
        give = _ROLES.get(role)
        return give(row, index.column()) if give else None

    def _fold(self) -> None:
        """Put the runs of each plan into one row; rows whose runs are as they were stay."""
        rows = self._known.values()
        self._rows = [FoldedRows(row, ()) for row in rows if row.info.run_mark is None]
        known, self._families = self._families, {}
        marked = families((row for row in rows if row.info.run_mark is not None), kinship)
        self._rows += [self._folded(one, known) for one in marked]
        self._find()

    def _folded(
        self, one: RunFamily[SessionRow], known: dict[FamilyKey, tuple[tuple[SessionRow, ...], FoldedRows]]
    ) -> FoldedRows:
        if one.key is None:
            return FoldedRows(one.runs[0], ())
        before = known.get(one.key)
        same = before is not None and _same(before[0], one.runs)
        made = before[1] if before is not None and same else folded(one.key, one.runs)
        self._families[one.key] = one.runs, made
        return made

    def _find(self) -> None:
        """Show what is searched for, in order; nothing is told where that changes nothing."""
        column, falling = self._order
        words, tag = self._text, self._tag
        found = [row for row in self._rows if words in row.head.search]
        found = [row for row in found if not tag or tag in row.head.info.tags]
        found.sort(key=lambda row: (row.head.raws[column], row.head.info.path), reverse=falling)
        shown = [one for row in found for one in (row.head, *(row.below if self._opened(row.head) else ()))]
        if not _same(shown, self._shown):
            self.beginResetModel()
            self._shown = shown
            self._places = None
            self.endResetModel()

    def _opened(self, head: SessionRow) -> bool:
        return head.family in self._unfolded


def _same(some: Sequence[SessionRow], others: Sequence[SessionRow]) -> bool:
    return len(some) == len(others) and all(a is b for a, b in zip(some, others, strict=True))


_ROLES: dict[int, Callable[[SessionRow, int], Any]] = {
    Qt.ItemDataRole.DisplayRole: lambda row, column: row.texts[column],
    Qt.ItemDataRole.ToolTipRole: lambda row, column: plain_tip(row.tip(COLUMNS[column])),
    Qt.ItemDataRole.TextAlignmentRole: lambda _row, column: alignment(COLUMNS[column]),
    ROW_ROLE: lambda row, _column: row,
}
