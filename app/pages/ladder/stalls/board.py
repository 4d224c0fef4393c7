"""The source of a kernel and its instructions as they ran, each with its samples by reason beside it."""

from collections import Counter
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QStackedWidget, QVBoxLayout, QWidget

from flashscope.app.control.chores import Chores
from flashscope.app.control.controller import Controller
from flashscope.app.control.guard import guarded
from flashscope.app.figures.line_bars import NO_BARS
from flashscope.app.figures.stall_bars import parts_of, share_of, stall_bars
from flashscope.app.look.fonts import mono_font
from flashscope.app.look.stall_colours import stall_colours
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import ZOOM, px
from flashscope.app.pages.ladder.board import CODE_PX
from flashscope.app.pages.ladder.sass.board import LEAST_COLUMNS, LEAST_PX, NARROW_PX, titled
from flashscope.app.pages.ladder.sass.counted_column import CountedColumn
from flashscope.app.pages.ladder.sass.rows import SassRow, rows_of
from flashscope.app.pages.ladder.sass.sass_list import SassList
from flashscope.app.pages.ladder.source_diff import PROBLEMS, before_of
from flashscope.app.pages.ladder.stalls.changes_table import ChangesTable
from flashscope.app.pages.ladder.stalls.head import StallsHead
from flashscope.app.pages.ladder.stalls.reading import ReadProfile, reading_of
from flashscope.app.pages.ladder.stalls.shelf import Shelved, StallShelf
from flashscope.app.widgets.elided import ElidedLabel
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.words.inside.sass import listed_text
from flashscope.app.words.inside.stalls import line_text, samples_text
from flashscope.app.words.inside.timelines import NUMPY
from flashscope.app.words.own.line_diff import Line, LinePair, sides
from flashscope.kernels.workload.stalls import StallRequest

COLUMN_NAME = "Source with the samples of each line"
COLUMN_TIP = "The line, and its share of all samples in percent, by reason"
CHOOSE = "Choose a line of the source, or an instruction: each marks the other."
NO_PYTHON = "The kernels in NumPy run on the CPU, which has no such samples: choose a problem in CUDA."
NONE_YET = "No stalls of {kernel} are recorded for {label}."
NO_GPU = "Sampling takes an NVIDIA GPU, and there is none here: open a session that has stall profiles."
HOW = "Sample here launches it once under Nsight Compute (ncu), on the problem of this page."
BESIDE = "Something else is measured, and sampling would disturb it: sample when it has ended."
OTHER_SOURCE = "The source has changed since these samples were taken: they have no lines here."
CODE_TITLE = "Machine code (SASS) as it ran"


