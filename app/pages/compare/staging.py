"""The comparison on a stage: the ratio of each kernel, and what it says in a sentence."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace
from PySide6.QtWidgets import QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.pages.compare.board import CompareBoard
from flashscope.app.pages.compare.findings import Findings
from flashscope.app.pages.compare.lineup import TWO, Lineup
from flashscope.app.pages.staging import Staging
from flashscope.app.stage.story import Stop
from flashscope.app.words.results.provenance import Provenance, of_session
from flashscope.profiles.results.quantities.registry import QUANTITIES

CLAUSES = 2  # of the summary, which goes on with what differs around the two
NOTHING = "Nothing is compared yet."


class Compare(Protocol):
    """Sessions beside each other.

    Attributes:
        lineup: Which sessions.
        board: What is shown of them.
    """

    lineup: Lineup
    board: CompareBoard

    def choose(self, paths: Sequence[Path]) -> None:
        """Compare these, the first of them the baseline."""


class CompareStaging(Staging):
    """Shows the ratio alone, over N.

    Args:
        page: What compares.
        controller: Has the session on show.
        aside: What is put away.
    """

    def __init__(self, page: Compare, controller: Controller, aside: Sequence[QWidget]) -> None:
        board = page.board
        ratios = board.ratios
        away = [*aside, board.head, board.curves, board.below, ratios.switch, ratios.export_button]
        super().__init__("compare", controller, away, [ratios])
        self._page = page
        board.current_changed.connect(lambda _current: self.changed.emit())
        page.lineup.changed.connect(self.changed)

    @property
    def _findings(self) -> Findings | None:
        """What is compared; None where fewer than two sessions are chosen, whatever was compared before."""
        page = self._page
        return page.board.findings if len(page.lineup.chosen) >= TWO else None

    @property
    def lack(self) -> str:
        """That nothing is compared."""
        return NOTHING if self._findings is None else ""

    @property
    def sentence(self) -> str:
        """The summary of the session chosen."""
        findings, current = self._findings, self._page.board.current
        if findings is None:
            return NOTHING
        contrast = findings.comparison.contrasts[current - 1]
        names = findings.names()
        told = "; ".join(contrast.summary.split("; ")[:CLAUSES])
        return f"{names[current]} beside {names[0]}: {told.rstrip('.')}."

    @property
    def provenance(self) -> Provenance:
        """The baseline's recording, and how many others stand beside it; of one alone its own."""
        findings = self._findings
        if findings is None:
            alone = next((one.session for one in self._page.lineup.chosen if one.session is not None), None)
            return super().provenance if alone is None else of_session(alone, "saved")
        others = len(findings.members) - 1
        beside = f"and {others} other{'s' if others > 1 else ''}"
        return replace(of_session(findings.comparison.base, "saved"), of=beside)

    @property
    def source(self) -> str:
        """The sessions' names."""
        findings = self._findings
        return " · ".join(findings.names()) if findings is not None else ""

    @property
    def compared(self) -> Sequence[Path]:
        """The files of the sessions."""
        return self._page.lineup.paths

    @property
    def exhibits(self) -> Sequence[QWidget]:
        """The ratio."""
        return (self._page.board.ratios,)

    @property
    def stop(self) -> Stop:
        """The quantity compared."""
        return replace(super().stop, quantity=(self._page.lineup.quantity.key,))

    def show_stop(self, stop: Stop) -> None:
        """Compare the sessions that it names by its quantity."""
        super().show_stop(stop)
        page = self._page
        if stop.quantity:
            page.lineup.compare_by(QUANTITIES[stop.quantity[0]])
        if stop.beside and self.controller.path is not None:
            wanted = [path.resolve() for path in (self.controller.path, *self.beside)]
            if wanted != list(page.lineup.paths):
                page.choose(wanted)
        page.board.show_over_n(True)

    def leave(self) -> None:
        """Show all of the comparison."""
        super().leave()
        self._page.board.show_over_n(False)
