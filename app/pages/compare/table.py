"""A table of the Compare page: whole rows are selected and copied."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QItemSelectionModel, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QStyledItemDelegate, QStyleOptionViewItem

from flashscope.app.control.guard import guarded
from flashscope.app.look.zoom import keep, px
from flashscope.app.pages.compare.list_model import ListColumn, ListModel
from flashscope.app.widgets.row_table import Index, RowTable, heading_px

NARROWEST = 0.85  # of its width that a column of words may have
LAST_PX = 120  # of a last column that has no width of its own, at least


class MiddleElided(QStyledItemDelegate):
    """Draws the cells of a column whose texts lose their middle where they have no room."""

    @guarded()
    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        """Let both ends of the text stand."""
        super().initStyleOption(option, index)
        option.textElideMode = Qt.TextElideMode.ElideMiddle


class ListTable(RowTable):
    """Shows a ListModel.

    Args:
        name: What a screen reader says.
        columns: Those of the model.
        widths: Of the columns, in pixels at 100 %, or more where a heading needs it; the last one takes what
            is left.
        spread: Where there is more room than that, all columns take their share of it; where there is a
            little less, those of words give way.

    Signals:
        picked: A row was selected: its number before sorting and filtering (int).
    """

    picked = Signal(int)

    def __init__(
        self, name: str, columns: Sequence[ListColumn[Any]], widths: Sequence[int], *, spread: bool = False
    ) -> None:
        self.list: ListModel[Any] = ListModel(columns)
        super().__init__(name, self.list)
        self.list.setParent(self)
        self._widths, self._spread = widths, spread
        self._following = False
        self._number = -1
        self.setWordWrap(False)
        middle = MiddleElided(self)
        for place in (place for place, column in enumerate(columns) if column.middle):
            self.setItemDelegateForColumn(place, middle)
        keep(self, self._size_columns, *widths)
        self.selectionModel().selectionChanged.connect(self._tell)
        self.list.modelReset.connect(lambda: self.show_number(self._number))

    def show_number(self, number: int) -> None:
        """Select the row with this number without telling; none: that is filtered out, or there is none."""
        self._number = number
        if number in self.chosen():
            return
        row = self.list.where(number)
        self._following = True
        if row is None:
            self.clearSelection()
        else:
            chosen = self.list.index(row, self.list.columnCount() - 1)  # Qt scrolls to no hidden column
            across = self.horizontalScrollBar().value()
            flags = QItemSelectionModel.SelectionFlag
            self.selectionModel().setCurrentIndex(chosen, flags.ClearAndSelect | flags.Rows)
            self.scrollTo(chosen, QAbstractItemView.ScrollHint.PositionAtCenter)
            self.horizontalScrollBar().setValue(across)  # its columns stay where they are
        self._following = False

    def step(self, by: int) -> None:
        """Select the next row, or the one before."""
        rows = self.list.rowCount()
        if rows:
            row = self.list.where(self._number)
            self.selectRow(0 if row is None else min(max(row + by, 0), rows - 1))

    def copied(self) -> str:
        """The selected rows in the order on show, under their headings, as tab-separated text."""
        columns = [k for k in range(len(self.list.columns)) if not self.isColumnHidden(k)]
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        lines = [[self.list.columns[k].title for k in columns]]
        lines += [[self.list.columns[k].written(self.list.row_at(row)) for k in columns] for row in rows]
        return "\n".join("\t".join(" ".join(cell.split()) for cell in line) for line in lines)

    def chosen(self) -> set[int]:
        """The numbers of the selected rows, before sorting and filtering."""
        return {self.list.number_at(index.row()) for index in self.selectionModel().selectedRows()}

    def _tell(self) -> None:
        rows = self.selectionModel().selectedRows()
        if rows and not self._following:
            self._number = self.list.number_at(rows[-1].row())
            self.picked.emit(self._number)

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the room out anew, and keep the chosen row in view."""
        super().resizeEvent(event)
        if self.selectionModel().hasSelection():
            across = self.horizontalScrollBar().value()
            self.scrollTo(self.currentIndex(), QAbstractItemView.ScrollHint.EnsureVisible)
            self.horizontalScrollBar().setValue(across)
        if self._spread:
            self._size_columns(*map(px, self._widths))

    @guarded()
    def setColumnHidden(self, column: int, hide: bool) -> None:
        """Share the room out among the others."""
        if self.isColumnHidden(column) is not hide:
            super().setColumnHidden(column, hide)
            if self._spread:
                self._size_columns(*map(px, self._widths))

    def _size_columns(self, *widths: int) -> None:
        titles = (column.title for column in self.list.columns)
        least = [max(width, heading_px(title)) for title, width in zip(titles, widths, strict=False)]
        last = px(LAST_PX) if len(least) < len(self.list.columns) else 0
        taken = last + sum(width for column, width in enumerate(least) if not self.isColumnHidden(column))
        room = self.viewport().width() if self._spread else taken
        wider, narrower = max(1.0, room / max(1, taken)), self._narrower(least, taken - room)
        for column, width in enumerate(least):
            words = not self.list.columns[column].right
            self.size_column(column, int(width * (narrower if words else 1.0) * wider))
        if last:
            self.size_column(len(least), last)

    def _narrower(self, widths: Sequence[int], lacking: int) -> float:
        """How much narrower columns of words are, where so many pixels lack for all; figures stay."""
        shown = (k for k in range(len(widths)) if not self.isColumnHidden(k))
        words = sum(widths[column] for column in shown if not self.list.columns[column].right)
        share = 1.0 - lacking / words if words and lacking > 0 else 1.0
        return share if share >= NARROWEST else 1.0
