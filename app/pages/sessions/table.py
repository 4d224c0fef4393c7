"""The table of sessions: several rows may be chosen, and stay chosen when the list is read again."""

from collections.abc import Collection, Iterator
from itertools import groupby
from pathlib import Path

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QItemSelectionRange, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QMenu, QStyleOptionViewItem, QTableView

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.pages.sessions.arrow import NameDelegate
from flashscope.app.pages.sessions.columns import (
    COLUMNS,
    DATE_COLUMN,
    KERNELS_COLUMN,
    LEAST_FIRST,
    NAME_COLUMN,
)
from flashscope.app.pages.sessions.model import SessionsModel
from flashscope.app.pages.sessions.rows import RowKey, SessionRow
from flashscope.app.widgets.menus import pop_up
from flashscope.app.widgets.row_height import keep_row_height
from flashscope.profiles.store import SessionInfo

WIDEST = 260  # pixels of the kernels' and the notes' columns: a dozen would push the rest out of sight
NARROWEST = 190  # pixels of the names' column, however narrow the page is
MEASURED_ROWS = 100  # whose cells decide how wide columns are to begin with
FLAGS = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows


class SessionsTable(QTableView):
    """One row a session, but the runs of one plan in one row, which Right, Left or its arrow unfold and fold.

    Signals:
        chosen_changed: Other rows are chosen.
        menu_wanted: What can be done with the chosen rows is asked for, here on the screen (QPoint).
    """

    chosen_changed = Signal()
    menu_wanted = Signal(QPoint)

    def __init__(self, model: SessionsModel, theme: Theme) -> None:
        super().__init__(showGrid=False, sortingEnabled=True)
        self._model = model
        self._names = NameDelegate(model, theme, self)
        self.setItemDelegateForColumn(NAME_COLUMN, self._names)
        self._fitting = self._set_by_hand = False
        self._kept: tuple[set[RowKey], RowKey | None, int] = (set(), None, 0)
        self._expected: set[Path] | None = None
        self._stood: int | None = None  # the first of the rows that were chosen last
        self.setAccessibleName("Saved sessions")
        self.setModel(model)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setTabKeyNavigation(False)
        self.verticalHeader().hide()
        keep_row_height(self, 32)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setResizeContentsPrecision(MEASURED_ROWS)
        header.setStretchLastSection(True)
        header.setHighlightSections(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.sectionResized.connect(self._notice_hand)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._open_header_menu)
        self.sortByColumn(DATE_COLUMN, Qt.SortOrder.DescendingOrder)
        self.selectionModel().selectionChanged.connect(lambda *_: self.chosen_changed.emit())
        model.modelAboutToBeReset.connect(self._keep)
        model.modelReset.connect(self._choose_again)

    def chosen_rows(self) -> list[SessionRow]:
        """The chosen rows, in the order on show."""
        selection = self.selectionModel().selection()
        ranges = map(selection.at, range(selection.size()))
        places = {row for some in ranges for row in range(some.top(), some.bottom() + 1)}
        return [self._model.row_at(place) for place in sorted(places)]

    def chosen(self) -> list[SessionInfo]:
        """The sessions in the chosen rows, each once, in the order on show."""
        return list({info.path: info for row in self.chosen_rows() for info in row.runs}.values())

    def current(self) -> SessionRow | None:
        """The chosen row, of several the one that was chosen last."""
        index = self.currentIndex()
        if index.isValid() and self.selectionModel().isRowSelected(index.row(), index.parent()):
            return self._model.row_at(index.row())
        return next(iter(self.chosen_rows()), None)

    def choose(self, keys: Collection[RowKey], current: RowKey | None = None) -> None:
        """Choose these rows, by file or by what their runs share; a folded run by the row that it is in."""
        places = {place for key in keys if (place := self._model.row_of(key)) is not None}
        selection = QItemSelection()
        for first, last in _runs(sorted(places)):
            ends = self._model.index(first, 0), self._model.index(last, self._model.columnCount() - 1)
            selection.append(QItemSelectionRange(*ends))
        place = None if current is None else self._model.row_of(current)
        if place is not None:
            index = self._model.index(place, 0)
            self.selectionModel().setCurrentIndex(index, QItemSelectionModel.SelectionFlag.NoUpdate)
        self.selectionModel().select(selection, FLAGS)

    def expect(self, paths: set[Path]) -> None:
        """Have the next list that is read whole choose these, or the neighbour of what it has no more."""
        self._expected = paths

    def choose_expected(self) -> None:
        """Choose what is expected and on show; else, where nothing is chosen, what stands in its place."""
        paths, self._expected = self._expected, None
        if paths is None:
            return
        back = [path for path in paths if self._model.row_of(path) is not None]
        if back:
            self.choose(back, back[0])
            self.scrollTo(self.currentIndex())  # it is current already where its row alone moved
        elif not self.chosen_rows() and self._stood is not None and self._model.rows_shown:
            key = self._model.row_at(min(self._stood, self._model.rows_shown - 1)).key
            self.choose([key], key)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the arrows, and fit the columns: another zoom ends in this."""
        self._names.apply_theme(theme)
        self.fit_columns()

    def turn(self) -> None:
        """Unfold the row that was chosen last, or fold it; of a run below its row fold that."""
        row = self.current()
        family = None if row is None else row.family or self._model.family_of(row.newest.path)
        if family is not None:
            self._model.unfold(family, not self._model.is_unfolded(family))

    @guarded()
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Right unfolds the row of a plan's runs; Left folds it, also from a row below it."""
        keypad = Qt.KeyboardModifier.KeypadModifier
        if not event.modifiers() & ~keypad and event.key() in self._turning_keys():
            self.turn()
        else:
            super().keyPressEvent(event)

    def _turning_keys(self) -> set[int]:
        """The key that turns the row that was chosen last; none where it is alone."""
        row = self.current()
        if row is None or (row.family is None and not row.below):
            return set()
        unfolded = row.below or (row.family is not None and self._model.is_unfolded(row.family))
        return {Qt.Key.Key_Left if unfolded else Qt.Key.Key_Right}

    @guarded()
    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Fold or unfold where an arrow is clicked, and choose nothing."""
        if not self._turn_at(event):
            super().mousePressEvent(event)

    @guarded()
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Fold or unfold once more where it is an arrow that is clicked twice."""
        if not self._turn_at(event):
            super().mouseDoubleClickEvent(event)

    def _turn_at(self, event: QMouseEvent) -> bool:
        """Whether a click meant an arrow, which is then turned."""
        place = event.position().toPoint()
        index = self.indexAt(place)
        if event.button() != Qt.MouseButton.LeftButton or not index.isValid():
            return False
        family = self._model.row_at(index.row()).family
        if family is None or not self._arrow(index.row()).contains(place):
            return False
        self._model.unfold(family, not self._model.is_unfolded(family))
        return True

    def _arrow(self, row: int) -> QRect:
        """Where the arrow of a row stands, as high as the row."""
        index = self._model.index(row, NAME_COLUMN)
        option = QStyleOptionViewItem()
        self.initViewItemOption(option)
        option.rect = cell = self.visualRect(index)
        arrow = self._names.arrow(option, index)
        return QRect(cell.left(), cell.top(), arrow.right() + 1 - cell.left(), cell.height())

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
        """Give each column what its texts take, and the names what is left; hide what has no room."""
        if self._set_by_hand:
            return
        self._fitting = True
        for column in range(NAME_COLUMN, self._last + 1):
            self.setColumnHidden(column, False)
        self.resizeColumnsToContents()
        self.setColumnWidth(KERNELS_COLUMN, min(self.columnWidth(KERNELS_COLUMN), px(WIDEST)))
        left = self._hide_what_has_no_room()
        self.setColumnWidth(NAME_COLUMN, min(self.columnWidth(NAME_COLUMN), max(left, px(NARROWEST))))
        self._fitting = False

    def _hide_what_has_no_room(self) -> int:
        """Shorten the long columns before any is hidden; pixels that the others leave to the names."""
        widths = {column: self.columnWidth(column) for column in range(NAME_COLUMN + 1, self._last)}
        header = self.horizontalHeader()
        notes = max(self.sizeHintForColumn(self._last), header.sectionSizeHint(self._last))
        # Qt makes the column that it stretches no narrower than that
        widths[self._last] = max(min(notes, px(WIDEST)), header.defaultSectionSize())
        whole = self.viewport().width()
        if whole - sum(widths.values()) < px(NARROWEST):
            widths |= {one: min(widths[one], px(NARROWEST)) for one in (KERNELS_COLUMN, self._last)}
            self.setColumnWidth(KERNELS_COLUMN, widths[KERNELS_COLUMN])
        for column in sorted(LEAST_FIRST, key=self._says_something):
            if whole - sum(widths.values()) >= px(NARROWEST):
                break
            self.setColumnHidden(column, True)
            del widths[column]
        return whole - sum(widths.values())

    def _says_something(self, column: int) -> bool:
        """Whether any of the rows that are measured has a text there."""
        return any(row.texts[column] for row in self._model.rows()[:MEASURED_ROWS])

    @property
    def _last(self) -> int:
        return self._model.columnCount() - 1

    def _notice_hand(self, column: int) -> None:
        shown = [one for one in range(self._last + 1) if not self.isColumnHidden(one)]
        stretched = column == max(shown, default=NAME_COLUMN)
        self._set_by_hand = self._set_by_hand or not (self._fitting or stretched)

    def _open_header_menu(self, place: QPoint) -> None:
        """Say which columns have no room."""
        menu = QMenu(self)
        for text in hidden_columns_text(
            [one.title for n, one in enumerate(COLUMNS) if self.isColumnHidden(n)]
        ):
            menu.addAction(text).setEnabled(False)
        pop_up(menu, self.horizontalHeader().mapToGlobal(place))

    def _keep(self) -> None:
        current = self.current()
        chosen = {row.key for row in self.chosen_rows()}
        if chosen:
            self._stood = min(place for key in chosen if (place := self._model.row_of(key)) is not None)
        self._kept = chosen, current.key if current else None, self.verticalScrollBar().value()

    def _choose_again(self) -> None:
        chosen, current, scrolled = self._kept
        if chosen:
            self.choose(chosen, current)
        self.verticalScrollBar().setValue(scrolled)
        self.chosen_changed.emit()


def hidden_columns_text(titles: list[str]) -> list[str]:
    """What the menu of the headings says of the columns that are hidden."""
    if not titles:
        return ["Every column is shown."]
    return ["Shown in a wider window or at a smaller size:", *titles]


def _runs(rows: list[int]) -> Iterator[tuple[int, int]]:
    """The first and the last of rows that stand together; they rise."""
    for _, run in groupby(enumerate(rows), key=lambda placed: placed[1] - placed[0]):
        together = [row for _place, row in run]
        yield together[0], together[-1]
