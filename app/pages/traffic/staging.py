"""The Traffic page on a stage: a few kernels, each with its curve."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace
from PySide6.QtWidgets import QWidget

from app.pages.staging import Staging
from app.stage.scene import Scene
from app.stage.story import Stop

if TYPE_CHECKING:
    from app.pages.traffic.page import TrafficPage


class TrafficStaging(Staging):
    """Shows the curves of the kernels that a stop names."""

    def __init__(self, page: "TrafficPage") -> None:
        aside = (
            *(page.heading, page.curves, page.seqlens, page.choice_words),
            *(page.kernels, page.export_button),
        )
        super().__init__(page, page.key, page.controller, aside)
        self._page = page

    @property
    def scene(self) -> Scene:
        """The points that have a curve on show."""
        page = self._page
        return Scene([one.row for one in page.counted], page.seqlen, next(reversed(page.cards), ""))

    @property
    def exhibits(self) -> Sequence[QWidget]:
        """A card for each kernel."""
        return list(self._page.cards.values())

    @property
    def stop(self) -> Stop:
        """Kernels and N on show."""
        page = self._page
        kernel = next(iter(page.cards), "")
        told = f"At N = {{n}} {kernel} reads {{dram_read_bytes of {kernel}}} from DRAM." if kernel else ""
        return replace(super().stop, kernels=tuple(page.cards), seqlen=page.seqlen, sentence=told)

    def show_stop(self, stop: Stop) -> None:
        """Show its kernels at its N."""
        super().show_stop(stop)
        if stop.seqlen is not None:
            self._page.show_seqlen(stop.seqlen)
        self._page.show_kernels(stop.kernels)

    def fill_with(self, exhibit: QWidget | None) -> None:
        """Show one card, or all of them."""
        for card in self._page.cards.values():
            card.setVisible(exhibit in {None, card})

    def leave(self) -> None:
        """Show every kernel."""
        super().leave()
        self._page.show_kernels(())
