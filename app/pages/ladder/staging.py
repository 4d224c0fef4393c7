"""The page Source on a stage: a step's source beside its predecessor's, in letters that row 30 reads."""

from collections.abc import Sequence
from typing import Protocol

from msgspec.structs import replace
from PySide6.QtWidgets import QCheckBox, QWidget

from flashscope.app.control.bundled import stalls_title
from flashscope.app.control.controller import Controller
from flashscope.app.pages.ladder.board import LadderBoard
from flashscope.app.pages.ladder.ladder_recording import TITLE, LadderRecording, common_lengths
from flashscope.app.pages.ladder.own_source import NO_STAGE, OWN
from flashscope.app.pages.ladder.sass.board import SassBoard
from flashscope.app.pages.ladder.stalls.board import StallsBoard
from flashscope.app.pages.ladder.stalls.stops import scene_of_stalls
from flashscope.app.pages.staging import PageStaging
from flashscope.app.stage.blanks import fill
from flashscope.app.stage.names import STALLS
from flashscope.app.stage.scene import Scene
from flashscope.app.stage.story import Stop
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.words.inside.timelines import NUMPY
from flashscope.app.words.results.provenance import Provenance
from flashscope.kernels.workload.problem import Passes
from flashscope.profiles.results.model.rows import PointRow

CHANGED = "What changed most in the stalls: {stall-change}. {issued} of the samples issue."
CODE_PX = 9.6  # 24 pixels, 18 pt, at a stage's least zoom of 250 %


class Ladder(Protocol):
    """A step's source beside its predecessor's.

    Attributes:
        kernel: The step on show.
        recorded: What the bundled recording measured; None before it is read, or where it cannot be.
        idea: What the step adds.
        gain: What the step gained.
        whole: Whether all lines are on show.
        sass: Whether the machine code is on show, which it is not on a stage.
        sass_board: The machine code.
        stalls: Whether the stalls are on show.
        stalls_board: The stalls.
        board: The two sources.
    """

    kernel: str
    recorded: LadderRecording | None
    idea: PlainLabel
    gain: PlainLabel
    whole: QCheckBox
    sass: QCheckBox
    sass_board: SassBoard
    stalls: QCheckBox
    stalls_board: StallsBoard
    board: LadderBoard

    @property
    def before(self) -> str:
        """The kernel that the step goes on from; empty: none."""

    @property
    def label(self) -> str:
        """The problem on show, as its curve is called."""

    @property
    def passes(self) -> Passes:
        """The pass on show."""

    @property
    def members(self) -> Sequence[PointRow]:
        """What the recording measured of such problems."""

    def show_step(
        self, kernel: str, label: str, starts: Sequence[str] = (), marked: Sequence[str] = ()
    ) -> None:
        """Show a step of the ladder; what is unknown or empty leaves what is on show."""


class LadderStaging(PageStaging[Ladder]):
    """Shows the step that a stop names last, for the problems of its curve.

    Args:
        page: What shows it.
        controller: Has the session on show.
        aside: What is put away.
    """

    def __init__(self, page: Ladder, controller: Controller, aside: Sequence[QWidget]) -> None:
        super().__init__("ladder", page, controller, aside)
        self._seqlen: int | None = None

    @property
    def settled(self) -> bool:
        """Whether the step's source is on show; of what it gained the sentence waits."""
        board = self._page.stalls_board
        if self._page.stalls.isChecked():
            return board.read is not None and board.chores.idle
        return self._page.board.columns[1].blockCount() > 1

    @property
    def lack(self) -> str:
        """That kernels of the user's own are no steps of the ladder."""
        return NO_STAGE if self._page.label == OWN else super().lack

    @property
    def scene(self) -> Scene:
        """What the recording measured of the step and its predecessor."""
        page = self._page
        if page.stalls.isChecked():
            return scene_of_stalls(page.stalls_board.read)
        if page.recorded is None:
            return Scene(waiting=page.gain.text(), passes=page.passes)
        both = common_lengths(page.members, [name for name in (page.before, page.kernel) if name])
        seqlen = self._seqlen or max(both, default=None)
        return Scene(page.members, seqlen, page.kernel, page.before, passes=page.passes)

    @property
    def sentence(self) -> str:
        """The idea, and what it gained at the longest N."""
        told = self.stop
        return fill(told.sentence, self.scene)

    @property
    def provenance(self) -> Provenance:
        """The recording's, of the kernel on show; its stalls'; of machine code, that it was compiled."""
        page = self._page
        if page.stalls.isChecked():  # nothing of the recording of gains is on show beside them
            shown = page.stalls_board.shown
            source = super().provenance if shown is None else shown.provenance
            return source if shown is None else replace(source, of=f"stalls of {page.kernel}")
        if page.sass.isChecked() and page.sass_board.shown is not None:
            card = page.sass_board.head.card
            return Provenance("compiled", "cuda", f"for {card.name}, not run", of=page.kernel)
        known = page.recorded if page.label not in {NUMPY, OWN} else None
        source = known.provenance if known is not None else super().provenance
        return replace(source, of=page.kernel)

    @property
    def source(self) -> str:
        """The recording's name; of stalls that of theirs; of kernels in NumPy what they are."""
        if self._page.stalls.isChecked():
            board = self._page.stalls_board
            if board.shown in board.shelf.kept:
                return super().source
            return stalls_title() if board.shown in board.shelf.bundled else ""
        return NUMPY if self._page.label == NUMPY else TITLE

    @property
    def exhibits(self) -> Sequence[QWidget]:
        """The two columns."""
        return () if self._page.stalls.isChecked() else self._page.board.columns

    @property
    def stop(self) -> Stop:
        """The step on show."""
        page = self._page
        told = bool(page.before) and page.label != NUMPY  # of which nothing is recorded
        gained = f" Beside {page.before} at N = {{n}}: {{runtime against}}." if told else ""
        return replace(
            super().stop,
            kernels=tuple(name for name in (page.before, page.kernel) if name),
            curve=page.label,
            seqlen=self.scene.seqlen,
            mode=STALLS if page.stalls.isChecked() else "",
            sentence=CHANGED if page.stalls.isChecked() else f"{page.kernel}: {{idea}}.{gained}",
        )

    def show_stop(self, stop: Stop) -> None:
        """Show its step, large."""
        super().show_stop(stop)
        page, self._seqlen = self._page, stop.seqlen
        page.whole.setChecked(False)
        page.sass.setChecked(False)
        page.stalls.setChecked(stop.mode == STALLS)
        page.stalls_board.take_stage(on=True)
        page.board.set_px(CODE_PX)
        for column in page.board.columns:
            column.take_stage(on=True)
        page.show_step(stop.kernels[-1] if stop.kernels else "", stop.curve, stop.lines, stop.marked)

    def fill_with(self, exhibit: QWidget | None) -> None:
        """Show one source alone, or both."""
        self._page.board.fill_with(exhibit)

    def leave(self) -> None:
        """Show the sources in letters to work with."""
        super().leave()
        self._seqlen = None
        self._page.board.set_px()
        self._page.stalls_board.take_stage(on=False)
        self._page.show_step("", "")
        for column in self._page.board.columns:
            column.take_stage(on=False)
