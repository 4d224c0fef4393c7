"""The rows of a session as a table model: texts to read, raw values to sort by."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
)

from app.plots.marks import mark_icon
from app.plots.status_marks import STATUS_MARKS, status_icon
from app.plots.units import bytes_text, ms_text, ratio_text, seqlen_full, share_text, tflops_text
from app.theme import Theme, kernel_mark
from profiles.groups import group_of
from profiles.summary import PointRow

Index = QModelIndex | QPersistentModelIndex
RAW = Qt.ItemDataRole.UserRole
ABSENT = "–"


@dataclass(frozen=True)
class Column:
    """One column: its heading, the raw value it sorts by, how that is written."""

    title: str
    raw: Callable[[PointRow], str | float | None]
    text: Callable[[float], str] | None = None
    hint: str = ""


def _error_text(value: float) -> str:
    return f"{value:.1e}"


def _whole(value: float) -> str:
    return str(round(value))


def _kept_apart(row: PointRow) -> None:
    """A speed-up is not a row's own: it depends on the baseline, so the model is given it beside the rows."""
    del row


COLUMNS = (
    Column("kernel", lambda row: row.kernel),
    Column("problem", lambda row: group_of(row).label, hint="Head dim and mask"),
    Column("N", lambda row: row.seqlen, lambda n: seqlen_full(round(n)), "Query sequence length"),
    Column("status", lambda row: STATUS_MARKS[row.status].word),
    Column("median", lambda row: row.runtime_ms_median, ms_text, "Median runtime of the accepted samples"),
    Column("speed-up", _kept_apart, ratio_text, "Over the baseline at the same N"),
    Column("throughput", lambda row: row.tflops, tflops_text, "FLOPs of the kept pairs over the median"),
    Column("kept", lambda row: row.kept_share, share_text, "Query-key pairs that the masks keep"),
    Column(
        "dense equiv.",
        lambda row: row.dense_tflops,
        tflops_text,
        "FLOPs without the block mask over the median: what a kernel that skips nothing would have to reach",
    ),
    Column("footprint", lambda row: row.footprint_bytes, bytes_text, "Inputs + outputs + workspace as held"),
    Column("predicted", lambda row: row.predicted_bytes, bytes_text, "The same before the launch"),
    Column("max |error|", lambda row: row.max_abs_error, _error_text, "Against the float64 oracle"),
    Column("q1", lambda row: row.runtime_ms_q1, ms_text, "Lower quartile of the runtime"),
    Column("q3", lambda row: row.runtime_ms_q3, ms_text, "Upper quartile of the runtime"),
    Column("samples", lambda row: row.samples or None, _whole, "Accepted samples"),
    Column(
        "allocator peak", lambda row: row.allocator_peak_bytes, bytes_text, "The allocator's high-water mark"
    ),
    Column("reason", lambda row: row.reason or row.note or None, hint="Why it is not done, or what it says"),
)
PROBLEM_COLUMN, SPEEDUP_COLUMN, KEPT_COLUMN, DENSE_COLUMN = (
    next(i for i, column in enumerate(COLUMNS) if column.title == title)
    for title in ("problem", "speed-up", "kept", "dense equiv.")
)


class ResultsModel(QAbstractTableModel):
    """One row a point, in running order."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: list[PointRow] = []
        self._speedups: list[float | None] = []

    def set_rows(self, rows: Sequence[PointRow], speedups: Sequence[float | None]) -> None:
        """Show these rows and the speed-up of each; the same number of rows keeps the selection."""
        if len(rows) == len(self._rows):
            self._rows, self._speedups = list(rows), list(speedups)
            if rows:
                self.dataChanged.emit(self.index(0, 0), self.index(len(rows) - 1, len(COLUMNS) - 1))
            return
        self.beginResetModel()
        self._rows, self._speedups = list(rows), list(speedups)
        self.endResetModel()

    def row_at(self, row: int) -> PointRow:
        """The point of a source row."""
        return self._rows[row]

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the glyphs."""
        self._theme = theme
        if self._rows:
            self.dataChanged.emit(self.index(0, 0), self.index(len(self._rows) - 1, len(COLUMNS) - 1))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of points."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """Number of columns."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Headings and their hints."""
        if orientation is not Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.ToolTipRole:
            return COLUMNS[section].hint
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return _alignment(section)
        return COLUMNS[section].title if role == Qt.ItemDataRole.DisplayRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Text, raw value, alignment, glyph and tooltip of a cell."""
        row, column = self._rows[index.row()], index.column()
        raw = self._speedups[index.row()] if column == SPEEDUP_COLUMN else COLUMNS[column].raw(row)
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return _text(COLUMNS[column], raw)
            case Qt.ItemDataRole.UserRole:
                return raw
            case Qt.ItemDataRole.TextAlignmentRole:
                return _alignment(column)
            case Qt.ItemDataRole.ToolTipRole:
                return row.reason or None
            case Qt.ItemDataRole.DecorationRole:
                return self._glyph(row, COLUMNS[column].title)
        return None

    def _glyph(self, row: PointRow, title: str) -> object:
        if title == "kernel":
            return mark_icon(row.kernel, self._theme)
        if title != "status":
            return None
        plain = {"done": self._theme.ok, "pending": self._theme.dim}
        return status_icon(row.status, plain.get(row.status, kernel_mark(row.kernel).on(self._theme)))


class ResultsProxy(QSortFilterProxyModel):
    """Sorts by raw values; cells without one stay at the end of a rising order."""

    def __init__(self, model: ResultsModel) -> None:
        super().__init__()
        self.setSourceModel(model)
        self.setSortRole(RAW)

    def lessThan(self, left: Index, right: Index) -> bool:
        """Whether the left cell comes first."""
        a, b = left.data(RAW), right.data(RAW)
        if a is None or b is None:
            return a is not None
        return bool(a < b)


def _text(column: Column, raw: str | float | None) -> str:
    if raw is None:
        return ABSENT if column.text else ""
    return column.text(float(raw)) if column.text else str(raw)


def _alignment(column: int) -> int:
    side = Qt.AlignmentFlag.AlignRight if COLUMNS[column].text else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)
