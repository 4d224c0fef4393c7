"""One quantity over the dates of sessions: a curve for each machine and problem, points with quartiles."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyqtgraph as pg
from PySide6.QtCore import Signal

from flashscope.app.control.guard import guarded
from flashscope.app.look.theme import CAPTION_PX, Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.plots.style import Plot, UnitAxis, restyle
from flashscope.app.widgets.plain import plain_tip
from flashscope.app.words.kinds import words_of
from flashscope.profiles.results.findings.trend import Entry, Kind
from flashscope.profiles.results.model.dates import moment
from flashscope.profiles.results.quantities.quantity import Quantity

SYMBOLS = ("o", "s", "t1", "d", "p", "star")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARK_PX = 9
DATES_PX = 38  # of the axis: moments, and the days under them
SHORTEST_S = 600  # that the axis spans: its ticks are minutes at least


class TrendPlot(Plot):
    """Draws curves over dates.

    Signals:
        entry_chosen: A click has chosen a session (Entry).
    """

    entry_chosen = Signal(object)

    def __init__(self, theme: Theme) -> None:
        self._days, self._dim = "", theme.dim
        self._values = UnitAxis("left")
        self._dates = pg.DateAxisItem(orientation="bottom")
        super().__init__(axisItems={"left": self._values, "bottom": self._dates}, enableMenu=False)
        self.setLimits(minXRange=SHORTEST_S)
        self.plotItem.hideButtons()
        self.setMouseEnabled(x=False, y=False)
        self.setFrameShape(self.Shape.NoFrame)
        keep(self, self.setMinimumHeight, 160)
        keep(self, self._dates.setHeight, DATES_PX)  # by itself it leaves its label too little
        self.setAccessibleName("One quantity over the dates of sessions")
        self.apply_theme(theme)

    def show_curves(self, curves: Mapping[Kind, Sequence[Entry]], quantity: Quantity) -> None:
        """Draw these curves in place of those before."""
        self.clear()
        self._values.write_with(words_of(quantity).tick)
        for place, entries in enumerate(curves.values()):
            shown = [entry for entry in entries if entry.figure is not None]
            if shown:
                self._add(shown, quantity, place)
        self._days = _days([entry for entries in curves.values() for entry in entries])
        self._label()
        self.autoRange(padding=0.08)

    def apply_theme(self, theme: Theme) -> None:
        """Take other colours."""
        restyle(self, theme)
        self._dim = theme.dim
        self._label()
        self.showGrid(x=True, y=True, alpha=0.2)

    def _label(self) -> None:
        """Write the days under the moments, in the letters of these."""
        size = f"{px(CAPTION_PX)}px"
        self._dates.setLabel(self._days, **{"color": self._dim, "font-size": size})

    def _add(self, entries: Sequence[Entry], quantity: Quantity, place: int) -> None:
        colour, symbol = COLOURS[place % len(COLOURS)], SYMBOLS[place % len(SYMBOLS)]
        times = [moment(entry.started_at) for entry in entries]
        figures = [entry.figure for entry in entries if entry.figure is not None]
        values = [float(figure.value or 0) for figure in figures]
        ends = [
            (float(v if f.low is None else f.low), float(v if f.high is None else f.high))
            for v, f in zip(values, figures, strict=True)
        ]
        pen = pg.mkPen(colour, width=px(2))
        self.addItem(pg.PlotDataItem(times, values, pen=pen))
        twice = [time for time in times for _ in range(2)]
        spread = [end for pair in ends for end in pair]
        self.addItem(pg.PlotDataItem(twice, spread, connect="pairs", pen=pen))
        dots = pg.ScatterPlotItem(
            times,
            values,
            data=list(entries),
            symbol=symbol,
            size=px(MARK_PX),
            brush=pg.mkBrush(colour),
            pen=pg.mkPen(None),
            hoverable=True,
            tip=lambda x, y, data: plain_tip(entry_text(data, quantity)),  # noqa: ARG005 - pyqtgraph names them
        )
        dots.sigClicked.connect(self._click)
        self.addItem(dots)

    @guarded()
    def _click(self, _dots: Any, points: Sequence[Any], _event: Any) -> None:
        if len(points):
            self.entry_chosen.emit(points[0].data())


def _days(entries: Sequence[Entry]) -> str:
    """From which day to which; the ticks tell it of months alone."""
    days = [entry.started_at[:10] for entry in sorted(entries, key=lambda entry: moment(entry.started_at))]
    return " – ".join(dict.fromkeys((days[0], days[-1]))) if days else ""


def entry_text(entry: Entry, quantity: Quantity) -> str:
    """What a session's point says."""
    figure, text = entry.figure, words_of(quantity).text
    value = text(float(figure.value)) if figure is not None and figure.value is not None else entry.reason
    return f"{entry.title}\n{entry.started_at[:16].replace('T', ' ')}\n{value}"
