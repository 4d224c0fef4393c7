"""The way back to the whole data of a plot of which a part is on show."""

from collections.abc import Callable

from PySide6.QtWidgets import QPushButton

from flashscope.app.look.zoom import px
from flashscope.app.plots.style import Plot
from flashscope.app.widgets.buttons import text_button
from flashscope.app.widgets.keyed import does

GAP_PX = 4  # to the axis and to the edge


def show_all_button(what: str, clicked: Callable[[], object], action: str) -> QPushButton:
    """A button that is hidden until some of the data is.

    Args:
        what: All of what it shows, for a screen reader.
        clicked: Shows that.
        action: The key of the action that does so, too.
    """
    button = does(text_button("Show all", f"Show all of {what}", clicked, "chip"), action)
    button.hide()
    return button


class CornerButton:
    """A button in the lower right corner of a plot, over what is drawn there: curves rise to the right.

    Args:
        plot: Where it stands.
        button: The button; it belongs to the plot from now on.
    """

    def __init__(self, plot: Plot, button: QPushButton) -> None:
        self._plot, self._button = plot, button
        button.setParent(plot)
        plot.getViewBox().sigResized.connect(self._place)

    def offer(self, wanted: bool) -> None:
        """Show the button, or take it away."""
        if self._button.isHidden() is wanted:
            self._button.setVisible(wanted)
            self._place()

    def _place(self, *_: object) -> None:
        if self._button.isHidden():
            return
        self._button.adjustSize()
        view = self._plot.getViewBox().sceneBoundingRect().toRect()
        size, gap = self._button.size(), px(GAP_PX)
        self._button.move(view.right() - size.width() - gap, view.bottom() - size.height() - gap)
        self._button.raise_()
