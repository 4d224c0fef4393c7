"""A plot of strands over N, whose points can be clicked."""

from collections.abc import Collection, Iterator, Sequence
from math import log2
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt, Signal

from flashscope.app.figures.strands import NO_PLACE, Strand
from flashscope.app.figures.ticks import to_axis
from flashscope.app.look.theme import CAPTION_PX, Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.plots.axes import SeqlenAxis, ValueAxis
from flashscope.app.plots.compare.strand_layer import StrandLayer, StrandStroke, stroke
from flashscope.app.plots.dots import brush, dress_dots, pen
from flashscope.app.plots.hint import Hint
from flashscope.app.plots.style import Plot, grid_behind, restyle
from flashscope.app.words.kinds import KindWords

SIDE = 0.35  # doublings of N left free on either side
MARGIN = 0.08  # share of the range left free above and below
LEAST_PX = 190  # of the height, in which axes and curves can be read
NEAR_PX = 24  # a click this near to a point means it


class StrandPlot(Plot):
    """Draws strands of one quantity.

    Signals:
        picked: The pair of a point was clicked: its place in the comparison (int).
    """

    picked = Signal(int)

    def __init__(self, name: str, words: KindWords, theme: Theme) -> None:
        self._x_axis, self._y_axis = SeqlenAxis(), ValueAxis(words)
        super().__init__(axisItems={"bottom": self._x_axis, "left": self._y_axis}, enableMenu=False)
        self._theme = theme
        self._strands: list[Strand] = []
        self._strokes: list[StrandStroke] = []
        self._current: int | None = None
        self._layers = [StrandLayer(self, theme, behind=behind) for behind in (False, True)]
        self._place = NO_PLACE
        self._ring = pg.ScatterPlotItem(pxMode=True, symbol="o")
        self._ring.setZValue(20)
        self.addItem(self._ring, ignoreBounds=True)
        self._hint = Hint(self)
        self._set_up(name)
        self.apply_theme(theme)

    def _set_up(self, name: str) -> None:
        self._corner = pg.LabelItem("N")
        self.plotItem.layout.addItem(self._corner, 3, 0)
        self.range_by_hand()
        keep(self._y_axis, self._y_axis.setWidth, 60)
        self.getViewBox().sigResized.connect(lambda *_: self._range())
        self.scene().sigMouseClicked.connect(self._click)
        keep(self, self.setMinimumSize, 160, LEAST_PX)
        self.setAccessibleName(name)

    def draw_in_steps(
        self, strands: Sequence[Strand], hidden: Collection[str], seqlens: Sequence[int]
    ) -> Iterator[None]:
        """Draw these but those of the hidden kernels, a strand a step."""
        self._strands = [one for one in strands if one.kernel not in hidden]
        self._x_axis.set_seqlens(seqlens)
        yield
        self._strokes = []
        for strand in self._strands:
            self._strokes.append(stroke(strand, self._y_axis.scale_name))
            yield
        self._share_out()
        yield
        self._range()
        self.show_place(self._place)

    def set_words(self, words: KindWords) -> None:
        """Show values of another kind; they are drawn by `draw_in_steps`."""
        self._strands = []
        self._y_axis.set_words(words)

    def show_current(self, session: int) -> None:
        """Let the strands of sessions other than this one and the baseline stand back."""
        if session != self._current:
            self._current = session
            self._share_out()

    def show_place(self, place: int) -> None:
        """Ring the points of this pair."""
        self._place = place
        points = [spot for strand in self._strands if (spot := self._spot(strand, place)) is not None]
        self._ring.setData(x=[x for x, _ in points], y=[y for _, y in points])

    def show_hint(self, text: str) -> None:
        """Say in the middle why there is nothing to see; an empty text says nothing."""
        self._hint.say(text)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour everything but the strands, which `draw_in_steps` draws anew."""
        self._theme = theme
        restyle(self, theme)
        grid_behind(self._x_axis, self._y_axis)
        dress_dots(self._ring, pen(theme.text, px(2)), brush(None), px(17))
        self._hint.apply_theme(theme)
        self._corner.setText("N", color=theme.dim, size=f"{px(CAPTION_PX)}px")
        for layer in self._layers:
            layer.apply_theme(theme)

    def _share_out(self) -> None:
        """Put each strand into the layer where it belongs."""
        own = {0, self._current}
        for layer, behind in zip(self._layers, (False, True), strict=True):
            layer.draw([one for one in self._strokes if (one.strand.session not in own) is behind])

    def _places(self, strand: Strand) -> tuple[Any, Any]:
        return to_axis(strand.seqlen, "log2"), to_axis(strand.value, self._y_axis.scale_name)

    def _spot(self, strand: Strand, place: int) -> tuple[float, float] | None:
        found = np.flatnonzero(strand.place == place)
        if place == NO_PLACE or not found.size:
            return None
        x, y = self._places(strand)
        spot = float(x[found[0]]), float(y[found[0]])
        return spot if np.isfinite(spot).all() else None

    def _extent(self) -> tuple[float, float]:
        """The lowest and the highest position to show."""
        columns = [column for one in self._strands for column in (one.value, one.low, one.high)]
        places = to_axis(np.concatenate(columns or [np.array([np.nan])]), self._y_axis.scale_name)
        places = places[np.isfinite(places)]
        if not places.size:
            return 0.0, 1.0
        low = 0.0 if self._y_axis.scale_name == "linear" else float(places.min())
        return min(low, float(places.min())), float(places.max())

    def _range(self) -> None:
        self._y_axis.setStyle(showValues=any(np.isfinite(one.value).any() for one in self._strands))
        low, high = self._extent()
        room = max((high - low) * MARGIN, 1e-4)
        lengths = [one.seqlen for one in self._strands if one.seqlen.size] or [np.array([256.0, 16384.0])]
        first, last = (log2(float(end)) for end in (min(map(np.min, lengths)), max(map(np.max, lengths))))
        self.getViewBox().setRange(
            xRange=(first - SIDE, last + SIDE),
            yRange=(low - room, high + room),
            padding=0,
            disableAutoRange=True,
        )

    def _click(self, event: Any) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        view = self.getViewBox()
        here, (width, height) = view.mapSceneToView(event.scenePos()), view.viewPixelSize()
        best, place = float(px(NEAR_PX)), NO_PLACE
        for strand in self._strands:
            x, y = self._places(strand)
            away = np.hypot((x - here.x()) / width, (y - here.y()) / height)
            away[strand.place == NO_PLACE] = np.inf
            nearest = int(np.argmin(np.where(np.isfinite(away), away, np.inf))) if away.size else 0
            if away.size and away[nearest] < best:
                best, place = float(away[nearest]), int(strand.place[nearest])
        if place != NO_PLACE:
            self.picked.emit(place)
