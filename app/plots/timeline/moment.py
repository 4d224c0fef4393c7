"""A moment chosen on a common time axis: a line through all its plots, set by a click in any of them."""

from functools import partial
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import QObject, Qt, Signal

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.plots.export.contents import SCREEN_ONLY
from flashscope.app.plots.style import Plot


class TimeLine(QObject):
    """A line through each of some plots at one moment.

    Attributes:
        at_s: Where it stands, in seconds of the axis; None: nowhere.

    Args:
        theme: Its colour.
        pictured: Whether it is in pictures.
    """

    def __init__(self, theme: Theme, *, pictured: bool = True) -> None:
        super().__init__()
        self.at_s: float | None = None
        self._theme, self._pictured = theme, pictured
        self._lines: list[Any] = []

    def cross(self, plot: Plot) -> None:
        """Go through this plot, too."""
        line = pg.InfiniteLine(angle=90, movable=False, pen=self._pen(self._theme))
        if not self._pictured:
            line.setData(SCREEN_ONLY, True)
        plot.addItem(line, ignoreBounds=True)
        self._lines.append(line)
        self.show_at(self.at_s)

    def show_at(self, at_s: float | None) -> None:
        """Put the line at a moment; None: take it away."""
        self.at_s = at_s
        for line in self._lines:
            line.setVisible(at_s is not None)
            if at_s is not None:
                line.setValue(at_s)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        for line in self._lines:
            line.setPen(self._pen(theme))

    def _pen(self, theme: Theme) -> Any:
        return pg.mkPen(theme.dim, width=1)


class MomentLine(TimeLine):
    """The moment that was chosen.

    Signals:
        chosen: A click has set it (float, seconds).
    """

    chosen = Signal(float)

    def cross(self, plot: Plot) -> None:
        """Go through this plot, too, and let a click in it choose."""
        super().cross(plot)
        plot.scene().sigMouseClicked.connect(partial(self._click, plot))

    def _pen(self, theme: Theme) -> Any:
        return pg.mkPen(theme.accent, width=px(2))

    @guarded()
    def _click(self, plot: Plot, event: Any) -> None:
        view = plot.getViewBox()
        if event.button() == Qt.MouseButton.LeftButton and view.sceneBoundingRect().contains(
            event.scenePos()
        ):
            self.show_at(max(0.0, float(view.mapSceneToView(event.scenePos()).x())))
            self.chosen.emit(self.at_s)
