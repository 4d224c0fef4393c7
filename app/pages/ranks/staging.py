"""The Ranks page on a stage: its plots, and in a sentence what the best scheme reaches."""

from collections.abc import Sequence
from typing import Protocol

from PySide6.QtWidgets import QWidget

from flashscope.app.control.controller import Controller
from flashscope.app.pages.staging import PageStaging
from flashscope.app.stage.story import Stop
from flashscope.app.widgets.card import Card
from flashscope.app.widgets.plain import PlainLabel
from flashscope.app.words.ranks import HOW_TO_MEASURE


class RanksView(Protocol):
    """What shows attention on several ranks.

    Attributes:
        sentence: What the best of them reaches.
    """

    sentence: PlainLabel

    @property
    def passes(self) -> Sequence[object]:
        """What is on show; none: there is nothing."""

    @property
    def cards(self) -> Sequence[Card]:
        """The plots."""


class RanksStaging(PageStaging[RanksView]):
    """Shows one of the plots.

    Args:
        page: What shows them.
        controller: Has the session on show.
        aside: What is put away.
    """

    def __init__(self, page: RanksView, controller: Controller, aside: Sequence[QWidget]) -> None:
        super().__init__("ranks", page, controller, aside)
        self._cards = page.cards

    @property
    def lack(self) -> str:
        """Why there is nothing to present."""
        return "" if self._page.passes else HOW_TO_MEASURE

    @property
    def exhibits(self) -> Sequence[QWidget]:
        """A card for each plot."""
        return self._page.cards

    def fill_with(self, exhibit: QWidget | None) -> None:
        """Show one of the plots; None: the first, for all of them have no room at the size of a stage."""
        super().fill_with(exhibit or self._page.cards[0])

    def show_stop(self, stop: Stop) -> None:
        """Show the first plot."""
        super().show_stop(stop)
        self.fill_with(None)

    def leave(self) -> None:
        """Show all plots again, and what there is to work with."""
        super().leave()
        for card in self._page.cards:
            card.show()

    @property
    def sentence(self) -> str:
        """What the best scheme reaches."""
        return self._page.sentence.text() if self._page.passes else ""
