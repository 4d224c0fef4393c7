"""The rows of a session as a table model: texts to read, raw values to sort by."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)

from app.control.guard import guarded
from app.look.theme import Theme, kernel_mark
from app.plots.marks import mark_icon
from app.plots.status_marks import status_icon
from app.plots.statuses import STATUS_MARKS
from app.widgets.plain import plain_tip
from app.words.kinds import words_of
from app.words.plain import cut
from app.words.trust import trust_text
from app.words.units import seqlen_full
from kernels.problem import Problem
from profiles.results.curves import Curve
from profiles.results.quantities import QUANTITIES
from profiles.results.quantity import Quantity, value_of
from profiles.results.rows import PointRow
from profiles.wire.measurement import Figure

Index = QModelIndex | QPersistentModelIndex
RAW = Qt.ItemDataRole.UserRole
ABSENT = "–"
END_HINTS = {
    "q1": "Lower quartile",
    "q3": "Upper quartile",
    "low": "Lower end",
    "high": "Upper end",
    "least": "Least",
    "most": "Most",
}
TRUST = "trust"
PROBLEM = "problem"  # the column that tells several problems apart


Raw = str | float | None


@dataclass(frozen=True)
class ResultColumn:
    """One column: its heading, the raw value it sorts by, how that is written.

    Attributes:
        title: What stands over it.
        raw: A row's value, beside the baseline's row.
        text: How a number is written; None: the value is text already.
        hint: What it says, for the tool tip.
        telling: Whether it says anything of a row; None: always.
        quantity: Whose values stand in it; None: no quantity's.
    """

    title: str
    raw: Callable[[PointRow, PointRow | None], Raw]
    text: Callable[[float], str] | None = None
    hint: str = ""
    telling: Callable[[PointRow], bool] | None = None
    quantity: Quantity | None = None


def _of_quantity(quantity: Quantity) -> ResultColumn:
    """The column of a quantity's values; one that needs a baseline is shown wherever there is a runtime."""

    def raw(row: PointRow, baseline: PointRow | None) -> Raw:
        return value_of(quantity, row, baseline)

    telling = None if quantity.relative else quantity.says
    return ResultColumn(quantity.short, raw, words_of(quantity).text, quantity.about, telling, quantity)


def _ends_of(quantity: Quantity) -> list[ResultColumn]:
    """The columns of the ends of a quantity's spread."""

    def low(row: PointRow, baseline: PointRow | None) -> Raw:
        return (quantity.figure(row, baseline) or Figure()).low

    def high(row: PointRow, baseline: PointRow | None) -> Raw:
        return (quantity.figure(row, baseline) or Figure()).high

    text = words_of(quantity).text
    return [
        ResultColumn(
            f"{quantity.short} {end}", raw, text, f"{END_HINTS[end]} of: {quantity.about}", quantity.says
        )
        for end, raw in zip(quantity.ends, (low, high), strict=True)
    ]


def _seqlen(value: float) -> str:
    return seqlen_full(round(value))


def _remark(row: PointRow, _: PointRow | None) -> Raw:
    return row.reason or row.note or None


def result_columns(label: Callable[[PointRow], str]) -> list[ResultColumn]:
    """Every column of the table: what was run, every quantity, the ends of spreads, the reason.

    `label`: the problem of a row in words.
    """
    quantities = QUANTITIES.values()
    return [
        ResultColumn("kernel", lambda row, _: row.kernel),
        ResultColumn(PROBLEM, lambda row, _: label(row), hint="What tells its problem from others here"),
        ResultColumn("N", lambda row, _: row.seqlen, _seqlen, "Query sequence length"),
        ResultColumn("status", lambda row, _: STATUS_MARKS[row.status].word),
        ResultColumn(
            TRUST,
            lambda row, _: row.trust.word if row.trust else None,
            hint="How far figures can be trusted: solid, fair or doubtful; a cell's tip has the reasons",
            telling=lambda row: row.trust is not None,
        ),
        ResultColumn(
            "part",
            lambda row, _: row.part,
            lambda part: str(round(part)),
            "Which part of the session it was measured in",
            telling=lambda row: (row.part or 1) > 1,
        ),
        *map(_of_quantity, quantities),
        *(column for quantity in quantities if len(quantity.names) > 1 for column in _ends_of(quantity)),
        ResultColumn(
            "reason",
            _remark,
            hint="Why it is not done, or what it says",
        ),
    ]


