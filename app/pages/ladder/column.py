"""A column of source: its rows with their signs, in the colours of the language."""

from collections.abc import Collection, Mapping, Sequence
from math import ceil

from PySide6.QtCore import Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QResizeEvent,
    QSyntaxHighlighter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from flashscope.app.control.guard import guarded
from flashscope.app.look.contrast import mixed
from flashscope.app.look.kernel_marks import LEGIBLE
from flashscope.app.look.theme import Theme
from flashscope.app.plots.stepper.ink import mix
from flashscope.app.words.own.line_diff import AFTER, BEFORE, GAP, SAME, DiffRow
from flashscope.app.words.own.tokens import Token, TokenKind

SIGN = 2  # characters in front of a row: its sign and a blank
TINT = 0.86  # of the card in the ground of a line that has changed
MARKED = "marked"  # in place of the sign of a line that is marked
LIT = 0.72  # the same of a line that is marked
FAINT = 0.45  # of the card in the letters of a line that stands back


def grounds(theme: Theme) -> Mapping[str, str]:
    """What is behind a row, by its sign, and behind one that is marked."""
    return {
        SAME: theme.raised,
        GAP: theme.panel,
        BEFORE: mix(theme.error, theme.raised, TINT).name(),
        AFTER: mix(theme.ok, theme.raised, TINT).name(),
        MARKED: mix(theme.accent, theme.raised, LIT).name(),
    }


def inks(theme: Theme, ground: str) -> Mapping[TokenKind | str, str]:
    """The colours of what stands there, each legible on it."""
    wanted = {
        "comment": theme.dim,
        "keyword": theme.accent,
        "literal": theme.warn,
        "directive": theme.dim,
        BEFORE: theme.error,
        AFTER: theme.ok,
        GAP: theme.dim,
        SAME: theme.text,
    }
    return {kind: mixed(colour, theme.text, ground, LEGIBLE) for kind, colour in wanted.items()}


class Colours(QSyntaxHighlighter):
    """Colours the rows of a document."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self.rows: Sequence[DiffRow] = ()
        self.tokens: Sequence[Sequence[Token]] = ()
        self.marked: Collection[int] | None = None  # lines; None: none stands back
        self._faint = QTextCharFormat()
        self._formats: dict[str, dict[str, QTextCharFormat]] = {}

    def use(self, theme: Theme) -> None:
        """Take a theme's colours."""
        self._formats = {
            sign: {
                kind: _format(colour, bold=kind in {BEFORE, AFTER})
                for kind, colour in inks(theme, ground).items()
            }
            for sign, ground in grounds(theme).items()
        }

        self._faint = _format(mix(theme.text, theme.raised, FAINT).name(), bold=False)

    @guarded()
    def highlightBlock(self, text: str) -> None:
        """Colour a row: its sign, then its tokens as far as they stand in it."""
        number = self.currentBlock().blockNumber()
        if number >= len(self.rows):
            return
        row = self.rows[number]
        if self.marked is not None and row.number not in self.marked:
            self.setFormat(0, len(text), self._faint)
            return
        formats = self._formats[row.sign if self.marked is None else MARKED]
        self.setFormat(0, len(text) if row.sign == GAP else SIGN, formats[row.sign])
        for token in self.tokens[row.number] if row.number is not None else ():
            start, end = (place - row.shift for place in (token.start, token.start + token.length))
            if end > 0:
                self.setFormat(SIGN + max(0, start), end - max(0, start), formats[token.kind])


def _format(colour: str, *, bold: bool) -> QTextCharFormat:
    form = QTextCharFormat()
    form.setForeground(QColor(colour))
    form.setFontWeight(QFont.Weight.Bold if bold else QFont.Weight.Normal)
    return form


class CodeColumn(QPlainTextEdit):
    """Source that is read; lines that are gone or new have a sign and a ground.

    Args:
        name: What a screen reader calls it.
        theme: The colours in use.
    """

    def __init__(self, name: str, theme: Theme) -> None:
        super().__init__(readOnly=True)
        self.setAccessibleName(name)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabChangesFocus(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self._theme, self._staged = theme, False
        self._colours = Colours(self.document())
        self._colours.use(theme)

    @property
    def columns(self) -> int:
        """Characters of source that a row has room for."""
        room = self.viewport().width() - 2 * self.document().documentMargin()
        return int(room / QFontMetricsF(self.font()).horizontalAdvance("0")) - SIGN

    def show_rows(
        self,
        rows: Sequence[DiffRow],
        tokens: Sequence[Sequence[Token]],
        marked: Collection[int] | None = None,
    ) -> None:
        """Show these lines, from the first.

        Args:
            rows: What stands there.
            tokens: Of each line of the source.
            marked: The lines that have a ground while all others stand back; None: none does.
        """
        self._colours.rows, self._colours.tokens, self._colours.marked = rows, tokens, marked
        self.setPlainText("\n".join(f"{row.sign} {row.text}" for row in rows))
        self._mark()
        self._fit_lines()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        self._colours.use(theme)
        self._colours.rehighlight()
        self._mark()

    def take_stage(self, *, on: bool) -> None:
        """Stand without frame and bar, the keys left to the stage; or be one to work with."""
        bar = Qt.ScrollBarPolicy.ScrollBarAlwaysOff if on else Qt.ScrollBarPolicy.ScrollBarAlwaysOn
        self.setVerticalScrollBarPolicy(bar)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus if on else Qt.FocusPolicy.StrongFocus)
        self.setProperty("stage", on)
        self.style().unpolish(self)
        self.style().polish(self)
        self._staged = on
        self._fit_lines()

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """On a stage have no line that is seen in part."""
        super().resizeEvent(event)
        self._fit_lines()

    def _fit_lines(self) -> None:
        before = self.viewportMargins().bottom()
        room = self.viewport().height() + before - self.contentOffset().y()
        line = self.blockBoundingRect(self.firstVisibleBlock()).height()
        rest = ceil(room % line) if self._staged and line else 0
        if rest != before:
            self.setViewportMargins(0, 0, 0, rest)

    @property
    def top(self) -> int:
        """The row on top."""
        return self.verticalScrollBar().value()

    def show_row(self, number: int) -> None:
        """Have this line on top."""
        self.verticalScrollBar().setValue(number)
        self._fit_lines()

    def _mark(self) -> None:
        """Give the rows their grounds."""
        behind, marked = grounds(self._theme), self._colours.marked
        block, marks = self.document().firstBlock(), []
        for row in self._colours.rows:
            chosen = marked is not None and row.number in marked
            if chosen or (marked is None and row.sign != SAME):
                mark = QTextEdit.ExtraSelection()
                mark.cursor = QTextCursor(block)
                mark.format.setBackground(QColor(behind[MARKED if chosen else row.sign]))
                mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
                marks.append(mark)
            block = block.next()
        self.setExtraSelections(marks)
