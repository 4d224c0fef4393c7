"""The roofline on a stage, or the device's memories: the plot alone, and in a sentence what it says."""

from collections.abc import Collection, Sequence
from typing import Protocol

from msgspec.structs import replace
from PySide6.QtWidgets import QPushButton, QStackedWidget, QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.pages.roofline.card import TITLE, UNIT, RooflineCard
from flashscope.app.pages.roofline.memories_card import MemoriesCard
from flashscope.app.pages.roofline.stops import fastest_first, scene_of_spots
from flashscope.app.pages.staging import Staging
from flashscope.app.stage.names import MEMORIES
from flashscope.app.stage.scene import Scene
from flashscope.app.stage.story import Stop
from flashscope.app.words.devices.roofline import staged_tier_text
from flashscope.app.words.units import seqlen_text, tflops_text
from flashscope.profiles.results.quantities.registry import FAVOURED_BASELINE
from flashscope.profiles.results.theory.roofline import Roofline, Spot


class RooflineView(Protocol):
    """What draws a roofline.

    Attributes:
        found: What is drawn.
        card: The plot with its legend.
        memories: The device's memories.
        switches: Lead from one of the two to the other.
        shown: Has one of them in front.
    """

    found: Roofline
    card: RooflineCard
    memories: MemoriesCard
    switches: Sequence[QPushButton]
    shown: QStackedWidget

    def show_kernels(self, kernels: Collection[str]) -> None:
        """Show the points of these alone; of all where none is named."""


class RooflineStaging(Staging):
    """Shows the plot and the names, or the memories.

    Args:
        page: What draws.
        controller: Has the session on show.
        aside: What is put away beside the card's tools.
    """

    def __init__(self, page: RooflineView, controller: Controller, aside: Sequence[QWidget]) -> None:
        card, memories = page.card, page.memories
        tools = [card.export_button, card.readout, card.tiers, memories.export_button, memories.sentence]
        super().__init__("roofline", controller, [*aside, *page.switches, *tools], [card, memories])
        self._page = page
        self._before: QWidget | None = None  # in front before the stage was taken

    @property
    def scene(self) -> Scene:
        """The points on show at the longest N; of memories what the session has."""
        page, session = self._page, self.controller.session
        if self._of_memories or session is None:
            return super().scene
        return scene_of_spots(page.found.spots, page.card.kernels, session.plan.kernels)

    @property
    def sentence(self) -> str:
        """What binds the fastest kernel at the longest N, and the baseline; or how fast memories are."""
        if self._of_memories:
            return self._page.memories.sentence.text()
        there = fastest_first(self._page.found.spots, self._page.card.kernels)
        if not there:
            return ""
        base = [spot for spot in there[1:] if spot.row.kernel == FAVOURED_BASELINE]
        return f"At N = {seqlen_text(there[0].row.seqlen)}: {'; '.join(map(_told, [there[0], *base]))}."

    @property
    def stop(self) -> Stop:
        """The plot, with the kernels on show where others are hidden, or the memories."""
        if self._of_memories:
            return replace(super().stop, mode=MEMORIES)
        card = self._page.card
        return replace(super().stop, kernels=tuple(card.kernels) if card.legend.hidden else ())

    def show_stop(self, stop: Stop) -> None:
        """Show its kernels' points of the session's first problems; the title names axes and marks."""
        page = self._page
        if not self.on:
            self._before = page.shown.currentWidget()
        super().show_stop(stop)
        page.shown.setCurrentWidget(page.memories if stop.mode == MEMORIES else page.card)
        page.show_kernels(stop.kernels)
        page.card.set_title(UNIT)
        self.tell_marks()

    def tell_marks(self) -> None:
        """Name what marks are of, and what told their bytes, where that stands beside the title."""
        if self.on:
            self._page.card.set_unit(staged_tier_text(self._page.found.spots))

    def leave(self) -> None:
        """Show all there is to work with again."""
        super().leave()
        self._page.show_kernels(())
        self._page.card.set_title(TITLE)
        self._page.card.set_unit(UNIT)
        if self._before is not None:
            self._page.shown.setCurrentWidget(self._before)

    @property
    def exhibits(self) -> Sequence[QWidget]:
        """The plot, or the memories."""
        return (self._page.memories if self._of_memories else self._page.card,)

    @property
    def _of_memories(self) -> bool:
        return self._page.shown.currentWidget() is self._page.memories


def _told(spot: Spot) -> str:
    reached = f"{spot.row.kernel} {tflops_text(spot.tflops)}"
    why = spot.why
    if why.binds is None or why.share is None:
        return reached
    return f"{reached}, bound by {why.binds} ({100 * why.share:.0f}%)"
