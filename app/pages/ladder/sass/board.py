"""The source of a kernel and its machine code: a line that is chosen in one is marked in the other."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from flashscope.app.control.chores import Chores
from flashscope.app.control.guard import guarded
from flashscope.app.figures.annotated_source import annotated_source
from flashscope.app.figures.instruction_lines import InstructionLines
from flashscope.app.figures.line_bars import NO_BARS, kind_bars
from flashscope.app.look.fonts import mono_font
from flashscope.app.look.kind_colours import kind_colours
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import ZOOM, px
from flashscope.app.pages.ladder.board import CODE_PX
from flashscope.app.pages.ladder.sass.counted_column import CountedColumn
from flashscope.app.pages.ladder.sass.head import SassHead
from flashscope.app.pages.ladder.sass.job import BuildAsked, SassJob, ShownBuild
from flashscope.app.pages.ladder.sass.notice import SassNotice
from flashscope.app.pages.ladder.sass.rows import SassRow, rows_of
from flashscope.app.pages.ladder.sass.sass_list import SassList
from flashscope.app.pages.ladder.source_diff import PROBLEMS
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.words.inside.sass import GIVEN_UP, NO_SASS, instruction_text, line_text
from flashscope.app.words.inside.timelines import NUMPY
from flashscope.app.words.own.line_diff import Line, LinePair, sides
from flashscope.app.words.own.tokens import Token, tokens_of
from flashscope.kernels.cuda.reading.step import StepSource, source_of
from flashscope.kernels.workload.errors import KernelError

LEAST_COLUMNS, MOST_KEPT = 24, 16
CODE_TITLE = "Machine code (SASS)"
CHOOSE = "Choose a line of the source, or an instruction: each marks the other."
COUNTED = "Source with the number of instructions of each line"
COUNTED_TIP = "The line, and how many instructions of the kernel come from it, by their kinds"
NARROW_PX = 720  # in less the source stands over the machine code
LEAST_PX = {Qt.Orientation.Horizontal: 240, Qt.Orientation.Vertical: 420}  # of both, in the lowest window
SOURCE, CODE = 11, 9  # how the two share the width


class ReadSource(NamedTuple):
    """A source, and the tokens of each of its lines."""

    source: StepSource
    tokens: Sequence[Sequence[Token]]


class SassBoard(QWidget):
    """Shows a build, which is made when it is asked for.

    Attributes:
        shown: The build on show; None: there is none.

    Signals:
        settled: What was asked for is there, or why it is not.

    Args:
        theme: The colours in use.
        commands: Keys of commands of the window's registry that the menu of the list has, too.
    """

    settled = Signal()

    def __init__(self, theme: Theme, commands: Sequence[str]) -> None:
        super().__init__()
        self._theme = theme
        self.shown: ShownBuild | None = None
        self._wanted: BuildAsked | None = None
        self._read: ReadSource | None = None
        self._blocked = ""  # why nothing can be compiled now
        self._held = False  # whether that is what is told
        self._laid = 0  # characters of a row as the source is laid out
        self.chores, self.job = Chores(self), SassJob(self)
        self.head, self.title, self.detail = SassHead(), ElidedLabel(), ElidedLabel()
        self.source = CountedColumn(COUNTED, theme, kind_colours, COUNTED_TIP)
        self.code = SassList(theme, commands)
        self.notice = SassNotice(self.cancel, self.try_again)
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        self.detail.setProperty("role", "dim")
        self.detail.setAccessibleName("What is chosen")
        self.stack = QStackedWidget()
        self.stack.addWidget(self.notice)
        self.stack.addWidget(self.code)
        self.split = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        self._side = titled(self.title, self.source)
        self.split.addWidget(self._side)
        self.split.addWidget(titled(ElidedLabel(CODE_TITLE), self.stack))
        for place, share in enumerate((SOURCE, CODE)):
            self.split.setStretchFactor(place, share)
        self.split.setHandleWidth(8)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.head)
        column.addWidget(self.split, 1)
        column.addWidget(self.detail)

    def _connect(self) -> None:
        self.head.changed.connect(self._choose_card)
        self.head.ordered.connect(self._order)
        self.source.chosen.connect(self._choose_line)
        self.code.pointed.connect(self._choose_row)
        self.job.ready.connect(self._take)
        self.job.refused.connect(self._refuse)
        self.split.splitterMoved.connect(lambda *_: self._fit())
        ZOOM.changed.connect(self._size)
        self._size()

    @property
    def lines(self) -> InstructionLines | None:
        """The instructions on show."""
        return self.shown.lines[self.head.entry] if self.shown is not None else None

    def show_kernel(self, kernel: str, label: str) -> None:
        """Show a kernel's build for a problem, on the chosen GPU."""
        self.shown, self._held = None, False
        self.job.cancel()
        self._show_nothing()
        if label == NUMPY:
            self._wanted = None
            self._show_source(None)
            self._say(NO_SASS)
            return
        wanted = self._wanted = BuildAsked(kernel, label, self.head.card)
        self.notice.show_making(f"Compiling {kernel} for the {wanted.card.name} …")
        self.stack.setCurrentWidget(self.notice)
        self.chores.do(partial(read_source, wanted), partial(self._take_source, wanted))

    def cancel(self) -> None:
        """Give up what is being made, or held back."""
        if self.job.active or self._held:
            self.job.cancel()
            self._held = False
            self._say(GIVEN_UP, again=True)

    def try_again(self) -> None:
        """Make it once more."""
        if self._wanted is not None and self.shown is None and not self.job.active:
            self.show_kernel(self._wanted.kernel, self._wanted.label)

    def block(self, reason: str) -> None:
        """Compile nothing for this reason, or what was held back for one; empty: there is none."""
        self._blocked = reason
        if reason and self.job.active:
            self.job.cancel()
            self._hold()
        elif not reason and self._held and self._wanted is not None:
            self.show_kernel(self._wanted.kernel, self._wanted.label)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        self.source.apply_theme(theme)
        self.code.apply_theme(theme)
        self._show_legend()

    @property
    def text(self) -> str:
        """The source with the instructions under its lines; empty: there is no build."""
        wanted = self._wanted
        if self.shown is None or self.lines is None or wanted is None:
            return ""
        listing, problem = self.shown.listing, PROBLEMS[wanted.label]
        kernel = listing.kernels[self.head.entry]
        return annotated_source(listing, wanted.card, problem, kernel, self.lines)

    def other_order(self) -> None:
        """Show the instructions in the other order."""
        keys = list(self.head.order.buttons)
        self.head.order.buttons[keys[1 - keys.index(self.head.order.current)]].setChecked(True)

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break the lines of the source elsewhere."""
        super().resizeEvent(event)
        self._arrange()
        self._fit()

    def _arrange(self) -> None:
        """Stand side by side where there is room for both."""
        narrow = self.width() < px(NARROW_PX)
        self.split.setOrientation(Qt.Orientation.Vertical if narrow else Qt.Orientation.Horizontal)
        self.split.setMinimumHeight(px(LEAST_PX[self.split.orientation()]))

    def _size(self) -> None:
        self.source.setFont(mono_font(CODE_PX))
        self._arrange()
        self._fit()

    def _fit(self) -> None:
        if self._read is not None and max(LEAST_COLUMNS, self.source.columns) != self._laid:
            line = self.source.line
            self._lay_source(self._read)
            if line:
                self.source.look_at(line)

    def _choose_card(self) -> None:
        if self._wanted is not None:
            self.show_kernel(self._wanted.kernel, self._wanted.label)

    def _take_source(self, wanted: BuildAsked, found: ReadSource | str) -> None:
        if wanted != self._wanted:
            return
        if isinstance(found, str):
            self._show_source(None)
            self._say(f"Not for the {wanted.card.name}: {found.rstrip('.')}.")
            return
        self._show_source(found)
        if self._blocked and not self.job.has(wanted):
            self._hold()
        else:
            self.job.ask(wanted)

    def _take(self, wanted: BuildAsked, shown: ShownBuild) -> None:
        if wanted == self._wanted:
            self.shown = shown
            self._show_code()
            self.settled.emit()

    def _refuse(self, wanted: BuildAsked, reason: str, details: str) -> None:
        if wanted == self._wanted:
            self._say(reason, details, again=True)

    def _hold(self) -> None:
        self._say(self._blocked)
        self._held = True

    def _say(self, reason: str, details: str = "", *, again: bool = False) -> None:
        """Say why there is no machine code."""
        self.notice.show_reason(reason, details, again=again)
        self.stack.setCurrentWidget(self.notice)
        self.settled.emit()

    def _show_source(self, read: ReadSource | None) -> None:
        self._read = read
        self.title.setText(read.source.heading if read is not None else "")
        self._side.setVisible(read is not None)
        if read is None:
            self.source.show_rows((), ())
        else:
            self._lay_source(read)

    def _lay_source(self, read: ReadSource) -> None:
        """Every line, broken at the width there is."""
        self._laid = max(LEAST_COLUMNS, self.source.columns)
        pairs = [
            LinePair(None, Line(*line), changed=False) for line in enumerate(read.source.text.splitlines())
        ]
        self.source.show_rows(sides([pairs], self._laid)[1], read.tokens)

    def _show_nothing(self) -> None:
        self.head.show_none()
        self.source.show_bars(NO_BARS)
        self.code.show_rows(None, ())
        self.detail.setText("")

    def _order(self) -> None:
        """Show another kernel, or the same in another order with the same instruction chosen."""
        current, before = self.code.current, self.code.code.lines
        self._show_code()
        if current is not None and current.at is not None and self.code.code.lines is before:
            self.code.choose(current.at)

    def _show_code(self) -> None:
        """The instructions of the chosen kernel in the chosen order."""
        if self.shown is None or self._wanted is None:
            return
        self.head.show_build(self._wanted, self.shown)
        lines = self.shown.lines[self.head.entry]
        self._show_legend()
        self.source.show_bars(kind_bars(lines))
        source, order = self.shown.listing.source, self.head.order.current
        text = source.text.splitlines()
        self.code.show_rows(
            lines, rows_of(lines, text, source.file, "address" if order == "address" else "line")
        )
        self.stack.setCurrentWidget(self.code)
        self.source.light(())
        self.source.begin_at(min(lines.counts, default=1) - 1)
        self.detail.setText(CHOOSE)

    def _show_legend(self) -> None:
        if self.lines is not None:
            self.head.show_legend(self._theme, self.lines.total)

    def _choose_line(self, line: int) -> None:
        """Mark the instructions of a line of the source, from 0."""
        lines = self.lines
        self.source.light((line,))
        if lines is not None:
            through = lines.through.get(line + 1, ())
            self.code.light(through)
            self._tell_line(lines, line + 1)

    def _choose_row(self, row: SassRow) -> None:
        """Mark the lines that an instruction comes from; of a heading its line."""
        lines, read = self.lines, self._read
        if lines is None or read is None or (row.at is None and row.home is None):
            return
        file = read.source.file
        places = lines.code[row.at].places if row.at is not None else (row.home,)
        own = [place.line - 1 for place in places if place is not None and place.file == file]
        self.source.light(own)
        if own:
            self.source.look_at(own[0])
        self.code.code.light(lines.groups.get(row.home, ()))
        if row.at is not None:
            self.detail.setText(instruction_text(lines.code[row.at], row.kind))
        elif own:
            self._tell_line(lines, own[0] + 1)

    def _tell_line(self, lines: InstructionLines, line: int) -> None:
        through = lines.through.get(line, ())
        self.detail.setText(line_text(line, lines.counts.get(line, Counter()), len(through)))


def titled(title: ElidedLabel, body: QWidget) -> QWidget:
    """A column under its title."""
    title.setProperty("role", "title")
    side = QWidget()
    column = QVBoxLayout(side)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(4)
    column.addWidget(title)
    column.addWidget(body, 1)
    return side


@lru_cache(maxsize=MOST_KEPT)
def read_source(wanted: BuildAsked) -> ReadSource | str:
    """The source of a build; why there is none."""
    try:
        source = source_of(wanted.kernel, PROBLEMS[wanted.label], wanted.card)
    except KernelError as error:
        return str(error)
    return ReadSource(source, tokens_of(source.text))
