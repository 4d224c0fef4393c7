"""One of the plots in the place of all, and of all that is beside them."""

from collections.abc import Collection, Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication, QGridLayout, QWidget

from flashscope.app.plots.sweep.sweep_card import SweepCard

ACROSS = 2


class Full(QObject):
    """Shows all plots, or one of them alone.

    Attributes:
        card: The one that is alone; None: all that there is room for are there.

    Args:
        grid: Where they stand.
        cards: The plots.
        beside: What goes while one is alone.

    Signals:
        changed: One is alone (True), or all are there again (False).
    """

    changed = Signal(bool)

    def __init__(self, grid: QGridLayout, cards: Sequence[SweepCard], beside: QWidget) -> None:
        super().__init__(beside)
        self.card: SweepCard | None = None
        self._standing = tuple(cards)  # as many as there is room for
        self._grid, self._cards, self._beside = grid, cards, beside
        for place, card in enumerate(cards):
            grid.addWidget(card, *divmod(place, ACROSS))
            card.fill_requested.connect(partial(self.turn, card))
        self._share(cards)  # to show them here would open a window for each: nothing holds them yet

    def limit(self, count: int) -> None:
        """Show no more than the first so many, while none is alone and no other ones were asked for."""
        standing, before = tuple(self._cards[:count]), self._standing
        self._standing = standing
        if standing != before and self.card is None and not self._beside.isHidden():
            self.stand(standing)

    def restore(self) -> None:
        """Show as many as there is room for again."""
        self.stand(self._standing)

    def stand(self, shown: Collection[SweepCard]) -> None:
        """Show these of the plots, which share all the room."""
        for card in self._cards:
            card.setVisible(card in shown)
        self._share(shown)

    def _share(self, shown: Collection[SweepCard]) -> None:
        for place in range(len(self._cards)):
            row, column = divmod(place, ACROSS)
            beside, under = self._cards[row * ACROSS :][:ACROSS], self._cards[column::ACROSS]
            self._grid.setRowStretch(row, int(any(one in shown for one in beside)))
            self._grid.setColumnStretch(column, int(any(one in shown for one in under)))

    def fill(self) -> None:
        """Show the plot alone that has the focus, or the pointer, or else the first; or show all."""
        focused = QApplication.focusWidget()
        near = (card for card in self._cards if focused is not None and card.isAncestorOf(focused))
        under = (card for card in self._cards if card.underMouse())
        self.turn(self.card or next(near, None) or next(under, self._cards[0]))

    def back(self) -> bool:
        """Show all; whether one was alone."""
        was = self.card
        if was is not None:
            self.turn(was)
        return was is not None

    def turn(self, card: SweepCard) -> None:
        """Show a plot alone, or all if it is; on a stage, where nothing is beside the plots, do nothing."""
        if self.card is None and self._beside.isHidden():
            return
        self.card = None if self.card is card else card
        self.stand(self._standing if self.card is None else [self.card])
        self._beside.setVisible(self.card is None)
        self.changed.emit(self.card is not None)
