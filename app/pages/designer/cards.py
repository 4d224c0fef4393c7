"""The cards that a cut is designed for: those known here, and others by their published numbers."""

from collections.abc import Sequence

from msgspec.structs import replace

from flashscope.app.widgets.drop_down import DropDown
from flashscope.app.widgets.plain import button_text, set_tip
from flashscope.app.words.plain import MOST_OF_NAME, cut_short
from flashscope.kernels.cuda.design.limits import SOURCE
from flashscope.kernels.cuda.reading.cards import CARDS, GpuCard, card_of
from flashscope.kernels.workload.device import Device

Named = tuple[str, Device | None]


def shown_card(device: Device) -> GpuCard | None:
    """A GPU as it describes itself, its name cut where it is too long; None where nothing is made for it."""
    card = card_of(device)
    return card and replace(card, name=cut_short(card.name, MOST_OF_NAME))


class Cards(DropDown):
    """A choice among cards."""

    def __init__(self) -> None:
        super().__init__()
        self._cards: list[GpuCard] = []
        self.setAccessibleName("GPU card")
        set_tip(self, f"The GPU whose limits count; published ones: {SOURCE}")
        self.offer(())

    @property
    def card(self) -> GpuCard:
        """The card chosen."""
        return self._cards[max(0, self.currentIndex())]

    def choose(self, card: GpuCard) -> None:
        """Choose a card that is offered, and tell nobody."""
        if card in self._cards:
            blocked = self.blockSignals(True)
            self.setCurrentIndex(self._cards.index(card))
            self.blockSignals(blocked)

    def offer(self, found: Sequence[Named]) -> None:
        """Offer these, each with words of where it is, before the published ones; the choice is kept.

        Until the user has chosen, the first is chosen.
        """
        kept = self.card if self._cards and self.currentIndex() > 0 else None
        told = [(where, card) for where, device in found if device and (card := shown_card(device))]
        told += [("published", card) for card in CARDS]
        by_card = {card: where for where, card in reversed(told)}
        self._cards = list(dict.fromkeys(card for _, card in told))
        blocked = self.blockSignals(True)
        self.clear()
        for card in self._cards:
            self.addItem(button_text(f"{card.name} · {by_card[card]}").replace("&&", "&"))
        self.setCurrentIndex(self._cards.index(kept) if kept in self._cards else 0)
        self.blockSignals(blocked)
