"""A cut beside the one that its kernel ships with: a line for everything they take."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.words.glossary import with_line
from flashscope.app.words.inside.cuts import CutRow

HEADINGS = ("", "this cut", "shipped")


class CutTable(QWidget):
    """Labels in three columns, made once."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setVerticalSpacing(1)
        self._grid.setHorizontalSpacing(16)
        self._grid.setColumnStretch(0, 1)
        for column, heading in enumerate(HEADINGS):
            self._grid.addWidget(self._label(heading, "caption", column), 0, column)
        self._lines: list[list[PlainLabel]] = []

    def show_rows(self, rows: Sequence[CutRow]) -> None:
        """Write the lines; what differs from the shipped cut stands out."""
        while len(self._lines) < len(rows):
            self._add_line()
        for line, row in zip(self._lines, rows, strict=True):
            for label, text in zip(line, row[:3], strict=True):
                label.setText(text)
                set_tip(label, with_line(text, row.tip))
            role = "title" if row.ours != row.shipped else ""
            if line[1].property("role") != role:
                line[1].setProperty("role", role)
                line[1].style().unpolish(line[1])
                line[1].style().polish(line[1])

    @property
    def texts(self) -> list[list[str]]:
        """What the lines say."""
        return [[label.text() for label in line] for line in self._lines]

    def _add_line(self) -> None:
        row = len(self._lines) + 1
        line = [self._label("", role, column) for column, role in enumerate(("dim", "", "dim"))]
        for column, label in enumerate(line):
            self._grid.addWidget(label, row, column)
        self._lines.append(line)

    @staticmethod
    def _label(text: str, role: str, column: int) -> PlainLabel:
        label = PlainLabel(text)
        label.setProperty("role", role)
        set_tip(label, with_line(text, ""))
        if column:
            label.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return label
