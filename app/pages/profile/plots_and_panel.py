"""Plots with the panel of their figures beside them, or under them."""

from collections.abc import Sequence
from textwrap import fill

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QWidget

from flashscope.app.control.guard import guarded
from flashscope.app.figures.in_view import Ends
from flashscope.app.look.zoom import keep, px
from flashscope.app.pages.profile.crosshair_panel import COLUMN, WIDTH, CrosshairPanel
from flashscope.app.pages.profile.full import Full
from flashscope.app.plots.sweep.sweep_card import SweepCard
from flashscope.app.widgets.laid_out import laid_out_once

PLOTS_PX = 400  # two plots side by side need this much
LOW_PX = 600  # pixels of height: with less, two plots have the room, and the panel is under them
FEW = 2
HINT_COLUMNS = 22  # characters of a line that fit into the narrowest plot
HOW_TO_BEGIN = "Press Run (Ctrl+Return)\nto measure, or open\na saved session."


class PlotsAndPanel(QWidget):
    """Shares its room between plots and a panel: where it is low, two plots have most of it.

    Attributes:
        full: Lets one of the plots fill the page.
    """

    def lay_out(self, cards: Sequence[SweepCard], panel: CrosshairPanel) -> None:
        """Take these in."""
        self._cards, self._panel = tuple(cards), panel
        self._placed: tuple[int, int, QBoxLayout.Direction, int] | None = None
        grid = QGridLayout()
        grid.setSpacing(8)
        self.full = Full(grid, cards, panel)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, 0, 0, 7)
        self._row.setSpacing(8)
        self._row.addLayout(grid, 1)
        self._row.addWidget(panel)
        keep(self, self._place_panel)

    def show_hints(self, *, empty: bool, blocked: str = "") -> None:
        """Say in the empty plots what to do, or why Run cannot; one with a model shows that already."""
        hints = iter([fill(blocked, HINT_COLUMNS) if blocked else HOW_TO_BEGIN])
        for card in self._cards:
            waiting = empty and card.quantity.model is None
            card.plot.show_hint(next(hints, "Not measured yet.") if waiting else "")

    def autorange(self) -> None:
        """Follow the data in every plot."""
        for card in self._cards:
            card.plot.autorange()

    def hold_still(self, still: bool) -> None:
        """Show all of the data in every plot, whatever wheel and drag do; or let them move it again."""
        for card in self._cards:
            card.plot.hold_still(still)

    def show_part(self, ends: Ends | None) -> None:
        """Show the same part of N (its ends in log2 N) in every plot; None: all of it."""
        for card in self._cards:
            card.plot.show_seqlens(ends)

    def toggle_log(self) -> None:
        """Switch the y axes between logarithmic and linear, those of ratios and rates left out."""
        for card in self._cards:
            card.plot.toggle_log()

    def toggle_grid(self) -> None:
        """Show or hide every grid."""
        for card in self._cards:
            card.plot.toggle_grid()

    @guarded(QSize)
    def minimumSizeHint(self) -> QSize:
        """As narrow as the panel: it goes under the plots where there is no room beside them."""
        return QSize(px(WIDTH), super().minimumSizeHint().height())

    @guarded()
    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the panel beside the plots, or under them."""
        super().resizeEvent(event)
        self._place_panel()

    def _place_panel(self) -> None:
        low = self.height() < px(LOW_PX)
        beside = not low and self.width() >= px(WIDTH + PLOTS_PX)
        count, columns = (FEW, max(1, self.width() // px(COLUMN))) if low else (len(self._cards), 1)
        direction = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        widest = px(WIDTH) if beside else self.maximumWidth()
        if (count, columns, direction, widest) == self._placed:
            return
        self._placed = count, columns, direction, widest
        with laid_out_once(self._panel, self):
            self.full.limit(count)
            self._panel.stand(columns, count)
            self._row.setDirection(direction)
            self._panel.setMaximumWidth(widest)
