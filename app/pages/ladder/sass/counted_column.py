"""The source, a line of which is chosen, with a bar beside each line: its instructions or its stalls."""

from collections.abc import Callable, Collection, Sequence

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QResizeEvent, QTextCursor, QTextFormat
from PySide6.QtWidgets import QTextEdit, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.figures.line_bars import NO_BARS, LineBars, Parts
from flashscope.app.look.fonts import mono_font
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import ZOOM, px
from flashscope.app.pages.ladder.board import CODE_PX
from flashscope.app.pages.ladder.column import MARKED, CodeColumn, grounds
from flashscope.app.widgets.plain import set_tip
from flashscope.app.words.own.line_diff import DiffRow
from flashscope.app.words.own.tokens import Token

BAR_PX, PAD_PX, THICK = 36, 6, 0.5  # pixels, and the part of a line's height that a bar takes
LINE_DIGITS, COUNT_DIGITS = "000", "0000"
RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)


class CountGutter(QWidget):
    """The numbers and bars, left of the lines; a click chooses a line."""

    def __init__(self, column: "CountedColumn") -> None:
        super().__init__(column)
        self._column = column

    @guarded()
    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw those in sight."""
        painter = QPainter(self)
        painter.fillRect(event.rect(), QColor(self._column.look.panel))
        self._column.paint_counts(painter)
        painter.end()

    @guarded()
    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the line there."""
        self._column.choose_at(event.position())


