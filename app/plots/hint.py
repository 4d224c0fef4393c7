"""Words in the middle of a plot that has nothing to show."""

import pyqtgraph as pg

from flashscope.app.look.fonts import ui_font
from flashscope.app.look.theme import Theme
from flashscope.app.plots.style import Plot


class Hint(pg.TextItem):  # type: ignore[misc] # pyqtgraph publishes no types
    """Says why there is nothing to see, or what would fill the plot.

    Args:
        plot: Where it stands in the middle of whatever range is on show.
        covers: Whether it covers the grid behind it.
    """

    def __init__(self, plot: Plot, *, covers: bool = False) -> None:
        super().__init__(anchor=(0.5, 0.5))
        self._view, self._covers = plot.getViewBox(), covers
        plot.addItem(self, ignoreBounds=True)
        self._view.sigRangeChanged.connect(self._stand_in_the_middle)

    def say(self, text: str) -> None:
        """Show a text; an empty one says nothing, and the same one is not painted anew."""
        if text != self.toPlainText() or self.isVisible() != bool(text):
            self.setText(text)
            self.setVisible(bool(text))

    def apply_theme(self, theme: Theme) -> None:
        """Recolour, in the font of the zoom in use."""
        self.setFont(ui_font())
        self.setColor(theme.dim)
        if self._covers:
            self.fill = pg.mkBrush(theme.panel)
            self.update()

    def _stand_in_the_middle(self) -> None:
        self.setPos(self._view.viewRect().center())
