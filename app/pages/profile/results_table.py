"""The results as a table, linked with the crosshair both ways."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu

from flashscope.app.control.guard import guarded
from flashscope.app.look.fonts import ui_font
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.pages.profile.results_model import (
    KERNEL,
    PROBLEM,
    STATUS,
    TRUST,
    ResultColumn,
    ResultsModel,
    ResultsProxy,
)
from flashscope.app.pages.profile.results_painting import CellPainter
from flashscope.app.plots.plot_menu import OF_THE_POINT
from flashscope.app.widgets.menus import commands_of, pop_up
from flashscope.app.widgets.row_table import RowTable, heading_px
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.model.curves import Curve, curve_by_problem
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.registry import THROUGHPUT

WIDTH = 88  # of a column that needs no more
WIDE = {KERNEL: 140, STATUS: 120, TRUST: 96, "N": 72, PROBLEM: 150, THROUGHPUT.short: 116}
WIDEST = 400  # of one that has long texts, such as the reason
COMMANDS = ("page.profile", "page.roofline", *OF_THE_POINT, "profile.note_point", "profile.copy_rows")
BAR_PX = 4  # that marks a row
CELL_PX, GLYPH_PX = 30, 24  # beside the text of a cell, and more where a glyph stands before it


class ResultsTable(RowTable):
    """One row a point.

    Attributes:
        marked: The points whose rows are marked, by index: those at the crosshair.

    Signals:
        point_selected: The row of the point of this index was selected (int).
        point_chosen: The row of the point of this index was clicked, or Enter pressed on it (int).
    """

    point_selected = Signal(int)
    point_chosen = Signal(int)

    def __init__(self, theme: Theme) -> None:
        self.results = ResultsModel(theme)
        self.proxy = ResultsProxy(self.results)
        super().__init__("Results, one row a point", self.proxy)
        self.results.setParent(self)
        self.proxy.setParent(self)
        self._cells = CellPainter(self.results)
        self.setItemDelegate(self._cells)
        self._theme, self.marked = theme, frozenset[int]()
        self._problems: set[str] = set()  # in words
        self._longest: dict[int, str] = {}  # text that was in a column, by its place
        keep(self, self._size_columns)
        self.selectionModel().selectionChanged.connect(self._tell)
        self.clicked.connect(self._tell_point)
        self.activated.connect(self._tell_point)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._open_menu)

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
        for index, unsaid in enumerate(hidden):
            if not unsaid:
                self._fit(index, (yield from self.results.longest_in_steps(index)))
                yield

    def copied(self) -> str:
        """The selected rows, else the marked ones, under their headings, as tab-separated text."""
        columns = [k for k in range(self.proxy.columnCount()) if not self.isColumnHidden(k)]
        titles = [str(self.results.headerData(k, Qt.Orientation.Horizontal)) for k in columns]
        chosen = [index.row() for index in self.selectionModel().selectedRows()]
        rows = sorted(chosen or self._places(set(self.marked)))
        cells = [[str(self.proxy.index(row, k).data() or "") for k in columns] for row in rows]
        return "\n".join("\t".join(line) for line in [titles, *cells])

    def show_points(self, points: set[int]) -> None:
        """Mark the rows of these points, by index, at their left edge, and bring the first into view.

        What is selected stays so, and in view where it is one of them.
        """
        if points != self.marked:
            self.marked = frozenset(points)
            self.viewport().update()
        places = sorted(self._places(points))
        if places and not any(map(self.selectionModel().isRowSelected, places)):
            self.scrollTo(self.proxy.index(places[0], 0))

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows, and a bar at the left edge of those that are marked."""
        places = {row: self._place(self.proxy.index(row, 0)) for row in self._rows_in_view()}
        self._cells.places = places
        super().paintEvent(event)
        self._cells.places = {}
        with QPainter(self.viewport()) as painter:
            for row, place in places.items():
                if self.results.row_at(place).point.index in self.marked:
                    top, height = self.rowViewportPosition(row), self.rowHeight(row)
                    painter.fillRect(0, top, px(BAR_PX), height, QColor(self._theme.accent))

    def apply_theme(self, theme: Theme) -> None:
        """Recolour glyphs and marks."""
        self._theme = theme
        self.results.apply_theme(theme)

    def _rows_in_view(self) -> range:
        first, last = self.rowAt(0), self.rowAt(self.viewport().height() - 1)
        return (
            range(first, (last if last >= 0 else self.proxy.rowCount() - 1) + 1) if first >= 0 else range(0)
        )

    def menu(self) -> QMenu:
        """What can be done with the chosen rows."""
        menu = QMenu(self)
        menu.addActions(commands_of(self, COMMANDS))
        return menu

    def _open_menu(self, place: QPoint) -> None:
        """Open it where the pointer is; for the Menu key, which means what is chosen, under that row."""
        if not self.selectionModel().hasSelection():
            return
        row = self.visualRect(self.currentIndex())
        if not row.contains(row.left(), place.y()):
            place = row.bottomLeft()
        pop_up(self.menu(), self.viewport().mapToGlobal(place))

    def choose_point(self, index: int) -> None:
        """Select the row of a point, as a click on it does."""
        for place in self._places({index}):
            flags = QItemSelectionModel.SelectionFlag  # whatever keys are held
            chosen = self.proxy.index(place, 0)
            self.selectionModel().setCurrentIndex(chosen, flags.ClearAndSelect | flags.Rows)
            self.scrollTo(chosen)

    def _places(self, points: set[int]) -> list[int]:
        """In which rows these points stand: to ask every row of ten thousand takes too long."""
        return [self.proxy.mapFromSource(self.results.index(k, 0)).row() for k in self.results.places(points)]

    def _point(self, index: QModelIndex) -> int:
        return self.results.row_at(self._place(index)).point.index

    def _place(self, index: QModelIndex) -> int:
        return self.proxy.mapToSource(index).row()

    def _tell(self) -> None:
        rows = self.selectionModel().selectedRows()
        if rows:
            self.point_selected.emit(self._point(rows[-1]))

    def _tell_point(self, index: QModelIndex) -> None:
        self.point_chosen.emit(self._point(index))

    def _fit_problems(self, curves: Iterable[Curve]) -> None:
        """Give the columns their room anew where the problems are others, theirs the names'."""
        problems = {curve.label for curve in set(curves)}
        if problems != self._problems:
            self._problems, self._longest = problems, {}
            self._size_columns()
        for index, column in enumerate(self.results.columns):
            if column.title == PROBLEM:
                self._fit(index, max(problems, key=len, default=""))

    def _fit(self, index: int, text: str) -> None:
        """Give a column room for a text longer than all before; for any other it stays as the user has it."""
        if len(text) > len(self._longest.get(index, "")):
            self._longest[index] = text
            self._size(index)

    def _size_columns(self) -> None:
        for index in range(len(self.results.columns)):
            self._size(index)

    def _size(self, index: int) -> None:
        title, text = self.results.columns[index].title, self._longest.get(index, "")
        metrics = QFontMetrics(ui_font())  # the table's own is still that of the zoom before
        beside = CELL_PX + (GLYPH_PX if title in {KERNEL, STATUS, TRUST} else 0)
        held = min(metrics.horizontalAdvance(text) + px(beside), px(WIDEST))
        self.size_column(index, max(px(WIDE.get(title, WIDTH)), heading_px(title), held))


def _says(column: ResultColumn, rows: Sequence[PointRow], curves: Mapping[Problem, Curve]) -> bool:
    """Whether a column is worth its room; that of the problem where there are several."""
    if column.title == PROBLEM:
        return len(set(curves.values())) > 1
    return column.telling is None or not rows or any(map(column.telling, rows))