class StallsBoard(QWidget):
    """Shows a profile of the kernel on show, and samples one.

    Attributes:
        read: The profile on show; None: there is none.
        shown: The same, and where it is from.

    Signals:
        settled: What was asked for is there, or why it is not.

    Args:
        controller: Samples, and has the session on show.
        theme: The colours in use.
    """

    settled = Signal()

    def __init__(self, controller: Controller, theme: Theme) -> None:
        super().__init__()
        self._controller, self._theme = controller, theme
        self.read: ReadProfile | None = None
        self.shown: Shelved | None = None
        self._kernel, self._label, self._refused, self._laid = "", "", "", 0
        self._there: Sequence[Shelved] = ()
        self.shelf, self.chores = StallShelf(controller, self), Chores(self)
        self.head, self.table, self.notice = (
            StallsHead(controller.stalls),
            ChangesTable(theme),
            PlainLabel(wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter),
        )
        self.source = CountedColumn(COLUMN_NAME, theme, stall_colours, COLUMN_TIP)
        self.code = SassList(theme, (), stall_colours)
        self.title, self.detail = ElidedLabel(), ElidedLabel()
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        self.detail.setProperty("role", "dim")
        self.detail.setAccessibleName("What is chosen")
        self.notice.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.notice.setAccessibleName("Why there are no stalls")
        self.split = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        self._side = titled(self.title, self.source)
        self.split.addWidget(self._side)
        self.split.addWidget(titled(ElidedLabel(CODE_TITLE), self.code))
        self.split.setHandleWidth(8)
        self.stack = QStackedWidget()
        for part in (self.notice, self.split, self.table):
            self.stack.addWidget(part)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.head)
        column.addWidget(self.stack, 1)
        column.addWidget(self.detail)

    def _connect(self) -> None:
        told, head = self._controller.stalls, self.head
        self.shelf.changed.connect(self._offer)
        head.chosen.connect(self._choose)
        head.ordered.connect(self._show_code)
        head.asked.connect(self.sample)
        head.kept.connect(self.keep)
        told.changed.connect(self._show_asked)
        told.progressed.connect(lambda done, _total: self._show_asked(done))
        told.failed.connect(lambda reason, _details: self._refuse(reason))
        for changed in (
            self._controller.running_changed,
            self._controller.occupied_changed,
            self._controller.machine_found,
        ):
            changed.connect(lambda *_: self._block())
        self.source.chosen.connect(self._choose_line)
        self.code.pointed.connect(self._choose_row)
        self.source.resized.connect(self._fit)
        ZOOM.changed.connect(self._size)
        self._size()
        self._block()

    def show_kernel(self, kernel: str, label: str) -> None:
        """Show the stalls of a kernel for the problems of a label, as far as there are any."""
        if (kernel, label) != (self._kernel, self._label):
            self._refused = ""
        self._kernel, self._label = kernel, label
        self.shelf.read()

    def sample(self) -> None:
        """Sample this kernel here, and the step before where nothing is there to compare with."""
        if not self.head.sample.isEnabled() or self.head.sample.isHidden() or self._label not in PROBLEMS:
            return
        self._refused, problem = "", PROBLEMS[self._label]
        before = before_of(self._kernel, self._label)
        known = {one.profile.request for one in self.shelf.sampled}
        wanted = [StallRequest(problem=problem, kernel=one) for one in (before, self._kernel) if one]
        self._controller.stalls.ask([one for one in wanted if one not in known or one.kernel == self._kernel])

    def keep(self) -> None:
        """Write what is on show and in no session into the session on show."""
        if self.read is not None and not self.head.keep.isHidden():
            self._controller.keeping.keep([self.read.profile])

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        self._theme = theme
        for part in (self.source, self.code, self.table):
            part.apply_theme(theme)
        if self.read is not None:
            self.head.show_legend(self.read, theme)

    def take_stage(self, *, on: bool) -> None:
        """Show on a stage where the stalls went, and elsewhere all there is to work with."""
        for part in (self.head, self.detail):
            part.setVisible(not on)
        self.head.view.buttons["changes" if on else "code"].setChecked(True)
        self.table.take_stage(on=on)

    def other_order(self) -> None:
        """Show the instructions in the next order."""
        keys = list(self.head.order.buttons)
        self.head.order.buttons[keys[(keys.index(self.head.order.current) + 1) % len(keys)]].setChecked(True)

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Stand side by side where there is room for both."""
        super().resizeEvent(event)
        self._arrange()

    def _size(self) -> None:
        self.source.setFont(mono_font(CODE_PX))
        self._arrange()
        self._fit()

    def _arrange(self) -> None:
        narrow = self.width() < px(NARROW_PX)
        self.split.setOrientation(Qt.Orientation.Vertical if narrow else Qt.Orientation.Horizontal)
        self.stack.setMinimumHeight(px(LEAST_PX[self.split.orientation()]))

    def _fit(self) -> None:
        """Break the lines of the source elsewhere where it has another width."""
        if self.read is not None and max(LEAST_COLUMNS, self.source.columns) != self._laid:
            line = self.source.line
            self._lay_source()
            if line:
                self.source.look_at(line)

    def _offer(self) -> None:
        """Offer the profiles that fit; what is on show stays if it is still there, and nothing newer is."""
        before = self.read.profile if self.read is not None else None
        known = [one.profile for one in self._there]
        self._there = self.shelf.of(self._kernel, self._label)
        there = [one.profile for one in self._there]
        newer = any(one not in known for one in there)
        place = there.index(before) if before in there and not newer else 0 if there else -1
        self.head.offer(self._there, place)
        self._choose()

    def _choose(self) -> None:
        place = self.head.place
        if not 0 <= place < len(self._there):
            self._take(None, None)
            return
        chosen = self._there[place]
        kernel = before_of(self._kernel, self._label)
        before = self.shelf.beside(chosen, kernel) if kernel else None
        reading = reading_of(chosen.profile, before.profile if before is not None else None)
        self.chores.do_instead(reading, partial(self._take, chosen))

    def _take(self, chosen: Shelved | None, read: ReadProfile | None) -> None:
        if chosen is not None and chosen not in self._there:
            return
        self.read = read
        self.head.show_read(read, self._theme)
        self.head.offer_keeping(
            self._controller.keeping.why_not, fresh=chosen is not None and self.shelf.is_fresh(chosen)
        )
        self.shown = chosen
        self.table.show_read(read)
        self._side.setVisible(read is not None and read.source is not None)
        self._lay_source()
        self._show_code()
        self._block()
        self.settled.emit()

    def _lay_source(self) -> None:
        """Every line, broken at the width there is, with its samples."""
        source = self.read.source if self.read is not None else None
        self._laid = max(LEAST_COLUMNS, self.source.columns)
        self.title.setText(source.source.heading if source is not None else "")
        if self.read is None or source is None:
            self.source.show_rows((), ())
            self.source.show_bars(NO_BARS)
            return
        pairs = [LinePair(None, Line(*one), changed=False) for one in enumerate(self.read.text or ())]
        self.source.show_rows(sides([pairs], self._laid)[1], source.tokens)
        self.source.show_bars(stall_bars(self.read.facts))

    def _show_code(self) -> None:
        """The instructions in the chosen order, or where the stalls went."""
        read = self.read
        if read is None:
            self.code.show_rows(None, ())
            self.detail.setText("")
            self._say()
            return
        self.code.show_rows(read.lines, stall_rows(read, self.head.order.current))
        changes = self.head.view.current == "changes" and bool(read.changes)
        self.head.order.setVisible(not changes)
        self.stack.setCurrentWidget(self.table if changes else self.split)
        self.detail.setText("" if changes else CHOOSE if read.source is not None else OTHER_SOURCE)
        place = read.facts.line_of(read.facts.most)
        if place is not None and not changes and read.source is not None:
            self.source.look_at(place[0] - 1)
            self._choose_line(place[0] - 1)
            self._show_hottest(read, place[0])

    def _show_hottest(self, read: ReadProfile, line: int) -> None:
        """Bring into sight the instruction of a line that has most samples; of all, where they come first."""
        if self.head.order.current == "samples":
            self.code.scrollToTop()
            return
        through = read.lines.through.get(line, ())
        self.code.look_at(max(through, key=lambda at: sum(read.facts.instructions[at].values()), default=0))

    def _say(self) -> None:
        """Say why there is nothing to show."""
        self.stack.setCurrentWidget(self.notice)
        told = [NONE_YET.format(kernel=self._kernel, label=self._label), self._why_not or HOW]
        if self._label == NUMPY:
            told = [NO_PYTHON]
        elif self._refused:
            told[1] = self._refused
        self.notice.setText("\n".join(told))

    @property
    def _why_not(self) -> str:
        """Why nothing can be sampled now; empty: something can."""
        controller = self._controller
        if controller.machine is None or controller.machine.device("cuda") is None:
            return NO_GPU
        if controller.stalls.asked is not None:
            return ""
        return BESIDE if controller.measuring else controller.others_measure

    def _block(self) -> None:
        self.head.block(self._why_not)
        self.head.sample.setVisible(self._label != NUMPY and self._controller.stalls.asked is None)
        if self.read is None:
            self._say()

    def _show_asked(self, done: int = 0) -> None:
        asked = self._controller.stalls.asked
        self.head.show_asked(asked.kernel if asked is not None else "", done, asked=asked is not None)

    def _refuse(self, reason: str) -> None:
        self._refused = reason
        if self.read is None:
            self._say()
        else:
            self.detail.setText(reason)

    def _choose_line(self, line: int) -> None:
        """Mark the instructions of a line of the source, from 0."""
        if self.read is not None:
            self.source.light((line,))
            self.code.light(self.read.lines.through.get(line + 1, ()))
            self.detail.setText(line_text(line + 1, self.read.facts))

    def _choose_row(self, row: SassRow) -> None:
        """Mark the line that an instruction comes from; of a heading its line."""
        read = self.read
        if read is None or (row.at is None and row.home is None):
            return
        if row.home is not None and read.source is not None:
            self.source.light((row.home.line - 1,))
            self.source.look_at(row.home.line - 1)
        self.code.code.light(read.lines.groups.get(row.home, ()))
        if row.at is None and row.home is not None:
            self.detail.setText(line_text(row.home.line, read.facts))
        elif row.at is not None:
            samples = read.facts.instructions[row.at]
            told = samples_text(samples, read.facts.total) if samples else "no samples"
            self.detail.setText(f"{listed_text(read.lines.code[row.at])} · {told}")


def stall_rows(read: ReadProfile, order: str) -> list[SassRow]:
    """The rows of a profile's instructions, each with its bar; headings with the share of their line."""
    facts, lines = read.facts, read.lines
    counts = [sum(samples.values()) for samples in facts.instructions]
    if order == "samples":
        places = sorted((at for at, count in enumerate(counts) if count), key=lambda at: (-counts[at], at))
        rows = [
            SassRow(listed_text(lines.code[at]), "", at, lines.homes[at], lines.kinds[at]) for at in places
        ]
    else:
        rows = rows_of(lines, read.text or (), read.profile.file, "address" if order == "address" else "line")
    return [_with_bar(row, read, counts) for row in rows]


def _with_bar(row: SassRow, read: ReadProfile, counts: Sequence[int]) -> SassRow:
    total = read.facts.total
    if row.at is not None:
        where = f"{row.home.line}" if row.home is not None else ""
        if not counts[row.at]:
            return row._replace(bar=Counter[int](), aside=where)
        bar = parts_of(read.facts.instructions[row.at])
        return row._replace(bar=bar, share=share_of(counts[row.at], total), aside=where)
    whole = sum(counts[at] for at in read.lines.groups.get(row.home, ())) if row.aside else 0
    return row._replace(aside=f"{share_of(whole, total)}%") if row.aside else row
