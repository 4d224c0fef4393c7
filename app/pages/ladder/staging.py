"""The Ladder page on a stage: a step's source beside its predecessor's, in letters that row 30 reads."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.pages.ladder.recorded import TITLE, lengths
from app.pages.staging import Staging
from app.stage.scene import Scene
from app.stage.story import Stop
from app.words.provenance import Provenance

if TYPE_CHECKING:
    from app.pages.ladder.page import LadderPage

CODE_PX = 9.6  # 24 pixels, 18 pt, at a stage's least zoom of 250 %


class LadderStaging(Staging):
    """Shows the step that a stop names last, for the problems of its curve."""

    def __init__(self, page: "LadderPage", aside: Sequence[QWidget]) -> None:
        super().__init__(page, page.key, page.controller, aside)
        self._page = page
        self._seqlen: int | None = None

    @property
    def scene(self) -> Scene:
        """What the recording measured of the step and its predecessor."""
        page = self._page
        if page.recorded is None:
            return Scene(waiting=page.gain.text(), passes=page.passes)
        both = lengths(page.members, [name for name in (page.before, page.kernel) if name])
        seqlen = self._seqlen or max(both, default=None)
        return Scene(page.members, seqlen, page.kernel, page.before, passes=page.passes)

    @property
    def sentence(self) -> str:
        """The idea, and what it gained."""
        return f"{self._page.idea.text()} {self._page.gain.text()}"

    @property
    def provenance(self) -> Provenance:
        """The recording's."""
        known = self._page.recorded
        return known.provenance if known is not None else super().provenance

    @property
    def source(self) -> str:
        """The recording's name."""
        return TITLE

    @property
    def exhibits(self) -> Sequence[QWidget]:
        """The two columns."""
        return self._page.board.columns

    @property
    def stop(self) -> Stop:
        """The step on show."""
        page = self._page
        gained = f" Beside {page.before} at N = {{n}}: {{runtime against}}." if page.before else ""
        return replace(
            super().stop,
            kernels=tuple(name for name in (page.before, page.kernel) if name),
            curve=page.label,
            seqlen=self.scene.seqlen,
            sentence=f"{page.kernel}: {{idea}}.{gained}",
        )

    def show_stop(self, stop: Stop) -> None:
        """Show its step, large."""
        super().show_stop(stop)
        page, self._seqlen = self._page, stop.seqlen
        page.whole.setChecked(False)
        page.board.set_px(CODE_PX)
        for column in page.board.columns:
            column.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # a clicker's keys are the stage's
        page.show_step(stop.kernels[-1] if stop.kernels else "", stop.curve, stop.lines)

    def fill_with(self, exhibit: QWidget | None) -> None:
        """Show one source alone, or both."""
        self._page.board.fill_with(exhibit)

    def leave(self) -> None:
        """Show it in letters to work with."""
        super().leave()
        self._seqlen = None
        self._page.board.set_px()
        self._page.show_step("", "")
        for column in self._page.board.columns:
            column.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
