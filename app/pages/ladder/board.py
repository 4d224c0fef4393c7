"""Two columns of source beside each other, which scroll together."""

from collections.abc import Collection, Sequence
from typing import cast

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.look.fonts import mono_font
from flashscope.app.look.theme import TEXT_PX, Theme
from flashscope.app.look.zoom import ZOOM
from flashscope.app.pages.ladder.column import CodeColumn
from flashscope.app.pages.ladder.source_diff import SourceDiff
from flashscope.app.stage.marking import marked_lines
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.words.own.line_diff import AFTER, BEFORE, GAP, SAME, DiffRow, sides
from flashscope.app.words.own.tokens import Token
from flashscope.kernels.cuda.reading.step import StepSource

CODE_PX = TEXT_PX - 1
LEAST_COLUMNS = 24
PROLOGUE = ("directive", "comment")
KERNEL = "__global__"  # what the first line of a kernel holds
AROUND = 8  # rows
ABOVE = 2  # rows over the first that is marked


class LadderBoard(QWidget):
    """Shows a reading; without a predecessor one column.

    Attributes:
        columns: Of the predecessor and of the kernel.

    Args:
        theme: The colours in use.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.columns = (CodeColumn("Source before", theme), CodeColumn("Source", theme))
        self.headings = (PlainLabel(), PlainLabel())
        self._reading: SourceDiff | None = None
        self._alone: QWidget | None = None  # the column that is to fill the board
        self._whole, self._starts = False, cast("Sequence[str]", ())
        self._marked: Sequence[Collection[int] | None] = (None, None)  # lines of both
        self._px: float = CODE_PX
        self._rows: tuple[Sequence[DiffRow], Sequence[DiffRow]] = ((), ())
        self._laid = 0  # characters of a column as it is laid out
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(8)
        self._sides = [QWidget(), QWidget()]
        for side, heading, column in zip(self._sides, self.headings, self.columns, strict=True):
            heading.setProperty("role", "title")
            heading.setMinimumWidth(1)
            stack = QVBoxLayout(side)
            stack.setContentsMargins(0, 0, 0, 0)
            stack.setSpacing(4)
            stack.addWidget(heading)
            stack.addWidget(column, 1)
            self._row.addWidget(side, 1)
        for column, other in zip(self.columns, reversed(self.columns), strict=True):
            column.verticalScrollBar().valueChanged.connect(
                lambda value, other=other: self._follow(other, value)
            )
        ZOOM.changed.connect(self._size)
        self._size()

    def show_reading(
        self, reading: SourceDiff, *, whole: bool, starts: Sequence[str] = (), marked: Sequence[str] = ()
    ) -> None:
        """Show what has changed, or all of it.

        Args:
            reading: The two sources.
            whole: Whether all of it is shown; what is wanted on top, or marked, is in all.
            starts: What the lines hold that are to be on top.
            marked: What the lines hold that are marked, or their numbers in the kernel's source.
        """
        self._reading, self._starts = reading, starts
        self._whole = whole or not reading.hunks or bool(starts) or bool(marked)
        before, after = reading.sources
        lit = marked_lines(before, marked, numbered=False), marked_lines(after, marked)
        self._marked = lit if any(lit) else (None, None)
        self._stand()
        for heading, sign, source in zip(self.headings, (BEFORE, AFTER), reading.sources, strict=True):
            if source is not None:
                alike = f", {reading.alike_words}" if reading.alike else ""
                heading.setText(
                    f"{sign if reading.hunks else ''} {source.kernel} · {source.file}{alike}".strip()
                )
        self._lay_out()
        self.to_code()

    def set_px(self, size: float = CODE_PX) -> None:
        """Write in letters of this size at 100 %."""
        self._px = size
        self._size()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        for column in self.columns:
            column.apply_theme(theme)

    def fill_with(self, exhibit: QWidget | None) -> None:
        """Show one column alone, or both."""
        self._alone = exhibit
        self._stand()
        self._fit()

    def _stand(self) -> None:
        """Show the columns that have a source; one alone, if that is wanted and it has one."""
        there = [source is not None for source in self._reading.sources] if self._reading else [True, True]
        wanted = [self._alone in {None, column} for column in self.columns]
        both = [one and other for one, other in zip(there, wanted, strict=True)]
        for side, seen in zip(self._sides, both if any(both) else there, strict=True):
            side.setVisible(seen)
        self._row.activate()  # what is shown next is broken at the new widths

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break the lines elsewhere."""
        super().resizeEvent(event)
        self._fit()

    def _size(self) -> None:
        for column in self.columns:
            column.setFont(mono_font(self._px))
        self._fit()

    def _fit(self) -> None:
        """Lay out anew where a column has room for more or fewer characters."""
        if self._reading is not None and self._width() != self._laid:
            tops = [_line_at(rows, column.top) for rows, column in zip(self._rows, self.columns, strict=True)]
            self._lay_out()
            for column, rows, top in zip(self.columns, self._rows, tops, strict=True):
                column.show_row(_row_of(rows, top))

    def _width(self) -> int:
        """Characters that both columns have room for."""
        return max(LEAST_COLUMNS, min(self._rooms()))

    def _rooms(self) -> list[int]:
        """Characters that each column on show has room for."""
        shown = zip(self._sides, self.columns, strict=True)
        return [column.columns for side, column in shown if not side.isHidden()]

    def _lay_out(self) -> None:
        reading = self._reading
        if reading is None:
            return
        self._laid = self._width()
        hunks = reading.whole if self._whole else reading.hunks
        self._rows = sides(hunks, self._laid, aligned=self._aligned)
        shown = zip(self.columns, self._rows, reading.tokens, self._marked, strict=True)
        for column, rows, tokens, marked in shown:
            column.show_rows(rows, tokens, marked)

    def to_code(self) -> None:
        """Have the first change of the code on top; of another file's source the kernel."""
        reading = self._reading
        if reading is None:
            return
        if self._marked[1] and not self._starts:
            first = max(0, _row_of(self._rows[1], min(self._marked[1])) - ABOVE)
            before = first if self._aligned or not self._marked[0] else self._row_before()
            tops = [before, first]
        elif self._aligned:
            firsts = map(_first, self._rows, reading.tokens)
            tops = [_with_place(self._rows[1], min(firsts))] * 2
        else:
            starts = self._starts or (KERNEL,)
            told = zip(self._rows, reading.sources, (starts[0], starts[-1]), strict=True)
            tops = [_row_of(rows, _line_with(source, text)) for rows, source, text in told]
        for column, top in zip(self.columns, tops, strict=True):
            column.show_row(top)

    def _row_before(self) -> int:
        return max(0, _row_of(self._rows[0], min(self._marked[0] or (0,))) - ABOVE)

    def go_on(self, rows: int) -> None:
        """Go so many rows on, or back."""
        for column in self.columns[:1] if self._aligned else self.columns:
            column.show_row(column.top + rows)

    @property
    def _aligned(self) -> bool:
        """Whether lines that belong together stand beside each other."""
        return self._reading is not None and self._reading.related and not self._starts

    def _follow(self, other: CodeColumn, value: int) -> None:
        if self._aligned:
            other.show_row(value)


