"""How every plot looks: axes with units, colours of the theme, no menu of pyqtgraph's own."""

import math
from collections.abc import Callable, Sequence

import pyqtgraph as pg
from PySide6.QtGui import QFont

from app.fonts import ui_font
from app.plots.units import plain_tick, seqlen_text
from app.theme import CAPTION_PX, Theme

TickText = Callable[[float], str]
GRID_ALPHA = 255  # the grid's colour is a token already
MIN_TICK_PX = 44


class UnitAxis(pg.AxisItem):  # type: ignore[misc] # pyqtgraph publishes no types
    """A linear axis whose tick texts a function writes; the unit stands in the card's title."""

    def __init__(self, orientation: str, text: TickText = plain_tick) -> None:
        super().__init__(orientation)
        self._text = text
        self.enableAutoSIPrefix(enable=False)

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:  # noqa: ARG002
        """Texts of the ticks at these values."""
        return [self._text(value) for value in values]


class LogAxis(UnitAxis):
    """Positions are logarithms of the quantity: ticks at whole powers of the base, thinned to what fits."""

    def __init__(self, orientation: str, base: float, text: TickText = plain_tick) -> None:
        super().__init__(orientation, text)
        self._base = base

    def tickValues(self, minVal: float, maxVal: float, size: float) -> list[tuple[float, list[float]]]:  # noqa: N803
        """Whole powers between the ends, at least MIN_TICK_PX (half of it when vertical) apart."""
        first, last = math.ceil(minVal - 1e-9), math.floor(maxVal + 1e-9)
        gap = MIN_TICK_PX if self.orientation in {"bottom", "top"} else MIN_TICK_PX / 2
        room = max(1, int(size / gap))
        step = max(1, math.ceil((last - first + 1) / room))
        first = math.ceil(first / step) * step
        return [(float(step), [float(power) for power in range(first, last + 1, step)])]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:  # noqa: ARG002
        """Texts of the powers at these exponents."""
        return [self._text(self._base**value) for value in values]


class Log2Axis(LogAxis):
    """Positions are log2 of a sequence length: 512, 1k, 2k, ..."""

    def __init__(self, orientation: str = "bottom") -> None:
        super().__init__(orientation, 2.0, lambda value: seqlen_text(round(value)))


class Log10Axis(LogAxis):
    """Positions are log10 of the quantity: 0.1, 1, 10, ..."""

    def __init__(self, orientation: str = "left", text: TickText = plain_tick) -> None:
        super().__init__(orientation, 10.0, text)


class SecondsAxis(UnitAxis):
    """Elapsed time: seconds below a minute, minutes:seconds from there on."""

    def __init__(self, orientation: str = "bottom") -> None:
        super().__init__(orientation, seconds_tick)


def seconds_tick(seconds: float) -> str:
    """One tick of elapsed time."""
    if abs(seconds) < 60:  # noqa: PLR2004 - seconds in a minute
        return f"{seconds:g} s"
    sign, whole = ("-" if seconds < 0 else ""), abs(round(seconds))
    return f"{sign}{whole // 60}:{whole % 60:02}"


def make_plot(
    theme: Theme, *, bottom: pg.AxisItem | None = None, left: pg.AxisItem | None = None
) -> pg.PlotWidget:
    """An empty plot in the theme's colours, with a grid, without pyqtgraph's buttons and menu.

    Args:
        theme: The colours.
        bottom: The axis of x; linear when left out.
        left: The axis of y; linear when left out.
    """
    axes = {"bottom": bottom or UnitAxis("bottom"), "left": left or UnitAxis("left")}
    plot = pg.PlotWidget(axisItems=axes, enableMenu=False)
    plot.hideButtons()
    plot.setFrameShape(plot.Shape.NoFrame)
    plot.showGrid(x=True, y=True, alpha=1.0)
    for axis in axes.values():
        axis.setStyle(tickLength=0, tickTextOffset=6, maxTickLevel=0)
    restyle(plot, theme)
    return plot


def restyle(plot: pg.PlotWidget, theme: Theme) -> None:
    """Give an existing plot the theme's colours; curves and texts are their owner's business."""
    plot.setBackground(theme.panel)
    for name in ("bottom", "left", "top", "right"):
        axis = plot.getPlotItem().getAxis(name)
        axis.setPen(pg.mkPen(theme.grid))
        axis.setTextPen(pg.mkPen(theme.dim))
        axis.setTickPen(pg.mkPen(theme.grid))
        axis.setTickFont(tick_font())


def tick_font() -> QFont:
    """The font of ticks and of texts inside plots."""
    return ui_font(CAPTION_PX)
