"""The results as a table, linked with the crosshair both ways."""

from collections.abc import Sequence

from PySide6.QtCore import QItemSelection, QItemSelectionModel, Qt, Signal
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from app.pages.profile.results_model import (
    COLUMNS,
    DENSE_COLUMN,
    KEPT_COLUMN,
    PROBLEM_COLUMN,
    ResultsModel,
    ResultsProxy,
)
from app.theme import Theme
from profiles.groups import grouped
from profiles.summary import PointRow

ROW_PX = 24


class ResultsTable(QTableView):
    """One row a point.

    Signals:
        seqlen_selected: A row of this sequence length was selected (int).
    """

    seqlen_selected = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.results = ResultsModel(theme, self)
        self.proxy = ResultsProxy(self.results)
        self.proxy.setParent(self)
        self._following = False
        self.setModel(self.proxy)
        self.setAccessibleName("Results, one row a point")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setSortingEnabled(True)
        self.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(ROW_PX)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.horizontalHeader().setStretchLastSection(True)
        self.horizontalHeader().setHighlightSections(False)
        self._size_columns()
        self.selectionModel().selectionChanged.connect(self._tell)

    def show_rows(self, rows: Sequence[PointRow], speedups: Sequence[float | None]) -> None:
        """Show these rows; problems only where there are several, what masks keep only where some do."""
        self.setColumnHidden(PROBLEM_COLUMN, len(grouped(rows)) <= 1)
        self.setColumnHidden(KEPT_COLUMN, not any(row.block_mask or row.window for row in rows))
        self.setColumnHidden(DENSE_COLUMN, not any(row.block_mask for row in rows))
        self.results.set_rows(rows, speedups)

    def show_cursor(self, seqlen: int | None) -> None:
        """Select every row of this sequence length without telling."""
        if seqlen in self._selected_seqlens():
            return
        chosen = QItemSelection()
        matching = [
            row
            for row in range(self.proxy.rowCount())
            if self._seqlen(self.proxy.index(row, 0).row()) == seqlen
        ]
        for row in matching:
            chosen.select(self.proxy.index(row, 0), self.proxy.index(row, len(COLUMNS) - 1))
        self._following = True
        self.selectionModel().select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self._following = False
        if matching:
            self.scrollTo(self.proxy.index(matching[0], 0))

    def _selected_seqlens(self) -> set[int]:
        return {self._seqlen(index.row()) for index in self.selectionModel().selectedRows()}

    def _seqlen(self, proxy_row: int) -> int:
        return self.results.row_at(self.proxy.mapToSource(self.proxy.index(proxy_row, 0)).row()).seqlen

    def _tell(self) -> None:
        rows = self.selectionModel().selectedRows()
        if rows and not self._following:
            self.seqlen_selected.emit(self._seqlen(rows[-1].row()))

    def _size_columns(self) -> None:
        wide = {
            "kernel": 140,
            "status": 120,
            "allocator peak": 110,
            "throughput": 110,
            "N": 64,
            "problem": 150,
            "dense equiv.": 110,
            "samples": 70,
        }
        for index, column in enumerate(COLUMNS):
            self.setColumnWidth(index, wide.get(column.title, 88))
