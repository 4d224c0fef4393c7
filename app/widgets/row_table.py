"""Tables of rows over columns: a model that says how many there are of both, and a view that copies rows."""

from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import QAbstractItemModel, QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QFontMetrics, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from flashscope.app.control.guard import guarded
from flashscope.app.look.fonts import ui_font
from flashscope.app.look.theme import CAPTION_PX
from flashscope.app.look.zoom import ZOOM, keep, px
from flashscope.app.widgets.clipboard import copy_text
from flashscope.app.widgets.plain import plain_tip
from flashscope.app.widgets.row_height import keep_row_height
from flashscope.app.words.glossary import line_of

ROW_PX = 24
LEAST_PX = 30  # that a user can make a column
HEADING_PX = 24  # beside the text of a heading: its padding, with the mark of sorting in it
Index = QModelIndex | QPersistentModelIndex
Raw = str | int | float | None  # what a cell is sorted by
MOST_OF_QT = 1 << 63  # from which on Qt carries no whole number


class Heading(Protocol):
    """What stands over a column."""

    @property
    def title(self) -> str:
        """Its words."""

    @property
    def right(self) -> bool:
        """Whether the column is aligned to the right, as numbers are."""


def heading_px(title: str) -> int:
    """Pixels that a heading takes; its own font may still be that of the zoom before."""
    return QFontMetrics(ui_font(CAPTION_PX, bold=True)).horizontalAdvance(title) + px(HEADING_PX)


def alignment(column: Heading) -> int:
    """How the cells of a column are aligned, as an item's role says it."""
    side = Qt.AlignmentFlag.AlignRight if column.right else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)


def carried(value: Raw) -> Raw:
    """A raw value as Qt can carry it: a sum of a file's bytes may be too long a whole number."""
    return float(value) if isinstance(value, int) and abs(value) >= MOST_OF_QT else value


class RowsModel(QAbstractTableModel):
    """What every model of rows over columns says; whoever extends it gives `data`, too."""

    @property
    def headings(self) -> Sequence[Heading]:
        """The columns."""
        raise NotImplementedError

    @property
    def rows_shown(self) -> int:
        """Number of rows."""
        raise NotImplementedError

    def draw_anew(self) -> None:
        """Have every cell drawn anew."""
        if self.rows_shown:
            last = self.index(self.rows_shown - 1, len(self.headings) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    @guarded(int)
    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of rows; a cell has none."""
        return 0 if parent.isValid() else self.rows_shown

    @guarded(int)
    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of columns; a cell has none."""
        return 0 if parent.isValid() else len(self.headings)

    @guarded()
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Titles of the columns, aligned as their cells; the tip of one that is a term says what it means."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        heading = self.headings[section]
        match role:
            case Qt.ItemDataRole.TextAlignmentRole:
                return alignment(heading)
            case Qt.ItemDataRole.DisplayRole:
                return heading.title
            case Qt.ItemDataRole.ToolTipRole:
                return plain_tip(line_of(heading.title)) or None
        return None


class RowTable(QTableView):
    """Shows rows in the order they come in until a heading is clicked; whole rows are selected and copied.

    Args:
        name: What a screen reader says.
        model: The rows.
    """

    def __init__(self, name: str, model: QAbstractItemModel) -> None:
        super().__init__()
        self.setModel(model)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setShowGrid(False)
        self.setSortingEnabled(True)
        self.sortByColumn(-1, Qt.SortOrder.AscendingOrder)
        self.verticalHeader().hide()
        keep_row_height(self, ROW_PX)
        self._by_hand: dict[int, float] = {}  # pixels at 100 % that the user has given a column
        self._sizing = False
        header = self.horizontalHeader()
        header.sectionResized.connect(self._notice_hand)
        keep(self, self._set_least, LEAST_PX)
        header.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        header.setStretchLastSection(True)
        header.setHighlightSections(False)

    def size_column(self, column: int, width: int) -> None:
        """Give a column this width in pixels, but one that the user has sized that one, at every zoom."""
        self._sizing = True
        kept = self._by_hand.get(column)
        self.setColumnWidth(column, width if kept is None else px(kept))
        self._sizing = False

    def _set_least(self, width: int) -> None:
        """Have none of the style sheet, or of the zoom before: it would widen narrow columns at any time."""
        self._sizing = True
        self.horizontalHeader().setMinimumSectionSize(width)
        self._sizing = False

    def _notice_hand(self, column: int, before: int, now: int) -> None:
        """Note what the user does; columns come and go without a width, and the last takes what is left."""
        header = self.horizontalHeader()
        last = max((k for k in range(header.count()) if not header.isSectionHidden(k)), default=0)
        if before and now and column != last and not self._sizing:
            self._by_hand[column] = now / ZOOM.factor

    def copy_rows(self) -> None:
        """Put the selected rows on the clipboard."""
        copy_text(self.copied())

    def copied(self) -> str:
        """The selected rows in the order on show, under their headings, as tab-separated text."""
        raise NotImplementedError

    @guarded()
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy whole rows, where Qt would copy one cell."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_rows()
        else:
            super().keyPressEvent(event)
