"""The table of sessions, whose columns are as wide as their texts where there is room; names come first."""

from PySide6.QtCore import QAbstractItemModel, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from app.control.guard import guarded
from app.look.zoom import keep, px
from app.pages.sessions_model import DATE_COLUMN, KERNELS_COLUMN, NAME_COLUMN

WIDEST = 260  # pixels of the kernels' and the notes' columns: a dozen would push the rest out of sight
NARROWEST = 140  # pixels of the names' column, however narrow the page is


class SessionsTable(QTableView):
    """Rows of a SessionsModel behind a proxy; a width that was set by hand is left alone."""

    def __init__(self, model: QAbstractItemModel) -> None:
        super().__init__(showGrid=False, sortingEnabled=True)
        self._fitting = self._set_by_hand = False
        self.setAccessibleName("Saved sessions")
        self.setModel(model)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        keep(self, self.verticalHeader().setDefaultSectionSize, 32)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.sectionResized.connect(self._notice_hand)
        self.sortByColumn(DATE_COLUMN, Qt.SortOrder.DescendingOrder)

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Share the new width out."""
        super().resizeEvent(event)
        self.fit_columns()

    def fit_columns(self) -> None:
        """Give each column what its texts take, and the names what the others leave."""
        if self._set_by_hand:
            return
        self._fitting = True
        self.resizeColumnsToContents()
        self.setColumnWidth(KERNELS_COLUMN, min(self.columnWidth(KERNELS_COLUMN), px(WIDEST)))
        left = self.viewport().width() - self._taken()
        self.setColumnWidth(NAME_COLUMN, min(self.columnWidth(NAME_COLUMN), max(left, px(NARROWEST))))
        self._fitting = False

    def _taken(self) -> int:
        """Pixels of all columns but the names'."""
        last = self.model().columnCount() - 1
        notes = max(self.sizeHintForColumn(last), self.horizontalHeader().sectionSizeHint(last))
        return min(notes, px(WIDEST)) + sum(map(self.columnWidth, range(NAME_COLUMN + 1, last)))

    def _notice_hand(self, column: int) -> None:
        stretched = column == self.model().columnCount() - 1
        self._set_by_hand = self._set_by_hand or not (self._fitting or stretched)