class ResultsModel(QAbstractTableModel):
    """One row a point, in running order."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns = result_columns(self._label)
        self._theme = theme
        self._rows: Sequence[PointRow] = ()
        self._compared: Mapping[Problem, PointRow] = {}
        self._curves: Mapping[Problem, Curve] = {}

    def set_rows(
        self,
        rows: Sequence[PointRow],
        compared: Mapping[Problem, PointRow],
        curves: Mapping[Problem, Curve],
    ) -> None:
        """Show these rows beside the baseline's, by problem; the same number of rows keeps the selection.

        `curves`: the curve of each problem among these rows.
        """
        self._curves = curves
        if len(rows) == len(self._rows):
            self._rows, self._compared = rows, compared
            self._all_changed()
            return
        self.beginResetModel()
        self._rows, self._compared = rows, compared
        self.endResetModel()

    def _all_changed(self) -> None:
        if self._rows:
            last = self.index(len(self._rows) - 1, len(self.columns) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def places(self, points: set[int]) -> list[int]:
        """The source rows of the points of these indices."""
        return [place for place, row in enumerate(self._rows) if row.point.index in points]

    def row_at(self, row: int) -> PointRow:
        """The point of a source row."""
        return self._rows[row]

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the glyphs."""
        self._theme = theme
        self._all_changed()

    @guarded(int)
    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of points."""
        return 0 if parent.isValid() else len(self._rows)

    @guarded(int)
    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of columns."""
        return 0 if parent.isValid() else len(self.columns)

    @guarded()
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Headings and their hints."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(self.columns[section].hint)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(self.columns[section])
        return self.columns[section].title if role == Qt.ItemDataRole.DisplayRole else None

    @guarded()
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Text, raw value, alignment, glyph and tooltip of a cell."""
        row, column = self._rows[index.row()], self.columns[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return cut(_text(column, self._raw(row, column)))
            case Qt.ItemDataRole.UserRole:
                return self._raw(row, column)
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
            case Qt.ItemDataRole.ToolTipRole:
                return plain_tip(self._tip(row, column)) or None
            case Qt.ItemDataRole.DecorationRole:
                return self._glyph(row, column.title)
        return None

    def _label(self, row: PointRow) -> str:
        return self._curves[row.problem].label

    def _raw(self, row: PointRow, column: ResultColumn) -> Raw:
        return column.raw(row, self._compared.get(row.problem))

    def _tip(self, row: PointRow, column: ResultColumn) -> str:
        """What a cell tells the pointer."""
        if column.title == TRUST and row.trust is not None:
            return trust_text(row.trust)
        return row.reason or self._missing(row, column)

    def _missing(self, row: PointRow, column: ResultColumn) -> str:
        """Why a point that has run has no figure there, as far as its reader told."""
        if column.quantity is None:
            return ""
        figure = column.quantity.figure(row, self._compared.get(row.problem))
        return figure.missing if figure is not None else ""

    def _glyph(self, row: PointRow, title: str) -> object:
        if title == "kernel":
            return mark_icon(row.kernel, self._theme)
        if title == TRUST and row.trust is not None:
            tones = {"solid": self._theme.ok, "fair": self._theme.warn, "doubtful": self._theme.error}
            return status_icon(row.trust.word, tones[row.trust.word], self._theme.on_accent)
        if title != "status":
            return None
        plain = {"done": self._theme.ok, "pending": self._theme.dim}
        colour = plain.get(row.status, kernel_mark(row.kernel).on(self._theme))
        return status_icon(row.status, colour, self._theme.on_accent)


class ResultsProxy(QSortFilterProxyModel):
    """Sorts by raw values; cells without one stay at the end of a rising order."""

    def __init__(self, model: ResultsModel) -> None:
        super().__init__()
        self.setSourceModel(model)
        self.setSortRole(RAW)

    @guarded(bool)
    def lessThan(self, left: Index, right: Index) -> bool:
        """Whether the left cell comes first."""
        a, b = left.data(RAW), right.data(RAW)
        if a is None or b is None:
            return a is not None
        return bool(a < b)


def _text(column: ResultColumn, raw: Raw) -> str:
    if raw is None:
        return ABSENT if column.text else ""
    return column.text(float(raw)) if column.text else str(raw)


def _alignment(column: ResultColumn) -> int:
    side = Qt.AlignmentFlag.AlignRight if column.text else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)
