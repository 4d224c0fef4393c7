"""The part of an exercise that takes place in a table."""

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QStyleOptionViewItem, QTableView


def sort_and_copy(table: QTableView) -> None:
    """Sort by each column, measure a cell of it, and copy."""
    for column in range(table.model().columnCount()):
        table.sortByColumn(column, Qt.SortOrder.AscendingOrder)
        if delegate := table.itemDelegateForColumn(column):
            delegate.sizeHint(QStyleOptionViewItem(), QModelIndex())
    QTest.keyClick(table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
