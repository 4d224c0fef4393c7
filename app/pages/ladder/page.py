"""The page Source: the source of each kernel beside its predecessor's, its idea, and what it gained."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QVBoxLayout, QWidget

from flashscope.app.control.actions import Action
from flashscope.app.control.chores import Chores
from flashscope.app.control.controller import Controller
from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep
from flashscope.app.pages.base import Page
from flashscope.app.pages.ladder.board import LadderBoard
from flashscope.app.pages.ladder.ladder_recording import (
    LadderRecording,
    common_lengths,
    gain_text,
    read_ladder_recording,
)
from flashscope.app.pages.ladder.offers import offers
from flashscope.app.pages.ladder.own_source import (
    NOT_OURS,
    OWN,
    OwnReading,
    own_of,
    read_own,
    version_before,
)
from flashscope.app.pages.ladder.sass.board import SassBoard
from flashscope.app.pages.ladder.source_diff import (
    FIRST_PROBLEM,
    LABELS,
    SourceDiff,
    before_of,
    passes_of,
    read,
    steps_for,
)
from flashscope.app.pages.ladder.staging import LadderStaging
from flashscope.app.pages.ladder.stalls.board import StallsBoard
from flashscope.app.widgets.badge import Badge
from flashscope.app.widgets.clipboard import copy_text
from flashscope.app.widgets.dialogs.file_writer import FileWriter, WrittenKind
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.words.glossary import with_line
from flashscope.app.words.inside.timelines import NUMPY
from flashscope.app.words.own.own_kernels import takes
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.workload.problem import Passes
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import Session

FIRST = "flash3-b"
NOT_GAINED = "What it gains on a CPU is in no recording: a sweep on this machine measures it."
READING = "Reading the recording…"
READING_TEXT = "Looking for its text…"
IDEA_PX = 280  # where there is less, the choices go into the next line
SASS_COMMANDS = ("ladder.copy", "ladder.save", "ladder.order")
SASS = "The machine code of the kernel beside the lines that it comes from (S)"
STALLS = "Where its warps stood as it ran, and why: samples beside lines and instructions (L)"
BESIDE_A_SWEEP = "A sweep runs, and compiling beside it would disturb it: this is compiled when it has ended."
MACHINE_CODE = WrittenKind("Save the machine code", "Text", ".txt")
NO_BUILD = "No machine code is on show: switch on SASS in Source, and wait until the kernel is compiled."
COPIED = "The source with its machine code is on the clipboard."


class LadderPage(Page):
    """A sentence over two columns of source.

    Attributes:
        kernel: The step on show.
        marked: What the lines hold that are marked, or their numbers; none: no line stands back.
        starts: What the lines hold that are on top of the two columns, or of both; none: the first change is.
        recorded: What the bundled recording measured; None before it is read, or where it cannot be.
    """

    key = "ladder"

    def __init__(self, controller: Controller, theme: Theme) -> None:
        super().__init__(controller, theme)
        self.setObjectName("page")
        self.kernel = FIRST
        self.recorded: LadderRecording | None = None
        self.starts: Sequence[str] = ()
        self.marked: Sequence[str] = ()
        self._asked = False
        self._reading: SourceDiff | None = None
        self._own = own_of(controller.session)
        self.chores = Chores(self)
        self.idea, self.gain, self.badge = (
            PlainLabel(wordWrap=True),
            PlainLabel(READING, wordWrap=True),
            Badge(),
        )
        self.kernels, self.problems = DropDown(), DropDown()
        self.whole, self.sass, self.stalls = (QCheckBox(one) for one in ("Whole source", "SASS", "Stalls"))
        self.board, self.sass_board = LadderBoard(theme), SassBoard(theme, SASS_COMMANDS)
        self.stalls_board = StallsBoard(controller, theme)
        self.writer = FileWriter(self, self.chores, self.noticed.emit, MACHINE_CODE)
        self._lay_out()
        self._connect()
        self.apply_theme(theme)

    def _lay_out(self) -> None:
        self.idea.setProperty("role", "title")
        self.idea.setAccessibleName("Idea of the step")
        keep(self.idea, self.idea.setMinimumWidth, IDEA_PX)
        self.gain.setAccessibleName("What the step gained")
        self.kernels.setAccessibleName("Step on show")
        self.problems.setAccessibleName("Problem that it is compiled for, or the kernels in NumPy")
        self.problems.setMinimumContentsLength(max(map(len, LABELS)))
        self._offer_problems(FIRST_PROBLEM)
        self._offer_steps(FIRST)
        set_tip(self.whole, "All lines, not those around a change alone (W)")
        self._tips = {
            box: with_line(box.text(), tip) for box, tip in ((self.sass, SASS), (self.stalls, STALLS))
        }
        for box, tip in self._tips.items():
            set_tip(box, tip)
        parts = (self.idea, self.kernels, self.problems, self.whole, self.sass, self.stalls)
        head = Lines(parts, (self.idea,), 8)
        gained = self.gained = QWidget()
        row = QHBoxLayout(gained)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.gain, 1)
        row.addWidget(self.badge)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 10)
        column.setSpacing(8)
        column.addWidget(head)
        column.addWidget(gained)
        column.addWidget(self.board, 1)
        for board in (self.sass_board, self.stalls_board):
            column.addWidget(board, 1)
            board.hide()
        self.badge.hide()
        self.staging = LadderStaging(self, self.controller, (head, gained))

    def _connect(self) -> None:
        self.kernels.currentTextChanged.connect(lambda _name: self._chosen())
        self.problems.currentTextChanged.connect(lambda _label: self._choose_problem())
        self.whole.toggled.connect(lambda _on: self._show())
        self.sass.toggled.connect(lambda on: self._show_code(self.sass, on=on))
        self.stalls.toggled.connect(lambda on: self._show_code(self.stalls, on=on))
        self.sass_board.head.show_machine(self.controller.machine)
        self.controller.machine_found.connect(self.sass_board.head.show_machine)
        for changed in (self.sass_board.head.changed, self.sass_board.settled, self.stalls_board.settled):
            changed.connect(self.staging.changed)
        self.controller.running_changed.connect(lambda _running: self._block())
        self.controller.occupied_changed.connect(lambda _reason: self._block())
        self._block()
        self.controller.timelines.stage_asked.connect(
            lambda kernel, label, marked: self.show_step(kernel, label, marked=marked)
        )
        self.chores.failed.connect(lambda text, _details: self._not_recorded(text))

    def actions_offered(self) -> list[Action]:
        """What a user can do here."""
        return offers(self)

    def step(self, by: int) -> None:
        """Show the next step, or the one before."""
        self.kernels.setCurrentIndex(min(max(0, self.kernels.currentIndex() + by), self.kernels.count() - 1))

    def toggle(self, box: QCheckBox) -> None:
        """Show machine code or stalls, or the sources again; or say why there are none."""
        if box.isEnabled():
            box.toggle()
        else:
            self.noticed.emit(NOT_OURS)

    def other_order(self) -> None:
        """Show the instructions on show in another order."""
        (self.stalls_board if self.stalls.isChecked() else self.sass_board).other_order()

    def copy_sass(self) -> None:
        """Put the source with its machine code on the clipboard, or say that there is none."""
        if text := self.sass_board.text:
            copy_text(text)
        self.noticed.emit(COPIED if text else NO_BUILD)

    def save_sass(self) -> None:
        """Write the source with its machine code into a file, or say that there is none."""
        if text := self.sass_board.text:
            self.writer.ask(f"{self.kernel}-sass", text.encode)
        else:
            self.noticed.emit(NO_BUILD)

    @property
    def before(self) -> str:
        """The kernel that the step goes on from; empty: none."""
        return "" if self.label == OWN else before_of(self.kernel, self.label)

    @property
    def label(self) -> str:
        """The problem on show, as its curve is called."""
        return self.problems.currentText()

    @property
    def passes(self) -> Passes:
        """The pass on show, whose source it is."""
        return "forward" if self.label == OWN else passes_of(self.label)

    @property
    def members(self) -> Sequence[PointRow]:
        """What the recording measured of such problems."""
        return self.recorded.curves.get(self.label, ()) if self.recorded is not None else ()

    def show_step(
        self, kernel: str, label: str, starts: Sequence[str] = (), marked: Sequence[str] = ()
    ) -> None:
        """Show a step of the ladder; what is unknown or empty leaves what is on show."""
        self.starts, self.marked = starts, marked
        if self.label == OWN and kernel not in {"", *self._own}:
            label = label or FIRST_PROBLEM
        before = self.kernels.currentText(), self.label
        if self.problems.findText(label) >= 0:
            with QSignalBlocker(self.problems):  # both are read together
                self.problems.setCurrentText(label)
        self._offer_steps(kernel or self.kernel)
        if before != (self.kernels.currentText(), self.label):
            self._chosen()
        self._show()

    def show_session(self, session: Session | None) -> None:
        """Offer the sources of the kernels of the user's own that another session measured, if any."""
        if (own := own_of(session)) == self._own:
            return
        self._own, label = own, self.label
        self._offer_problems(label)
        if label == OWN:
            self._choose_problem()

    def kept(self) -> Callable[[], None]:
        """Give back the step and its problem, and which of lines, machine code and stalls are on show."""
        kernel, label = self.kernel, self.label
        boxes = [(box, box.isChecked()) for box in (self.whole, self.sass, self.stalls)]

        def give_back() -> None:
            for box, on in boxes:
                box.setChecked(on)
            self.show_step(kernel, label)

        return give_back

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        super().apply_theme(theme)
        self.badge.apply_theme(theme)
        self.board.apply_theme(theme)
        self.sass_board.apply_theme(theme)
        self.stalls_board.apply_theme(theme)

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        """Read what there is to show, once."""
        super().showEvent(event)
        if not self._asked:
            self._asked = True
            self._chosen()
            self.chores.do(read_ladder_recording, self._take_recorded)

    def _choose_problem(self) -> None:
        self._offer_steps(self.kernel)
        self._chosen()

    def _offer_problems(self, wanted: str) -> None:
        """Offer those there are; where the wanted one is none of them any more, the first."""
        labels = [*LABELS, *([OWN] if self._own else [])]
        with QSignalBlocker(self.problems):
            self.problems.clear()
            self.problems.addItems(labels)
            self.problems.setCurrentText(wanted if wanted in labels else FIRST_PROBLEM)

    def _offer_steps(self, wanted: str) -> None:
        """Offer those that have the pass on show; where the wanted one has none, the one it goes on from."""
        own = self.label == OWN
        there = [*self._own] if own else steps_for(self.label)
        instead = (there[0],) if own else (before_of(wanted, self.label), self.kernel, there[-1])
        with QSignalBlocker(self.kernels):
            self.kernels.clear()
            self.kernels.addItems(there)
            self.kernels.setCurrentText(next(name for name in (wanted, *instead) if name in there))

    def _chosen(self) -> None:
        self.kernel = self.kernels.currentText()
        for box, tip in self._tips.items():
            box.setChecked(box.isChecked() and self.label != OWN)
            box.setEnabled(self.label != OWN)
            set_tip(box, NOT_OURS if self.label == OWN else tip)
        self._tell()
        if self._asked:
            wanted = self.kernel, self.label
            if self.label == OWN:
                own = self._own[self.kernel]
                self.chores.do(partial(read_own, own, version_before(own, self._own)), self._take_own)
            else:
                self.chores.do(partial(read, *wanted), partial(self._take, wanted))
            if self.sass.isChecked():
                self.sass_board.show_kernel(*wanted)
            if self.stalls.isChecked():
                self.stalls_board.show_kernel(*wanted)

    def _take(self, wanted: tuple[str, str], found: SourceDiff | str) -> None:
        if wanted != (self.kernel, self.label):
            return  # another was chosen meanwhile
        self.board.setVisible(not (self.sass.isChecked() or self.stalls.isChecked()))
        if isinstance(found, str):
            self.idea.setText(found)
        else:
            self._reading = found
            self._show()

    def _take_own(self, found: OwnReading) -> None:
        if self.label == OWN and self._own.get(self.kernel) == found.kernel:
            self._reading = found.sources
            self.gain.setText(found.told)
            self.board.setVisible(found.sources is not None)
            self._show()

    def _take_recorded(self, found: LadderRecording) -> None:
        self.recorded = found
        self.badge.show_provenance(found.provenance)
        self._tell()

    def _show_code(self, box: QCheckBox, *, on: bool) -> None:
        """Have the machine code or the stalls in place of the predecessor, or the two sources again."""
        if on:
            (self.stalls if box is self.sass else self.sass).setChecked(False)
        sass, stalls = self.sass.isChecked(), self.stalls.isChecked()
        for part in (self.board, self.gained, self.whole):
            part.setVisible(not (sass or stalls))
        self.sass_board.setVisible(sass)
        self.stalls_board.setVisible(stalls)
        if on and box is self.sass:
            self.sass_board.show_kernel(self.kernel, self.label)
        elif on:
            self.stalls_board.show_kernel(self.kernel, self.label)
        elif box is self.sass:
            self.sass_board.cancel()
        self.staging.changed.emit()

    def _block(self) -> None:
        """Have nothing compiled beside what is measured."""
        self.sass_board.block(BESIDE_A_SWEEP if self.controller.measuring else self.controller.others_measure)

    def _not_recorded(self, reason: str) -> None:
        self.gain.setText(reason)
        self.staging.changed.emit()

    def _show(self) -> None:
        if self._reading is not None and self._reading.sources[1].kernel == self.kernel:
            self.board.show_reading(
                self._reading, whole=self.whole.isChecked(), starts=self.starts, marked=self.marked
            )
            self.staging.changed.emit()

    def _tell(self) -> None:
        """Say what the step is, and what it gained; of a kernel of one's own where its text is from."""
        if self.label == OWN:
            own = self._own[self.kernel]
            self.idea.setText(f"{own.name}: {own.idea or takes(own)}.")
            self.gain.setText(READING_TEXT)
            self.badge.hide()
            self.staging.changed.emit()
            return
        self.idea.setText(f"{self.kernel}: {find_kernel(self.kernel).idea_of(self.passes)}.")
        self.badge.setVisible(self.recorded is not None and self.label != NUMPY)
        if self.label == NUMPY:
            self.gain.setText(NOT_GAINED)
        elif self.recorded is not None:
            version = self.recorded.version_text(self.kernel)
            measured = bool(self.before) and bool(common_lengths(self.members, (self.before, self.kernel)))
            told = gain_text(self.members, self.kernel, self.before)
            self.gain.setText(" ".join(filter(None, (told, version if measured else ""))))
            set_tip(self.badge, version)
        self.staging.changed.emit()
