"""The roofline on a stage: the plot alone, and in a sentence what binds the fastest kernel."""

from collections.abc import Sequence
from typing import Protocol

from PySide6.QtWidgets import QPushButton, QStackedWidget, QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.pages.roofline.card import TITLE, UNIT, RooflineCard
from flashscope.app.pages.staging import Staging
from flashscope.app.stage.story import Stop
from flashscope.app.words.units import seqlen_text, tflops_text
from flashscope.profiles.results.quantities.registry import FAVOURED_BASELINE
from flashscope.profiles.results.theory.roofline import Roofline, Spot

MARKS = "bytes filled: DRAM · hollow: L2 · small: shared memory"


class RooflineView(Protocol):
    """What draws a roofline.

    Attributes:
        found: What is drawn.
        card: The plot with its legend.
        switch: Leads away from it, to the device's memories.
        shown: Has the plot in front.
    """

    found: Roofline
    card: RooflineCard
    switch: QPushButton
    shown: QStackedWidget


class RooflineStaging(Staging):
    """Shows the plot and the names.

    Args:
        page: What draws.
        controller: Has the session on show.
        aside: What is put away beside the card's tools.
    """

    def __init__(self, page: RooflineView, controller: Controller, aside: Sequence[QWidget]) -> None:
        card = page.card
        tools = [card.export_button, page.switch, card.readout, card.tiers]
        super().__init__("roofline", controller, [*aside, *tools], [card])
        self._page = page

    @property
    def sentence(self) -> str:
        """What binds the fastest kernel at the longest N, and the baseline there."""
        placed = [spot for spot in self._page.found.spots if spot.placed]
        if not placed:
            return ""
        longest = max(spot.row.seqlen for spot in placed)
        there = sorted((spot for spot in placed if spot.row.seqlen == longest), key=lambda one: -one.tflops)
        base = [spot for spot in there[1:] if spot.row.kernel == FAVOURED_BASELINE]
        return f"At N = {seqlen_text(longest)}: {'; '.join(map(_told, [there[0], *base]))}."

    def show_stop(self, stop: Stop) -> None:
        """Show the session's first problems; the axes' names stand as title, and beside it what marks are."""
        super().show_stop(stop)
        self._page.shown.setCurrentWidget(self._page.card)
        self._page.card.set_title(UNIT)
        self._page.card.set_unit(MARKS)

    def leave(self) -> None:
        """Show all there is to work with again."""
        super().leave()
        self._page.card.set_title(TITLE)
        self._page.card.set_unit(UNIT)

    @property
    def exhibits(self) -> Sequence[QWidget]:
        """The plot."""
        return (self._page.card,)


def _told(spot: Spot) -> str:
    reached = f"{spot.row.kernel} {tflops_text(spot.tflops)}"
    why = spot.why
    if why.binds is None or why.share is None:
        return reached
    return f"{reached}, bound by {why.binds} ({100 * why.share:.0f} %)"
