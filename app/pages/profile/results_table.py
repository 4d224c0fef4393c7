"""The results as a table, linked with the crosshair both ways."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from app.control.guard import guarded
from app.look.theme import Theme
from app.look.zoom import keep, px
from app.pages.profile.results_model import PROBLEM, TRUST, ResultColumn, ResultsModel, ResultsProxy
from app.widgets.row_height import keep_row_height
from kernels.problem import Problem
from profiles.results.curves import Curve, curve_by_problem
from profiles.results.quantities import THROUGHPUT
from profiles.results.rows import PointRow

ROW_PX = 24
WIDTH = 88  # of a column that needs no more
WIDE = {"kernel": 140, "status": 120, TRUST: 96, "N": 72, PROBLEM: 150, THROUGHPUT.short: 116}
WIDEST = 400  # of the column of the problems, which has room for the longest of their names
HEADING_PX = 30  # beside the text of a heading: margins and the mark of sorting


class ResultsTable(QTableView):
    """One row a point.

    Signals:
        seqlen_selected: A row of this sequence length was selected (int).
        point_selected: So was the row of this point (int, its index).
        point_chosen: The row of the point of this index was clicked, or Enter pressed on it (int).
    """

    seqlen_selected = Signal(int)
    point_selected = Signal(int)
    point_chosen = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.results = ResultsModel(theme, self)
        self.proxy = ResultsProxy(self.results)
        self.proxy.setParent(self)
        self._following = False
        self._problems: set[str] = set()  # in words
        self.setModel(self.proxy)
        self.setAccessibleName("Results, one row a point")
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setSortingEnabled(True)
        self.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
        self.verticalHeader().hide()
        keep_row_height(self, ROW_PX)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.horizontalHeader().setStretchLastSection(True)
        self.horizontalHeader().setHighlightSections(False)
        keep(self, self._size_columns)
        self.selectionModel().selectionChanged.connect(self._tell)
        self.clicked.connect(self._tell_point)
        self.activated.connect(self._tell_point)

    def show_rows_in_steps(
        self, rows: Sequence[PointRow], compared: Mapping[Problem, PointRow]
    ) -> Iterator[None]:
        """Show these rows beside the baseline's, by problem, in the columns that say anything of them."""
        hidden = []
        curves = curve_by_problem(rows)
        yield
        for column in self.results.columns:
            hidden.append(not _says(column, rows, curves))
            yield
        for index, unsaid in enumerate(hidden):
            self.setColumnHidden(index, unsaid)
        self.results.set_rows(rows, compared, curves)
        self._fit_problems(curves.values())

    @guarded()
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy whole rows, where Qt would copy one cell."""
        if event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self.copied())
        else:
            super().keyPressEvent(event)

    def copied(self) -> str:
        """The selected rows in the order on show, under their headings, as tab-separated text."""
        columns = [k for k in range(self.proxy.columnCount()) if not self.isColumnHidden(k)]
        titles = [str(self.results.headerData(k, Qt.Orientation.Horizontal)) for k in columns]
        rows = sorted(index.row() for index in self.selectionModel().selectedRows())
        cells = [[str(self.proxy.index(row, k).data() or "") for k in columns] for row in rows]
        return "\n".join("\t".join(line) for line in [titles, *cells])

    def show_cursor(self, seqlen: int | None) -> None:
        """Select every row of this sequence length without telling."""
        if seqlen in self._selected_seqlens():
            return
        chosen = QItemSelection()
        matching = sorted(self._shown(lambda row: row.seqlen == seqlen))
        for row in matching:
            chosen.select(self.proxy.index(row, 0), self.proxy.index(row, len(self.results.columns) - 1))
        self._following = True
        self.selectionModel().select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        self._following = False
        if matching:
            self.scrollTo(self.proxy.index(matching[0], 0))

    def _selected_seqlens(self) -> set[int]:
        return {self._seqlen(index.row()) for index in self.selectionModel().selectedRows()}

    def choose_point(self, index: int) -> None:
        """Select the row of a point, as a click on it does."""
        for place in self._shown(lambda row: row.point.index == index):
            flags = QItemSelectionModel.SelectionFlag  # whatever keys are held
            chosen = self.proxy.index(place, 0)
            self.selectionModel().setCurrentIndex(chosen, flags.ClearAndSelect | flags.Rows)
            self.scrollTo(chosen)

    def _shown(self, wanted: Callable[[PointRow], bool]) -> list[int]:
        """In which rows the points that are wanted stand: to ask every row of ten thousand takes too long."""
        return [self.proxy.mapFromSource(self.results.index(k, 0)).row() for k in self.results.places(wanted)]

    def _seqlen(self, proxy_row: int) -> int:
        return self._row(proxy_row).seqlen

    def _row(self, proxy_row: int) -> PointRow:
        return self.results.row_at(self.proxy.mapToSource(self.proxy.index(proxy_row, 0)).row())

    def _tell(self) -> None:
        rows = self.selectionModel().selectedRows()
        if rows and not self._following:
            chosen = rows[-1].row()
            self.point_selected.emit(self._row(chosen).point.index)
            self.seqlen_selected.emit(self._seqlen(chosen))

    def _tell_point(self, index: QModelIndex) -> None:
        self.point_chosen.emit(self.results.row_at(self.proxy.mapToSource(index).row()).point.index)

    def _fit_problems(self, curves: Iterable[Curve]) -> None:
        """Give the problems' column room for other names; with the same ones it stays as the user has it."""
        problems = {curve.label for curve in set(curves)}
        if problems != self._problems:
            self._problems = problems
            self._size_columns()

    def _size_columns(self) -> None:
        advance = self.fontMetrics().horizontalAdvance
        longest = min(max(map(advance, self._problems), default=0) + px(HEADING_PX), px(WIDEST))
        for index, column in enumerate(self.results.columns):
            heading = advance(column.title) + px(HEADING_PX)
            named = longest if column.title == PROBLEM else 0
            self.setColumnWidth(index, max(px(WIDE.get(column.title, WIDTH)), heading, named))


def _says(column: ResultColumn, rows: Sequence[PointRow], curves: Mapping[Problem, Curve]) -> bool:
    """Whether a column is worth its room; that of the problem where there are several."""
    if column.title == PROBLEM:
        return len(set(curves.values())) > 1
    return column.telling is None or not rows or any(map(column.telling, rows))
