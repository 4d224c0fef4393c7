"""The list of instructions: it scrolls as fast as it is drawn, whatever its length, and copies rows."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QItemSelection, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractItemView, QListView, QMenu

from flashscope.app.control.guard import guarded
from flashscope.app.figures.instruction_lines import InstructionLines
from flashscope.app.look.fonts import mono_font
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import ZOOM
from flashscope.app.pages.ladder.board import CODE_PX
from flashscope.app.pages.ladder.sass.painting import SassPainter
from flashscope.app.pages.ladder.sass.rows import Index, SassModel, SassRow
from flashscope.app.widgets.clipboard import copy_text
from flashscope.app.widgets.menus import commands_of, pop_up
from flashscope.app.words.inside.sass import listed_text

NAME = "Machine code"


class SassList(QListView):
    """Rows of one height, of which only those in sight are drawn.

    Args:
        theme: The colours in use.
        commands: Keys of commands of the window's registry that its menu has, too.
        colours: Those of the parts of bars on a theme; None: no row has one.

    Signals:
        pointed: Another row is the current one (`SassRow`).
    """

    pointed = Signal(object)

    def __init__(
        self,
        theme: Theme,
        commands: Sequence[str],
        colours: Callable[[Theme], Sequence[str]] | None = None,
    ) -> None:
        super().__init__()
        self._commands, self._painter = commands, SassPainter(theme, colours)
        self.code = SassModel()
        self.setAccessibleName(NAME)
        self.setModel(self.code)
        self.setItemDelegate(self._painter)
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        ZOOM.changed.connect(self._size)
        self._size()

    def _size(self) -> None:
        self.setFont(mono_font(CODE_PX))
        self.scheduleDelayedItemsLayout()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._painter.use(theme)
        self.viewport().update()

    def show_rows(self, lines: InstructionLines | None, rows: Sequence[SassRow]) -> None:
        """Show other rows, from the first."""
        self.code.show_rows(lines, rows)
        self.scrollToTop()

    def light(self, instructions: Sequence[int]) -> None:
        """Mark the instructions of a line, the first of them on top."""
        self.code.light(instructions)
        first = self.code.first_lit
        if first is not None:
            self.scrollTo(self.code.index(first), QAbstractItemView.ScrollHint.PositionAtTop)

    def choose(self, at: int) -> None:
        """Make an instruction the current row, in sight."""
        row = self.code.row_of(at)
        if row is not None:
            self.setCurrentIndex(self.code.index(row))
            self.scrollTo(self.code.index(row), QAbstractItemView.ScrollHint.PositionAtCenter)

    def look_at(self, at: int) -> None:
        """Bring an instruction into the middle; the current row stays."""
        row = self.code.row_of(at)
        if row is not None:
            self.scrollTo(self.code.index(row), QAbstractItemView.ScrollHint.PositionAtCenter)

    @property
    def current(self) -> SassRow | None:
        """The current row."""
        index = self.currentIndex()
        return self.code.rows[index.row()] if index.isValid() else None

    @guarded()
    def currentChanged(self, current: Index, previous: Index) -> None:
        """Tell of it."""
        super().currentChanged(current, previous)
        if current.isValid():
            self.pointed.emit(self.code.rows[current.row()])

    @guarded()
    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        """Draw what has changed, marked rows among it."""
        super().selectionChanged(selected, deselected)
        self.viewport().update()

    def copied(self) -> str:
        """The selected rows as text, in the order on show."""
        rows = sorted(index.row() for index in self.selectionModel().selectedIndexes())
        return "\n".join(self.code.rows[row].text for row in rows)

    def copy_rows(self) -> None:
        """Put the selected rows on the clipboard."""
        copy_text(self.copied())

    def copy_line(self) -> None:
        """Put all instructions of the current row's line on the clipboard, under its heading."""
        copy_text(self.line_copied())

    def line_copied(self) -> str:
        """All instructions of the line that the current row is of, as text."""
        row, lines = self.current, self.code.lines
        if row is None or lines is None:
            return ""
        members = lines.groups.get(row.home, ()) if row.at is not None or row.home is not None else ()
        return "\n".join(listed_text(lines.code[at]) for at in members)

    @guarded()
    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy all selected rows, where Qt would copy one."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy_rows()
        else:
            super().keyPressEvent(event)

    def menu(self) -> QMenu:
        """Its entries as they can be used now."""
        menu = QMenu(self)
        copy = menu.addAction("Copy", self.copy_rows)
        copy.setEnabled(bool(self.selectionModel().hasSelection()))
        line = menu.addAction("Copy all of this line", self.copy_line)
        line.setEnabled(bool(self.line_copied()))
        menu.addSeparator()
        menu.addActions(commands_of(self, self._commands))
        return menu

    @guarded()
    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the menu."""
        if self.code.rows:
            pop_up(self.menu(), event.globalPos())
