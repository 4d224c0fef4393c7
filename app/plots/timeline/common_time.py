"""What all plots on one time axis share: the part of it that is on show, a chosen moment, the pointer."""

from PySide6.QtCore import QObject, QTimer, Signal

from flashscope.app.figures.time_view import TimeView
from flashscope.app.look.theme import Theme
from flashscope.app.plots.timeline.moment import MomentLine, TimeLine
from flashscope.app.plots.timeline.shades import ShadeRange
from flashscope.app.plots.timeline.time_plot import TimePlot

HOVER_MS = 33  # between two looks at where the pointer is


class CommonTime(QObject):
    """The time of some plots, which the wheel and the mouse change in any of them.

    Args:
        theme: The colours of its lines.
        parent: Its owner, which the plots end with.

    Attributes:
        frozen: Whether what is shown stands still.
        view: Which part of the time is on show.
        whole: All of the time that there is to be seen, in s.
        moment: The moment that was chosen.
        pointer: The line at the pointer.
        pointed_s: Where the pointer is, None: nowhere.

    Signals:
        turned: Another part of the time is on show.
        pointed: The pointer has moved.
    """

    turned = Signal()
    pointed = Signal()

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self.frozen = False
        self.view = TimeView()
        self.whole: ShadeRange = (0.0, 1.0)
        self.moment, self.pointer = MomentLine(theme), TimeLine(theme, pictured=False)
        self.pointed_s: float | None = None
        self._hover = QTimer(self, interval=HOVER_MS, singleShot=True)
        self._hover.timeout.connect(self._tell_pointed)

    def cross(self, plot: TimePlot) -> None:
        """Go through this plot, too."""
        self.moment.cross(plot)
        self.pointer.cross(plot)
        plot.box.zoomed.connect(self._zoom)
        plot.box.panned.connect(self._pan)
        plot.pointed.connect(self._point)

    @property
    def on_show(self) -> ShadeRange:
        """The ends of what is on show, drawn or not yet: the wheel may turn on before it is."""
        return self.view.of(self.whole)

    def look_at(self, ends: ShadeRange) -> None:
        """Show this stretch unless it is well to be seen."""
        if self.view.look_at(ends, self.on_show):
            self.turned.emit()

    def fit(self) -> None:
        """Show all of the time again."""
        self.view.fit()
        self.turned.emit()

    def apply_theme(self, theme: Theme) -> None:
        """Recolour."""
        for line in (self.moment, self.pointer):
            line.apply_theme(theme)

    def _zoom(self, factor: float, around_s: float) -> None:
        self.view.zoom(factor, around_s, self.on_show)
        self.turned.emit()

    def _pan(self, by_s: float) -> None:
        self.view.pan(by_s, self.on_show)
        self.turned.emit()

    def _point(self, at_s: float | None) -> None:
        self.pointed_s = at_s
        if not self._hover.isActive():
            self._hover.start()

    def _tell_pointed(self) -> None:
        self.pointer.show_at(self.pointed_s)
        self.pointed.emit()
