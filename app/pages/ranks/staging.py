"""The Ranks page on a stage: its plots, and in a sentence what the best scheme reaches."""

from collections.abc import Sequence
from typing import Protocol

from msgspec.structs import replace
from PySide6.QtWidgets import QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.pages.staging import PageStaging
from flashscope.app.stage.names import OF_RANKS
from flashscope.app.stage.story import Stop
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.words.ranks import HOW_TO_MEASURE


class RanksView(Protocol):
    """What shows attention on several ranks.

    Attributes:
        sentence: What the best of them reaches.
        switches: Lead from each plot to the next, on a stage alone.
    """

    sentence: PlainLabel
    switches: Sequence[QWidget]

    @property
    def passes(self) -> Sequence[object]:
        """What is on show; none: there is nothing."""

    @property
    def kind(self) -> str:
        """Pass, mask and ranks on show, in words."""

    def show_like(self, words: str) -> None:
        """Show the first kind that has all these words, between commas; none has: what is on show stays."""

    @property
    def cards(self) -> Sequence[Card]:
        """The plots."""


class RanksStaging(PageStaging[RanksView]):
    """Shows one of the plots, and leads to the next.

    Args:
        page: What shows them.
        controller: Has the session on show.
        aside: What is put away.
    """

    def __init__(self, page: RanksView, controller: Controller, aside: Sequence[QWidget]) -> None:
        super().__init__("ranks", page, controller, aside)
        self.take_cards(page.cards)
        self._plots = dict(zip(("", *OF_RANKS), page.cards, strict=True))
        self._mode = ""

    @property
    def lack(self) -> str:
        """Why there is nothing to present."""
        return "" if self._page.passes else HOW_TO_MEASURE

    @property
    def exhibits(self) -> Sequence[QWidget]:
        """A card for each plot."""
        return self._page.cards

    @property
    def stop(self) -> Stop:
        """The plot on show, and of what."""
        return replace(super().stop, mode=self._mode, curve=self._page.kind)

    def turn(self) -> None:
        """Bring the next plot to the front."""
        modes = list(self._plots)
        self._mode = modes[(modes.index(self._mode) + 1) % len(modes)]
        self.fill_with(None)
        self.changed.emit()

    def fill_with(self, exhibit: QWidget | None) -> None:
        """Show one of the plots; None: the one in front, for all of them have no room at a stage's size."""
        super().fill_with(exhibit or self._plots[self._mode])

    def show_stop(self, stop: Stop) -> None:
        """Show its plot of the pass and mask that it names, and what leads from each to the next."""
        super().show_stop(stop)
        self._page.show_like(stop.curve)
        self._mode = stop.mode
        self._lead(on=True)
        self.fill_with(None)

    def leave(self) -> None:
        """Show all plots again, and what there is to work with."""
        super().leave()
        self._mode = ""
        self._lead(on=False)
        for card in self._page.cards:
            card.show()

    def _lead(self, *, on: bool) -> None:
        for switch in self._page.switches:
            switch.setVisible(on)

    @property
    def sentence(self) -> str:
        """What the best scheme reaches."""
        return self._page.sentence.text() if self._page.passes else ""
