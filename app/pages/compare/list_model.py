"""Rows as a table that sorts and filters ten thousand of them at once, by their raw values."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor

from flashscope.app.control.guard import guarded
from flashscope.app.widgets.plain import plain_tip
from flashscope.app.widgets.row_table import Index, Raw, RowsModel, alignment, carried
from flashscope.app.words.plain import cut_short

T = TypeVar("T")


@dataclass(frozen=True)
class ListColumn(Generic[T]):
    """One column.

    Attributes:
        title: What stands over it.
        raw: The value it sorts by; rows without one stay at the end.
        text: What is read; None: the raw value as text.
        right: Whether it is aligned to the right, as numbers are.
        middle: Whether a text without room loses its middle: of names that begin alike the ends tell.
        tip: What its tool tip says.
        icon: Its icon.
        colour: The colour of its text, empty for the usual one.
    """

    title: str
    raw: Callable[[T], Raw]
    text: Callable[[T], str] | None = None
    right: bool = False
    middle: bool = False
    tip: Callable[[T], str] | None = None
    icon: Callable[[T], Any] | None = None
    colour: Callable[[T], str] | None = None

    def written(self, row: T) -> str:
        """What is read of a row."""
        return str(self.raw(row) or "") if self.text is None else self.text(row)


class ListModel(RowsModel, Generic[T]):
    """Shows those of its rows that a filter lets through, in an order of its own.

    A proxy would ask for both cells of every comparison: seconds for ten thousand rows.
    """

    def __init__(self, columns: Sequence[ListColumn[T]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns = tuple(columns)
        self._rows: Sequence[T] = ()
        self._shown: list[int] = []
        self._order: tuple[int, bool] | None = None
        self._wanted: Callable[[T], bool] | None = None

    @property
    def headings(self) -> Sequence[ListColumn[T]]:
        """The columns."""
        return self.columns

    @property
    def rows_shown(self) -> int:
        """Number of rows that the filter lets through."""
        return len(self._shown)

    def set_rows(self, rows: Sequence[T], wanted: Callable[[T], bool] | None = None) -> None:
        """Show other rows, only those that are wanted; None: all are."""
        self._rows = rows
        self.set_filter(wanted)

    def set_filter(self, wanted: Callable[[T], bool] | None) -> None:
        """Show only the rows that are wanted; None: all are."""
        self._wanted = wanted
        self._arrange()

    def row_at(self, row: int) -> T:
        """What stands in this row."""
        return self._rows[self._shown[row]]

    def where(self, number: int) -> int | None:
        """The row in which the row with this number stands; None: it is filtered out."""
        return self._shown.index(number) if number in self._shown else None

    def number_at(self, row: int) -> int:
        """The number of what stands in this row, counted before sorting and filtering."""
        return self._shown[row]

    def _arrange(self) -> None:
        self.beginResetModel()
        shown = [k for k, row in enumerate(self._rows) if self._wanted is None or self._wanted(row)]
        if self._order is not None:
            column, falling = self._order
            shown = _sorted(shown, [self.columns[column].raw(self._rows[one]) for one in shown], falling)
        self._shown = shown
        self.endResetModel()

    @guarded()
    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by the raw values of a column; -1: the order they came in."""
        falling = order == Qt.SortOrder.DescendingOrder
        self._order = (column, falling) if column >= 0 else None
        self._arrange()

    @guarded()
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Text, alignment, tool tip, icon and colour of a cell."""
        row, column = self.row_at(index.row()), self.columns[index.column()]
        give = _ROLES.get(role)
        return give(row, column) if give else None


def _sorted(numbers: Sequence[int], raws: Sequence[Raw], falling: bool) -> list[int]:
    """Numbers by their raw values, those without one last either way."""
    pairs = list(zip(raws, numbers, strict=True))
    known: list[tuple[Any, int]] = [pair for pair in pairs if pair[0] is not None]
    known.sort(key=lambda pair: pair[0], reverse=falling)
    return [number for _, number in known] + [number for raw, number in pairs if raw is None]


def _tip(row: Any, column: ListColumn[Any]) -> object:
    return plain_tip(column.tip(row)) if column.tip else None


def _icon(row: Any, column: ListColumn[Any]) -> object:
    return column.icon(row) if column.icon else None


def _colour(row: Any, column: ListColumn[Any]) -> object:
    colour = column.colour(row) if column.colour else ""
    return QColor(colour) if colour else None


_ROLES: dict[int, Callable[[Any, ListColumn[Any]], object]] = {
    Qt.ItemDataRole.DisplayRole: lambda row, column: cut_short(column.written(row)),
    Qt.ItemDataRole.UserRole: lambda row, column: carried(column.raw(row)),
    Qt.ItemDataRole.TextAlignmentRole: lambda _row, column: alignment(column),
    Qt.ItemDataRole.ToolTipRole: _tip,
    Qt.ItemDataRole.DecorationRole: _icon,
    Qt.ItemDataRole.ForegroundRole: _colour,
}
