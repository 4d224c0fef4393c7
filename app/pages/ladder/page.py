"""The Ladder page: the source of each kernel beside its predecessor's, its idea, and what it gained."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QVBoxLayout, QWidget

from flashscope.app.control.actions import Action, staged
from flashscope.app.control.chores import Chores
from flashscope.app.control.controller import Controller
from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.pages.base import Page
from flashscope.app.pages.ladder.board import LadderBoard
from flashscope.app.pages.ladder.ladder_recording import (
    LadderRecording,
    common_lengths,
    gain_text,
    read_ladder_recording,
)
from flashscope.app.pages.ladder.source_diff import (
    LABELS,
    SourceDiff,
    before_of,
    passes_of,
    read,
    steps_for,
)
from flashscope.app.pages.ladder.staging import LadderStaging
from flashscope.app.widgets.badge import Badge
from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.lines import Lines
from flashscope.app.widgets.plain import PlainLabel, set_tip
from flashscope.app.words.timelines import NUMPY
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.workload.problem import Passes
from flashscope.profiles.results.model.rows import PointRow

FIRST, FIRST_PROBLEM = "flash3-b", "d 128, no mask"
NOT_GAINED = "What it gains on a CPU is in no recording: a sweep on this machine measures it."
READING = "Reading the recording…"
STRIDE = 3  # rows that a key goes on


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
        self.chores = Chores(self)
        self.idea, self.gain, self.badge = (
            PlainLabel(wordWrap=True),
            PlainLabel(READING, wordWrap=True),
            Badge(),
        )
        self.kernels, self.problems = DropDown(), DropDown()
        self.whole = QCheckBox("Whole source")
        self.board = LadderBoard(theme)
        self._lay_out()
        self._connect()
        self.apply_theme(theme)

    def _lay_out(self) -> None:
        self.idea.setProperty("role", "title")
        self.idea.setAccessibleName("Idea of the step")
        self.gain.setAccessibleName("What the step gained")
        self.kernels.setAccessibleName("Step on show")
        self.problems.setAccessibleName("Problem that it is compiled for, or the kernels in NumPy")
        self.problems.addItems(list(LABELS))
        self.problems.setMinimumContentsLength(max(map(len, LABELS)))
        self.problems.setCurrentText(FIRST_PROBLEM)
        self._offer_steps(FIRST)
        set_tip(self.whole, "All lines, not those around a change alone (W)")
        head = Lines((self.idea, self.kernels, self.problems, self.whole), (self.idea,), 8)
        gained = QWidget()
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
        self.badge.hide()
        self.staging = LadderStaging(self, self.controller, (head, gained))

    def _connect(self) -> None:
        self.kernels.currentTextChanged.connect(lambda _name: self._chosen())
        self.problems.currentTextChanged.connect(lambda _label: self._choose_problem())
        self.whole.toggled.connect(lambda _on: self._show())
        self.controller.timelines.stage_asked.connect(
            lambda kernel, label, marked: self.show_step(kernel, label, marked=marked)
        )
        self.chores.failed.connect(lambda text, _details: self._not_recorded(text))

    def actions_offered(self) -> list[Action]:
        """What a user can do here."""
        return [
            Action("ladder.next", "Show the next step", lambda: self._step(1), "Ladder", "N"),
            Action("ladder.before", "Show the step before", lambda: self._step(-1), "Ladder", "P"),
            Action("ladder.whole", "Show the whole source, or its changes", self.whole.toggle, "Ladder", "W"),
            *staged(
                Action(
                    "ladder.on", "Go on in the source", lambda: self.board.go_on(STRIDE), "Ladder", "Down"
                ),
                Action(
                    "ladder.up", "Go back in the source", lambda: self.board.go_on(-STRIDE), "Ladder", "Up"
                ),
            ),
        ]

    @property
    def before(self) -> str:
        """The kernel that the step goes on from; empty: none."""
        return before_of(self.kernel, self.label)

    @property
    def label(self) -> str:
        """The problem on show, as its curve is called."""
        return self.problems.currentText()

    @property
    def passes(self) -> Passes:
        """The pass on show, whose source it is."""
        return passes_of(self.label)

    @property
    def members(self) -> Sequence[PointRow]:
        """What the recording measured of such problems."""
        return self.recorded.curves.get(self.label, ()) if self.recorded is not None else ()

    def show_step(
        self, kernel: str, label: str, starts: Sequence[str] = (), marked: Sequence[str] = ()
    ) -> None:
        """Show a step of the ladder; what is unknown or empty leaves what is on show."""
        self.starts, self.marked = starts, marked
        before = self.kernels.currentText(), self.label
        if label in LABELS:
            with QSignalBlocker(self.problems):  # both are read together
                self.problems.setCurrentText(label)
        self._offer_steps(kernel or self.kernel)
        if before != (self.kernels.currentText(), self.label):
            self._chosen()
        self._show()

    def kept(self) -> Callable[[], None]:
        """Give back the step and its problem, and whether all lines are on show."""
        kernel, label, whole = self.kernel, self.label, self.whole.isChecked()

        def give_back() -> None:
            self.whole.setChecked(whole)
            self.show_step(kernel, label)

        return give_back

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        super().apply_theme(theme)
        self.badge.apply_theme(theme)
        self.board.apply_theme(theme)

    @guarded()
    def showEvent(self, event: QShowEvent) -> None:
        """Read what there is to show, once."""
        super().showEvent(event)
        if not self._asked:
            self._asked = True
            self._chosen()
            self.chores.do(read_ladder_recording, self._take_recorded)

    def _step(self, by: int) -> None:
        self.kernels.setCurrentIndex(min(max(0, self.kernels.currentIndex() + by), self.kernels.count() - 1))

    def _choose_problem(self) -> None:
        self._offer_steps(self.kernel)
        self._chosen()

    def _offer_steps(self, wanted: str) -> None:
        """Offer those that have the pass on show; where the wanted one has none, the one it goes on from."""
        there = steps_for(self.label)
        instead = before_of(wanted, self.label), self.kernel, there[-1]
        with QSignalBlocker(self.kernels):
            self.kernels.clear()
            self.kernels.addItems(there)
            self.kernels.setCurrentText(next(name for name in (wanted, *instead) if name in there))

    def _chosen(self) -> None:
        self.kernel = self.kernels.currentText()
        self._tell()
        if self._asked:
            wanted = self.kernel, self.label
            self.chores.do(partial(read, *wanted), partial(self._take, wanted))

    def _take(self, wanted: tuple[str, str], found: SourceDiff | str) -> None:
        if wanted != (self.kernel, self.label):
            return  # another was chosen meanwhile
        if isinstance(found, str):
            self.idea.setText(found)
        else:
            self._reading = found
            self._show()

    def _take_recorded(self, found: LadderRecording) -> None:
        self.recorded = found
        self.badge.show_provenance(found.provenance)
        self._tell()

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
        """Say what the step is, and what it gained."""
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