class CountedColumn(CodeColumn):
    """Source with a caret, which the arrows move; the line that it is in is chosen.

    Args:
        name: What a screen reader calls it.
        theme: The colours in use.
        colours: The colours of the parts of a bar on a theme.
        tip: What the bars are.

    Attributes:
        look: The colours in use.

    Signals:
        chosen: The user chose another line (its number, from 0).
        resized: It has another width.
    """

    chosen = Signal(int)
    resized = Signal()

    def __init__(self, name: str, theme: Theme, colours: Callable[[Theme], Sequence[str]], tip: str) -> None:
        super().__init__(name, theme)
        self.look = theme
        self._bar_colours, self._bars = colours, NO_BARS
        self._lit: Collection[int] = ()  # lines, from 0
        self._rows: Sequence[DiffRow] = ()
        self._quiet = False
        mouse = Qt.TextInteractionFlag.TextSelectableByMouse
        self.setTextInteractionFlags(mouse | Qt.TextInteractionFlag.TextSelectableByKeyboard)
        self.gutter = CountGutter(self)
        set_tip(self.gutter, tip)
        self.cursorPositionChanged.connect(self._tell)
        self.updateRequest.connect(lambda _rect, _dy: self.gutter.update())
        ZOOM.changed.connect(self._make_room)
        self._make_room()

    @property
    def line(self) -> int | None:
        """The line that the caret is in, from 0."""
        number = self.textCursor().blockNumber()
        return self._rows[number].number if number < len(self._rows) else None

    def show_rows(
        self,
        rows: Sequence[DiffRow],
        tokens: Sequence[Sequence[Token]],
        marked: Collection[int] | None = None,
    ) -> None:
        """Show these lines, from the first, and choose none."""
        self._quiet, self._rows = True, rows
        super().show_rows(rows, tokens, marked)
        self._quiet = False
        self._light()

    def show_bars(self, bars: LineBars) -> None:
        """Show other bars beside the lines."""
        self._bars = bars
        self.gutter.update()

    def light(self, lines: Collection[int]) -> None:
        """Give these lines, from 0, a ground, and bring the first into sight unless one is."""
        self._lit = lines
        self._light()

    def look_at(self, line: int) -> None:
        """Move the caret to a line and bring it into the middle; nobody is told."""
        row = self._row_of(line)
        if row is not None:
            self._quiet = True
            self.setTextCursor(QTextCursor(self.document().findBlockByNumber(row)))
            self.centerCursor()
            self._quiet = False

    def begin_at(self, line: int) -> None:
        """Have a line on top."""
        row = self._row_of(line)
        if row is not None:
            self.show_row(row)

    def _row_of(self, line: int) -> int | None:
        return next((at for at, one in enumerate(self._rows) if one.number == line), None)

    def choose_at(self, place: QPointF) -> None:
        """Move the caret to the line at a height."""
        self.setTextCursor(self.cursorForPosition(QPointF(0, place.y()).toPoint()))
        self.setFocus(Qt.FocusReason.MouseFocusReason)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self.look = theme
        super().apply_theme(theme)
        self._light()
        self.gutter.update()

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the numbers beside the lines."""
        super().resizeEvent(event)
        self._place_gutter()
        if event.size().width() != event.oldSize().width():
            self.resized.emit()

    @guarded()
    def changeEvent(self, event: QEvent) -> None:
        """Numbers are in the letters of the source."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "gutter"):
            self._make_room()

    def _tell(self) -> None:
        line = self.line
        if line is not None and not self._quiet:
            self.chosen.emit(line)

    def _light(self) -> None:
        """Give the rows of the lines that are lit their ground."""
        ground, marks = QColor(grounds(self.look)[MARKED]), []
        for at, row in enumerate(self._rows):
            if row.number in self._lit:
                mark = QTextEdit.ExtraSelection()
                mark.cursor = QTextCursor(self.document().findBlockByNumber(at))
                mark.format.setBackground(ground)
                mark.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
                marks.append(mark)
        self.setExtraSelections(marks)

    def _digits_px(self, digits: str) -> int:
        return self.fontMetrics().horizontalAdvance(digits)

    def _make_room(self) -> None:
        digits = self._digits_px(LINE_DIGITS + COUNT_DIGITS)
        self.gutter.setFont(mono_font(CODE_PX))
        self.setViewportMargins(digits + px(BAR_PX + 4 * PAD_PX), 0, 0, 0)
        self._place_gutter()

    def _place_gutter(self) -> None:
        inner = self.contentsRect()
        width = self.viewportMargins().left()
        self.gutter.setGeometry(QRect(inner.left(), inner.top(), width, self.viewport().height()))

    def paint_counts(self, painter: QPainter) -> None:
        """Draw beside the first row of each line in sight its number, and the bar and count it may have."""
        painter.setFont(self.font())
        block, offset = self.firstVisibleBlock(), self.contentOffset()
        while block.isValid():
            place = self.blockBoundingGeometry(block).translated(offset)
            if place.top() > self.viewport().height():
                break
            at = block.blockNumber()
            if at < len(self._rows) and self._begins(at):
                line = (self._rows[at].number or 0) + 1
                self._paint_line(painter, place, line, self._bars.parts.get(line))
            block = block.next()

    def _begins(self, at: int) -> bool:
        """Whether a row is the first of its line."""
        number = self._rows[at].number
        return number is not None and (at == 0 or self._rows[at - 1].number != number)

    def _paint_line(self, painter: QPainter, place: QRectF, line: int, parts: Parts | None) -> None:
        pad, digits = px(PAD_PX), self._digits_px(LINE_DIGITS)
        painter.setPen(QColor(self.look.dim))
        painter.drawText(QRectF(pad, place.top(), digits, place.height()), RIGHT, f"{line}")
        if not parts:
            return
        count, left = sum(parts.values()), 2 * pad + digits
        painter.setPen(QColor(self.look.text))
        room = QRectF(left, place.top(), self._digits_px(COUNT_DIGITS), place.height())
        painter.drawText(room, RIGHT, self._bars.text(count))
        self._paint_bar(painter, room.right() + pad, place, parts, count)

    def _paint_bar(self, painter: QPainter, left: float, place: QRectF, parts: Parts, count: int) -> None:
        """A bar as long as the count, in its parts."""
        whole, high = max(1.0, px(BAR_PX) * count / self._bars.most), place.height() * THICK
        for kind in range(self._bars.kinds):
            if part := whole * parts.get(kind, 0) / count:
                bar = QRectF(left, place.center().y() - high / 2, part, high)
                painter.fillRect(bar, QColor(self._bar_colours(self.look)[kind]))
                left += part
