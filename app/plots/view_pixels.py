"""From what a view shows to pixels, and back."""

import pyqtgraph as pg

from flashscope.app.figures.free_places import Box, Pixel


class ViewPixels:
    """From what a view shows to pixels from its upper left corner, and back."""

    def __init__(self, view: pg.ViewBox) -> None:
        (self._left, right), (low, self._high) = view.viewRange()
        self.width, self.height = max(1.0, view.width()), max(1.0, view.height())
        self._across, self._down = self.width / (right - self._left), self.height / (self._high - low)

    @property
    def field(self) -> Box:
        """The whole view."""
        return Box(0, 0, self.width, self.height)

    def of(self, x: float, y: float) -> Pixel:
        """The pixel of a value."""
        return (x - self._left) * self._across, (self._high - y) * self._down

    def value(self, across: float, down: float) -> Pixel:
        """The value at a pixel."""
        return self._left + across / self._across, self._high - down / self._down


def around(spot: Pixel, size: float) -> Box:
    """The square of this size in whose middle a pixel is."""
    (x, y), half = spot, size / 2
    return Box(x - half, y - half, x + half, y + half)
