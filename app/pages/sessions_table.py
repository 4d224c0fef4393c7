"""The table of sessions: several rows may be chosen, and stay chosen when the list is read again."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QItemSelectionRange, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from app.control.guard import guarded
from app.look.zoom import keep, px
from app.pages.sessions_columns import DATE_COLUMN, KERNELS_COLUMN, NAME_COLUMN
from app.pages.sessions_model import INFO_ROLE, SessionsModel
from profiles.store import SessionInfo

WIDEST = 260  # pixels of the kernels' and the notes' columns: a dozen would push the rest out of sight
NARROWEST = 140  # pixels of the names' column, however narrow the page is
MEASURED_ROWS = 100  # whose cells decide how wide columns are to begin with
FLAGS = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows


class SessionsTable(QTableView):
    """One row a file.

    Signals:
        chosen_changed: Other rows are chosen.
        menu_wanted: What can be done with the chosen rows is asked for, here on the screen (QPoint).
    """

    chosen_changed = Signal()
    menu_wanted = Signal(QPoint)

    def __init__(self, model: SessionsModel) -> None:
        super().__init__(showGrid=False, sortingEnabled=True)
        self._model = model
        self._fitting = self._set_by_hand = False
        self._kept: tuple[set[Path], Path | None, int] = (set(), None, 0)
        self.setAccessibleName("Saved sessions")
        self.setModel(model)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        keep(self, self.verticalHeader().setDefaultSectionSize, 32)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setResizeContentsPrecision(MEASURED_ROWS)
        header.setStretchLastSection(True)
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.sectionResized.connect(self._notice_hand)
        self.sortByColumn(DATE_COLUMN, Qt.SortOrder.DescendingOrder)
        self.selectionModel().selectionChanged.connect(lambda *_: self.chosen_changed.emit())
        model.modelAboutToBeReset.connect(self._keep)
        model.modelReset.connect(self._choose_again)

    def chosen(self) -> list[SessionInfo]:
        """The sessions in the chosen rows, in the order on show."""
        selection = self.selectionModel().selection()
        ranges = map(selection.at, range(selection.size()))
        rows = {row for some in ranges for row in range(some.top(), some.bottom() + 1)}
        infos = self._model.infos()
        return [infos[row] for row in sorted(rows)]

    def current(self) -> SessionInfo | None:
        """The chosen session, of several the one that was chosen last."""
        index = self.currentIndex()
        if index.isValid() and self.selectionModel().isRowSelected(index.row(), index.parent()):
            info = index.data(INFO_ROLE)
            return info if isinstance(info, SessionInfo) else None
        return next(iter(self.chosen()), None)

    def choose(self, paths: set[Path], current: Path | None = None) -> None:
        """Choose the rows of these files."""
        rows = [row for row, info in enumerate(self._model.infos()) if info.path in paths]
        selection = QItemSelection()
        for first, last in _runs(rows):
            ends = self._model.index(first, 0), self._model.index(last, self._model.columnCount() - 1)
            selection.append(QItemSelectionRange(*ends))
        place = None if current is None else self._model.row_of(current)
        if place is not None:
            index = self._model.index(place, 0)
            self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)
        self.selectionModel().select(selection, FLAGS)

    @guarded()
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Ask for a menu; at the chosen row where it was the keyboard."""
        place = event.globalPos()
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            place = self.viewport().mapToGlobal(self.visualRect(self.currentIndex()).bottomLeft())
        if self.chosen():
            self.menu_wanted.emit(place)

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

    def _keep(self) -> None:
        current = self.current()
        chosen = {info.path for info in self.chosen()}
        path = current.path if current else None
        self._kept = chosen, path, self.verticalScrollBar().value()

    def _choose_again(self) -> None:
        chosen, current, scrolled = self._kept
        if chosen:
            self.choose(chosen, current)
        self.verticalScrollBar().setValue(scrolled)
        self.chosen_changed.emit()


def _runs(rows: list[int]) -> Iterator[tuple[int, int]]:
    """The first and the last of rows that stand together; they rise."""
    for _, run in groupby(enumerate(rows), key=lambda placed: placed[1] - placed[0]):
        together = [row for _place, row in run]
        yield together[0], together[-1]
