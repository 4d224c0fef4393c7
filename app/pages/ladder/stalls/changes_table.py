"""Where the stalls went: the share of each reason in the step before and in the one on show."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QScrollArea, QVBoxLayout, QWidget

from flashscope.app.figures.stall_bars import part_of
from flashscope.app.look.stall_colours import stall_colours
from flashscope.app.look.theme import Theme
from flashscope.app.pages.ladder.stalls.reading import ReadProfile
from flashscope.app.widgets.plain import FormulaLabel, PlainLabel, escaped, set_tip
from flashscope.app.words.inside.stall_reasons import reason_line, reason_title
from flashscope.app.words.inside.stalls import change_text, changes_sentence, points_text

NAME, TIP = "Where the stalls went", "Of all samples of a launch, the share of each reason"
MOST_STAGED = 5  # rows
REASON, BEFORE, AFTER, CHANGE, MEANING = range(5)
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


class ChangesTable(QScrollArea):
    """A sentence over five columns, the largest changes first.

    Args:
        theme: The colours in use.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(widgetResizable=True)
        self._theme = theme
        self._read: ReadProfile | None = None
        self._most: int | None = None  # rows; None: all
        self.setAccessibleName(NAME)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.words = PlainLabel(wordWrap=True)
        self.words.setProperty("role", "title")
        inner, table = QWidget(), QWidget()
        self._grid = QGridLayout(table)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(20)
        self._grid.setVerticalSpacing(5)
        self._grid.setColumnStretch(MEANING, 1)
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 8, 0)
        column.setSpacing(10)
        column.addWidget(self.words)
        column.addWidget(table)
        column.addStretch(1)
        self.setWidget(inner)
        self._headings = [self._heading(at) for at in range(MEANING + 1)]
        self._rows: list[list[QLabel]] = []

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        self._write()

    def take_stage(self, *, on: bool) -> None:
        """Show on a stage the largest changes alone, without the sentence: the stop has its own."""
        self._most = MOST_STAGED if on else None
        self.words.setVisible(not on)
        self._write()

    def show_read(self, read: ReadProfile | None) -> None:
        """Show what became of each reason; nothing where there is no step before to compare with."""
        self._read = read
        self._write()

    @property
    def texts(self) -> list[list[str]]:
        """What the rows say, without what the reasons mean."""
        return [[label.text() for label in row[:MEANING]] for row in self._rows if not row[0].isHidden()]

    def _write(self) -> None:
        read = self._read
        changes = read.changes[: self._most] if read is not None else ()
        if read is not None and read.before is not None and changes:
            after = read.profile, read.facts
            self.words.setText(changes_sentence(read.before, after, changes[0]))
            names = (
                "reason",
                read.before[0].request.kernel,
                read.profile.request.kernel,
                "change, points",
                "what a warp waits for",
            )
            for heading, text in zip(self._headings, names, strict=True):
                heading.setText(text)
        else:
            self.words.setText("")
        while len(self._rows) < len(changes):
            self._add()
        colours = stall_colours(self._theme)
        for at, row in enumerate(self._rows):
            there = at < len(changes)
            for label in row:
                label.setVisible(there)
            if there:
                one = changes[at]
                mark = f'<span style="color:{colours[part_of(one.reason)]}">■</span> '
                row[REASON].setText(f"{mark}{escaped(reason_title(one.reason))}")
                row[BEFORE].setText(points_text(one.before))
                row[AFTER].setText(points_text(one.after))
                row[CHANGE].setText(change_text(one))
                row[MEANING].setText(reason_line(one.reason))

    def _heading(self, column: int) -> PlainLabel:
        label = PlainLabel()
        label.setProperty("role", "caption")
        if REASON < column < MEANING:
            label.setAlignment(RIGHT)
        set_tip(label, TIP)
        self._grid.addWidget(label, 0, column)
        return label

    def _add(self) -> None:
        row: list[QLabel] = [
            FormulaLabel(),
            *(PlainLabel(alignment=RIGHT) for _ in range(3)),
            PlainLabel(wordWrap=True),
        ]
        row[MEANING].setProperty("role", "dim")
        for column, label in enumerate(row):
            self._grid.addWidget(label, len(self._rows) + 1, column)
        self._rows.append(row)
