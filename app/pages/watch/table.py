"""The strip of versions: a click chooses one, a click on a second one compares the two."""

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import QItemSelectionModel, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.pages.compare.table import ListTable
from flashscope.app.pages.watch.columns import WIDTHS, VersionRow, version_columns

MOST = 2  # versions are compared


class VersionTable(ListTable):
    """The newest version on top; the rows of those that are compared are selected.

    Attributes:
        picks: The numbers of the versions that the user chose, in their order; none: the newest is followed.

    Signals:
        chosen_changed: The user chose other versions.
    """

    chosen_changed = Signal()

    def __init__(self, theme: Callable[[], Theme]) -> None:
        self.picks: tuple[int, ...] = ()
        self._rows: Sequence[VersionRow] = ()
        self._filling = False
        super().__init__("Versions of the watched kernel", version_columns(theme), WIDTHS, spread=True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.MultiSelection)
        self.sortByColumn(0, Qt.SortOrder.DescendingOrder)

    def show_versions(self, rows: Sequence[VersionRow]) -> None:
        """Show these; those that were chosen stay chosen as long as they are among them."""
        if rows == self._rows:
            return
        at = self.list.row_at(self.currentIndex().row()).number if self.currentIndex().isValid() else None
        self._filling = True
        self._rows = rows
        self.list.set_rows(rows)
        self._filling = False
        known = {row.number for row in rows}
        self.picks = tuple(number for number in self.picks if number in known)
        self._select()
        self._go_to(at)

    def pick(self, *numbers: int) -> None:
        """Choose these versions; none: follow the newest."""
        if numbers != self.picks:
            self.picks = numbers
            self._select()
            self.chosen_changed.emit()

    def show_number(self, number: int) -> None:
        """Leave the choice as it is: rows keep their versions, not their places."""
        del number

    def _select(self) -> None:
        self._filling = True
        flags = QItemSelectionModel.SelectionFlag
        self.clearSelection()
        for place in range(self.list.rowCount()):
            if self.list.row_at(place).number in self.picks:
                self.selectionModel().select(self.list.index(place, 0), flags.Select | flags.Rows)
        self._filling = False

    def _go_to(self, number: int | None) -> None:
        """Have the keys go on from this version."""
        for place in range(self.list.rowCount()):
            if self.list.row_at(place).number == number:
                index = self.list.index(place, 0)
                self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)

    @guarded()
    def _tell(self, *_: Any) -> None:
        """Take what the user selected; of more than two the last two."""
        if self._filling:
            return
        selected = {self.list.row_at(index.row()).number for index in self.selectionModel().selectedRows()}
        kept = [number for number in self.picks if number in selected]
        self.pick(*[*kept, *sorted(selected.difference(kept))][-MOST:])
