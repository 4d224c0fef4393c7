"""The rows of a session as a table model: texts to read, raw values to sort by."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import (
    QObject,
    QSortFilterProxyModel,
    Qt,
)
from PySide6.QtGui import QIcon

from flashscope.app.control.guard import guarded
from flashscope.app.figures.statuses import STATUS_MARKS
from flashscope.app.look.kernel_marks import kernel_mark
from flashscope.app.look.theme import Theme
from flashscope.app.plots.marks import mark_icon
from flashscope.app.plots.status_marks import status_icon
from flashscope.app.widgets.plain import plain_tip
from flashscope.app.widgets.row_table import Index, Raw, RowsModel, alignment, carried
from flashscope.app.words.glossary import with_line
from flashscope.app.words.kinds import words_of
from flashscope.app.words.plain import cut_short
from flashscope.app.words.results.trust import trust_text
from flashscope.app.words.units import thousands
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.model.curves import Curve
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.quantity import Quantity, value_of
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.wire.measurement import Figure

RAW = Qt.ItemDataRole.UserRole
ROLES = {  # that a cell has anything for; Qt asks for twice as many
    Qt.ItemDataRole.DisplayRole,
    RAW,
    Qt.ItemDataRole.TextAlignmentRole,
    Qt.ItemDataRole.ToolTipRole,
    Qt.ItemDataRole.DecorationRole,
}
ABSENT = "–"
MEASURED_ROWS = 200  # that decide how wide a column is
ROWS_A_STEP = 50  # of those
END_HINTS = {
    "q1": "Lower quartile",
    "q3": "Upper quartile",
    "low": "Lower end",
    "high": "Upper end",
    "least": "Least",
    "most": "Most",
}
KERNEL, STATUS, TRUST = "kernel", "status", "trust"  # the columns that have glyphs
PROBLEM = "problem"  # the column that tells several problems apart


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

    @property
    def right(self) -> bool:
        """Whether numbers stand in it."""
        return self.text is not None


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
    return thousands(round(value))


def _remark(row: PointRow, _: PointRow | None) -> Raw:
    return row.reason or row.note or None


def result_columns(label: Callable[[PointRow], str]) -> list[ResultColumn]:
    """Every column of the table: what was run, every quantity, the ends of spreads, the reason.

    `label`: the problem of a row in words.
    """
    quantities = QUANTITIES.values()
    return [
        ResultColumn(KERNEL, lambda row, _: row.kernel),
        ResultColumn(PROBLEM, lambda row, _: label(row), hint="What tells its problem from others here"),
        ResultColumn("N", lambda row, _: row.seqlen, _seqlen, "Query sequence length"),
        ResultColumn(STATUS, lambda row, _: STATUS_MARKS[row.status].word),
        ResultColumn(
            TRUST,
            lambda row, _: row.trust.word if row.trust else None,
            hint="How far to trust its figures: solid, fair, doubtful or impossible; a cell's tip says why",
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


class ResultsModel(RowsModel):
    """One row a point, in running order."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns = result_columns(self._label)
        self._theme = theme
        self._rows: Sequence[PointRow] = ()
        self._compared: Mapping[Problem, PointRow] = {}
        self._curves: Mapping[Problem, Curve] = {}

    @property
    def headings(self) -> Sequence[ResultColumn]:
        """The columns."""
        return self.columns

    @property
    def rows_shown(self) -> int:
        """Number of points."""
        return len(self._rows)

    def set_rows(
        self,
        rows: Sequence[PointRow],
        compared: Mapping[Problem, PointRow],
        curves: Mapping[Problem, Curve],
    ) -> None:
        """Show these rows beside the baseline's, by problem; the same number of rows keeps the selection.

        Of those only the ones from the first to the last that says anything else are drawn anew.

        `curves`: the curve of each problem among these rows.
        """
        if len(rows) == len(self._rows):
            changed = self._changed(rows, compared, curves)
            self._rows, self._compared, self._curves = rows, compared, curves
            if changed:
                last = self.index(changed[-1], len(self.columns) - 1)
                self.dataChanged.emit(self.index(changed[0], 0), last)
            return
        self.beginResetModel()
        self._rows, self._compared, self._curves = rows, compared, curves
        self.endResetModel()

    def _changed(
        self,
        rows: Sequence[PointRow],
        compared: Mapping[Problem, PointRow],
        curves: Mapping[Problem, Curve],
    ) -> list[int]:
        """Which of as many rows as there are say anything else than before."""
        others = {problem for problem, curve in curves.items() if curve != self._curves.get(problem)}
        known = {*compared, *self._compared}
        others |= {one for one in known if compared.get(one) is not self._compared.get(one)}
        pairs = enumerate(zip(self._rows, rows, strict=True))
        return [k for k, (old, new) in pairs if old is not new or (others and new.problem in others)]

    def longest_in_steps(self, column: int) -> Generator[None, None, str]:
        """The longest text in a column, of many rows that of a sample of them; a figure may take its time."""
        every, shown = max(1, len(self._rows) // MEASURED_ROWS), self.columns[column]
        longest = ""
        for number, row in enumerate(self._rows[::every]):
            longest = max(longest, _text(shown, self._raw(row, shown)), key=len)
            if number % ROWS_A_STEP == ROWS_A_STEP - 1:
                yield
        return longest

    def places(self, points: set[int]) -> list[int]:
        """The source rows of the points of these indices."""
        return [place for place, row in enumerate(self._rows) if row.point.index in points]

    def row_at(self, row: int) -> PointRow:
        """The point of a source row."""
        return self._rows[row]

    def apply_theme(self, theme: Theme) -> None:
        """Recolour the glyphs."""
        self._theme = theme
        self.draw_anew()

    def painted(self, row: int, column: int) -> tuple[str, QIcon | None]:
        """Text and glyph of a cell of a source row; to ask for them role by role takes a view far longer."""
        point, about = self._rows[row], self.columns[column]
        return self._shown(point, about), self._glyph(point, about.title)

    @guarded()
    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """Headings and their hints."""
        hint = self.columns[section].hint if orientation is Qt.Orientation.Horizontal else ""
        if role == Qt.ItemDataRole.ToolTipRole and hint:
            return plain_tip(with_line(self.columns[section].title, hint))
        return super().headerData(section, orientation, role)

    @guarded()
    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Text, raw value, alignment, glyph and tooltip of a cell."""
        return self._cell(index, role) if role in ROLES else None

    def _cell(self, index: Index, role: int) -> object:
        row, column = self._rows[index.row()], self.columns[index.column()]
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return self._shown(row, column)
            case Qt.ItemDataRole.UserRole:
                return carried(self._raw(row, column))
            case Qt.ItemDataRole.TextAlignmentRole:
                return alignment(column)
            case Qt.ItemDataRole.ToolTipRole:
                return plain_tip(self._tip(row, column)) or None
            case Qt.ItemDataRole.DecorationRole:
                return self._glyph(row, column.title)
        return None

    def _shown(self, row: PointRow, column: ResultColumn) -> str:
        return cut_short(_text(column, self._raw(row, column)))

    def _label(self, row: PointRow) -> str:
        return self._curves[row.problem].label

    def _raw(self, row: PointRow, column: ResultColumn) -> Raw:
        return column.raw(row, self._compared.get(row.problem))

    def _tip(self, row: PointRow, column: ResultColumn) -> str:
        """What a cell tells the pointer."""
        if column.title == TRUST and row.trust is not None:
            return with_line(row.trust.word, trust_text(row.trust))
        if column.title == KERNEL:
            return with_line(row.kernel, row.reason)
        if column.title == STATUS:
            return with_line(STATUS_MARKS[row.status].word, row.reason)
        return row.reason or self._missing(row, column)

    def _missing(self, row: PointRow, column: ResultColumn) -> str:
        """Why a point that has run has no figure there, as far as its reader told."""
        if column.quantity is None:
            return ""
        figure = column.quantity.figure(row, self._compared.get(row.problem))
        return figure.missing if figure is not None else ""

    def _glyph(self, row: PointRow, title: str) -> QIcon | None:
        if title == KERNEL:
            return mark_icon(row.kernel, self._theme)
        if title == TRUST and row.trust is not None:
            tones = {"solid": self._theme.ok, "fair": self._theme.warn}
            tone = tones.get(row.trust.word, self._theme.error)
            return status_icon(row.trust.word, tone, self._theme.on_accent)
        if title != STATUS:
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
