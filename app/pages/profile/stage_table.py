"""The results on a stage: a line a kernel at one N, a column a quantity, the best figure of each in bold."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.figures.statuses import STATUS_MARKS
from flashscope.app.look.theme import DARK, Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.plots.marks import mark_pixmap
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.words.kinds import words_of
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.quantity import Quantity, value_of

GAP_PX = 12
LINE_PX = 22  # what a line takes at 100 %, its gap included
MARGIN = 12
MARK_PX = 13
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class StageTable(QWidget):
    """Shows as many kernels as there is room for, and counts the others."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Results")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self._theme: Theme = DARK
        self._rows: Sequence[PointRow] = ()
        self._quantities: Sequence[Quantity] = ()
        self._baseline: PointRow | None = None
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(MARGIN, 0, MARGIN, 0)
        self._grid.setVerticalSpacing(0)
        keep(self, self._grid.setHorizontalSpacing, GAP_PX)

    @guarded(QSize)
    def minimumSizeHint(self) -> QSize:
        """None of it: what has no room is counted in the last line."""
        return QSize(1, 1)

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show more kernels, or fewer."""
        super().resizeEvent(event)
        self._write()

    def show_rows(
        self, rows: Sequence[PointRow], quantities: Sequence[Quantity], baseline: PointRow | None
    ) -> None:
        """Show these points, of one N.

        Args:
            rows: One of each kernel.
            quantities: The columns.
            baseline: What relative quantities compare with.
        """
        self._rows, self._quantities, self._baseline = rows, quantities, baseline
        self._write()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        self._write()

    def texts(self) -> list[list[str]]:
        """What stands in each line, the heading first."""
        lines: list[list[str]] = []
        for row in range(self._grid.rowCount()):
            items = [self._grid.itemAtPosition(row, column) for column in range(self._grid.columnCount())]
            labels = [item.widget() for item in items if item is not None]
            line = [label.text() for label in labels if isinstance(label, PlainLabel) and label.text()]
            lines += [line] if line else []
        return lines

    def _write(self) -> None:
        """Every label anew: they are few."""
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
        room = max(2, self.height() // px(LINE_PX)) - 1
        shown = self._rows if len(self._rows) <= room else self._rows[: room - 1]
        for column, quantity in enumerate(self._quantities, 2):
            self._put(0, column, PlainLabel(quantity.title), "dim", RIGHT)
        best = {quantity.key: self._best(quantity) for quantity in self._quantities}
        for line, row in enumerate(shown, 1):
            self._write_row(line, row, best)
        left = self._rows[len(shown) :]
        if left:
            told = PlainLabel(f"and {len(left)} more")
            set_tip(told, ", ".join(row.kernel for row in left))
            told.setProperty("role", "dim")
            self._grid.addWidget(told, len(shown) + 1, 1, 1, max(1, len(self._quantities) + 1))
        self._grid.setColumnStretch(1, 1)
        for line in range(self._grid.rowCount()):
            self._grid.setRowStretch(line, 1 if line <= len(shown) + bool(left) else 0)

    def _write_row(self, line: int, row: PointRow, best: Mapping[str, float | None]) -> None:
        mark = PlainLabel()
        mark.setPixmap(mark_pixmap(row.kernel, self._theme, size=MARK_PX))
        self._grid.addWidget(mark, line, 0)
        self._put(line, 1, PlainLabel(row.kernel))
        if not row.done:
            word = STATUS_MARKS[row.status].word if row.status in STATUS_MARKS else row.status
            self._put(line, 2, PlainLabel(word), "dim", RIGHT)
            return
        for column, quantity in enumerate(self._quantities, 2):
            value = value_of(quantity, row, self._baseline)
            role = "stage" if value is not None else "dim"
            label = PlainLabel("–" if value is None else words_of(quantity).text(value))
            if value is not None and value == best[quantity.key]:
                role = "title"
            self._put(line, column, label, role, RIGHT)

    def _put(
        self,
        line: int,
        column: int,
        label: PlainLabel,
        role: str = "stage",
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignVCenter,
    ) -> None:
        label.setProperty("role", role)
        self._grid.addWidget(label, line, column, align)

    def _best(self, quantity: Quantity) -> float | None:
        known = [value_of(quantity, row, self._baseline) for row in self._rows if row.done]
        values = [value for value in known if value is not None]
        if not values or quantity.better not in {"higher", "lower"}:
            return None
        return max(values) if quantity.better == "higher" else min(values)