def _first(rows: Sequence[DiffRow], tokens: Sequence[Sequence[Token]]) -> int:
    """The first row that has changed and is code; the last of all where there is none."""
    for number, row in enumerate(rows):
        if row.number is not None and row.sign != SAME and row.text.strip():
            line = tokens[row.number]
            if not any(token.kind in PROLOGUE and token.start == 0 for token in line):
                return number
    return len(rows)


def _line_with(source: StepSource | None, text: str) -> int:
    """The number of the first line that holds a text."""
    lines = source.text.splitlines() if source is not None else ()
    return next((number for number, line in enumerate(lines) if text in line), 0)


def _with_place(rows: Sequence[DiffRow], number: int) -> int:
    """The row that says where these lines stand; of changes in directives alone the first row."""
    if number == len(rows):
        return 0
    return next((at for at in range(number, max(0, number - AROUND), -1) if rows[at].sign == GAP), number)


def _line_at(rows: Sequence[DiffRow], top: int) -> int:
    """The line that stands at a row, or next after it."""
    return next((row.number for row in rows[top:] if row.number is not None), 0)


def _row_of(rows: Sequence[DiffRow], line: int) -> int:
    """Where a line begins."""
    return next((at for at, row in enumerate(rows) if row.number is not None and row.number >= line), 0)
