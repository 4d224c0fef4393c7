"""The four plots of a session's curves: each shows a quantity of its own, all else they show alike."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from textwrap import fill

from PySide6.QtCore import QObject, Signal

from flashscope.app.figures.in_view import Ends
from flashscope.app.look.theme import Theme
from flashscope.app.pages.profile.in_flight import in_flight_value
from flashscope.app.plots.sweep.sweep_card import SweepCard
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import PointState, Session
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.registry import (
    FOOTPRINT,
    QUANTITIES,
    RUNTIME,
    SPEEDUP,
    THROUGHPUT,
)

HINT_COLUMNS = 22  # characters of a line that fit into the narrowest plot
CELLS: tuple[Quantity, ...] = (FOOTPRINT, RUNTIME, SPEEDUP, THROUGHPUT)  # what the four show at first
HOW_TO_BEGIN = "Press Run (Ctrl+Return)\nto measure, or open\na saved session."


class FourPlots(QObject):
    """Has the cards, and does to each what is done to all.

    Attributes:
        cards: The four, in their order.

    Signals:
        quantity_chosen: A plot is to show another quantity: its place, and that quantity's key (int, str).
        solo_requested: This kernel is to be shown alone, or all again (str).
        pointed_at: The pointer is on the curve of this kernel; empty: on none (str).
        hovered: The pointer is at this sequence length (int).
    """

    quantity_chosen = Signal(int, str)
    solo_requested = Signal(str)
    point_requested = Signal(str, str)
    pointed_at = Signal(str)
    hovered = Signal(object)  # N, which may be beyond a C int

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self.cards = tuple(SweepCard(quantity, theme) for quantity in CELLS)
        for place, card in enumerate(self.cards):
            card.quantity_chosen.connect(partial(self.quantity_chosen.emit, place))
            card.solo_requested.connect(self.solo_requested)
            card.point_requested.connect(self.point_requested)
            card.plot.pointed_at.connect(self.pointed_at)
            card.plot.hovered.connect(self.hovered)
            card.plot.moved.connect(self._show_seqlens)
            card.plot.all_requested.connect(self.autorange)

    @property
    def keys(self) -> list[str]:
        """The quantities that they show."""
        return [card.quantity.key for card in self.cards]

    def show_rows(
        self,
        session: Session | None,
        rows: Sequence[PointRow],
        baseline: str | None,
        hidden: Collection[str],
    ) -> None:
        """Draw these rows but those of the hidden kernels, each when its turn comes."""
        for card in self.cards:
            card.show_rows(session, rows, baseline, hidden)

    def show_hints(self, *, empty: bool, blocked: str = "") -> None:
        """Say in the empty plots what to do, or why Run cannot; one with a model shows that already."""
        hints = iter([fill(blocked, HINT_COLUMNS) if blocked else HOW_TO_BEGIN])
        for card in self.cards:
            waiting = empty and card.quantity.model is None
            card.plot.show_hint(next(hints, "Not measured yet.") if waiting else "")

    def show_flight(self, session: Session | None, states: Sequence[PointState]) -> None:
        """Mark these points of a session, which are in flight."""
        for card in self.cards:
            card.show_flight(
                {
                    (one.point.problem.seqlen, one.point.kernel): in_flight_value(
                        card.quantity, session.backend, one
                    )
                    for one in states
                    if session is not None
                }
            )

    def show_quantities(self, keys: Sequence[str]) -> list[Quantity]:
        """Show these quantities, which is what it returns; none unless these are four that are known."""
        known = [QUANTITIES[key] for key in dict.fromkeys(keys) if key in QUANTITIES]
        if not len(known) == len(keys) == len(self.cards):
            return []
        for card, quantity in zip(self.cards, known, strict=True):
            if card.quantity is not quantity:
                card.set_quantity(quantity)
        return known

    def keys_with(self, place: int, key: str) -> list[str]:
        """The quantities with another in one plot; the one that shows it already gets what this one shows."""
        keys = self.keys
        if key in keys:
            keys[keys.index(key)] = keys[place]
        keys[place] = key
        return keys

    def show_cursor(self, seqlen: int | None) -> None:
        """Stand the crosshair there."""
        for card in self.cards:
            card.show_cursor(seqlen)

    def show_hero(self, kernel: str) -> None:
        """Let this kernel's curve shine; an empty name: none."""
        for card in self.cards:
            card.show_hero(kernel)

    def point_at(self, kernel: str) -> None:
        """Let the curves of all other kernels stand back; an empty name: of none."""
        for card in self.cards:
            card.point_at(kernel)

    def extract_in_steps(self) -> Iterator[None]:
        """Read the figures of what was shown last, a kernel a step."""
        for card in self.cards:
            yield from card.extract_in_steps()

    def texts_at(self, kernel: str, seqlen: int | None) -> list[str | None]:
        """A kernel's figures at a sequence length as the readout shows them, None where there is none."""
        return [card.text_at(kernel, seqlen) for card in self.cards]

    def autorange(self) -> None:
        """Follow the data in every plot."""
        for card in self.cards:
            card.plot.autorange()

    def hold_still(self, still: bool) -> None:
        """Show all of the data in every plot, whatever wheel and drag do; or let them move it again."""
        for card in self.cards:
            card.plot.hold_still(still)

    def toggle_log(self) -> None:
        """Switch the y axes between logarithmic and linear, those of ratios and rates left out."""
        for card in self.cards:
            card.plot.toggle_log()

    def toggle_grid(self) -> None:
        """Show or hide every grid."""
        for card in self.cards:
            card.plot.toggle_grid()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        for card in self.cards:
            card.apply_theme(theme)

    def _show_seqlens(self, ends: Ends | None) -> None:
        """Show the same part of N in every plot."""
        for card in self.cards:
            card.plot.show_seqlens(ends)
