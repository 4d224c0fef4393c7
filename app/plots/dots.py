"""The look of symbols in plots; of equal looks there is one pen and one brush.

A scatter of pyqtgraph draws a symbol anew for each pen and brush that it has not met, and keeps the picture.
"""

from functools import cache
from typing import Any

import pyqtgraph as pg

from flashscope.app.look.kernel_marks import KernelMark
from flashscope.app.look.zoom import ZOOM


@cache
def pen(colour: str | None, width: float = 1.0) -> Any:
    """The line around a symbol: #RRGGBB, pixels on the screen; None: without one."""
    return pg.mkPen(colour, width=width)


def line_pen(mark: KernelMark, colour: str, width: float = 0.0) -> Any:
    """The line of a kernel's curve at the zoom in use, in its dashes; a width other than its own if given."""
    return pg.mkPen(colour, width=(width or mark.width) * ZOOM.factor, dash=list(mark.dash) or None)


@cache
def brush(colour: str | None, opacity: int = 255) -> Any:
    """What fills a symbol: #RRGGBB, opacity of 255; None: nothing."""
    if colour is None:
        return pg.mkBrush(None)
    filling = pg.mkColor(colour)
    filling.setAlpha(opacity)
    return pg.mkBrush(filling)


def dress_dots(dots: pg.ScatterPlotItem, line: Any, filling: Any, size: int) -> None:
    """Draw all symbols so from now on: a pen, a brush or one for each of them, and pixels."""
    dots.setPen(line, update=False)
    dots.setBrush(filling, update=False)
    dots.setSize(size)
