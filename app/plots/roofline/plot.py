"""The roofline: rates over intensities, both logarithmic, under the device's ceilings."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, Qt, Signal

from flashscope.app.control.guard import guarded
from flashscope.app.look.kernel_marks import kernel_mark
from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import keep, px
from flashscope.app.plots.axes import ValueAxis
from flashscope.app.plots.dots import brush, dress_dots, pen
from flashscope.app.plots.hint import Hint
from flashscope.app.plots.roofline.axis import IntensityAxis
from flashscope.app.plots.roofline.labels import RING_PX, Labels, Side, SpotLabel, label_px
from flashscope.app.plots.roofline.roof_item import RoofItem, finite_range, name_height
from flashscope.app.plots.roofline.spots_item import SpotsItem
from flashscope.app.plots.style import Plot, grid_behind, restyle
from flashscope.app.words.kinds import KINDS
from flashscope.app.words.plain import MOST_OF_NAME, cut_short
from flashscope.app.words.units import seqlen_text
from flashscope.profiles.results.theory.roofline import Roofline, Spot

NEAR_PX = 20  # the pointer this near to a point means it
MARGIN = 0.12  # decades left free at every side
HEAD = 0.22  # the same above the highest ceiling, whose name stands there
NAME_SIDES: Sequence[Side] = ("right", "above", "below")
LENGTH_SIDES: Sequence[Side] = ("above", "below", "right")
CHOSEN_SIDES: Sequence[Side] = ("right", "above", "below")


class RooflinePlot(Plot):
    """Draws a roofline.

    Signals:
        picked: A point was clicked (int, its index in the session).
        hovered: The pointer is near this point, or near none (Spot or None).
    """

    picked = Signal(int)
    hovered = Signal(object)

    def __init__(self, theme: Theme) -> None:
        self._rates = ValueAxis(KINDS["rate"])
        self._rates.set_scale("log10")
        super().__init__(axisItems={"bottom": IntensityAxis(), "left": self._rates}, enableMenu=False)
        self._theme = theme
        self._roof_items: dict[str, RoofItem] = {}
        self._kernel_items: dict[str, SpotsItem] = {}
        self._hidden: Collection[str] = ()
        self._roof_names: list[QRectF] = []  # what they take of the scene
        self._chosen: int | None = None
        self._ring = pg.ScatterPlotItem(pxMode=True, symbol="o")
        self._ring.setZValue(20)
        self.addItem(self._ring, ignoreBounds=True)
        self._hint = Hint(self)
        self._labels = Labels(self)
        self._set_up()
        self.apply_theme(theme)

    def _set_up(self) -> None:
        self.range_by_hand()
        keep(self._rates, self._rates.setWidth, 48)
        self.getViewBox().sigResized.connect(lambda *_: self._range())
        self.scene().sigMouseClicked.connect(self._click)
        self.scene().sigMouseMoved.connect(self._hover)
        keep(self, self.setMinimumSize, 300, 220)
        self.setAccessibleName("Roofline: TFLOP/s over FLOP a byte")

    def show_roofline(self, found: Roofline, hidden: Collection[str]) -> None:
        """Draw this roofline in place of the one before."""
        roofs = {roof.key: roof for roof in found.roofs}
        for key in roofs.keys() - self._roof_items.keys():
            self._roof_items[key] = RoofItem(self, key, self._theme)
        for key, ceiling in self._roof_items.items():
            ceiling.show(roofs.get(key))
        by_kernel: dict[str, list[Spot]] = {}
        for spot in found.spots:
            by_kernel.setdefault(spot.row.kernel, []).append(spot)
        for kernel in by_kernel:
            if kernel not in self._kernel_items:
                self._kernel_items[kernel] = SpotsItem(self, kernel, self._theme)
        for kernel, item in self._kernel_items.items():
            item.show(by_kernel.get(kernel, ()))
        self.show_hidden(hidden)

    def show_hidden(self, hidden: Collection[str]) -> None:
        """Hide the points of these kernels."""
        self._hidden = hidden
        for item in self._kernel_items.values():
            item.set_visible(item.kernel not in hidden)
        self._range()

    def show_chosen(self, index: int | None) -> None:
        """Ring the point of this index."""
        self._chosen = index
        self._draw_chosen()

    def show_hint(self, text: str) -> None:
        """Say in the middle why there is nothing to see; an empty text says nothing."""
        self._hint.say(text)

    def apply_theme(self, theme: Theme) -> None:
        """Recolour everything that is drawn."""
        self._theme = theme
        restyle(self, theme)
        grid_behind(self.getAxis("bottom"), self.getAxis("left"))
        dress_dots(self._ring, pen(theme.text, px(2)), brush(None), px(RING_PX))
        self._hint.apply_theme(theme)
        for drawn in self._drawn:
            drawn.apply_theme(theme)
        self._draw_labels()

    @property
    def _drawn(self) -> Sequence[RoofItem | SpotsItem]:
        return [*self._roof_items.values(), *self._kernel_items.values()]

    @property
    def _roofs(self) -> Sequence[RoofItem]:
        return [item for item in self._roof_items.values() if item.roof is not None]

    @property
    def _kernels(self) -> Sequence[SpotsItem]:
        return [item for item in self._kernel_items.values() if item.spots]

    @property
    def _shown(self) -> Sequence[SpotsItem]:
        return [item for item in self._kernels if item.kernel not in self._hidden]

    def _range(self) -> None:
        """Show every point, where slopes meet the ceilings, and room for their names."""
        places = self._places()
        levels = [item.level for item in self._roofs if not item.rises]
        slopes = [item.level for item in self._roofs if item.rises]
        heights = [y for _, y in places] + levels
        low, high = finite_range(heights)
        meeting = [level - slope for level in levels for slope in slopes]
        left, right = finite_range([x for x, _ in places] + meeting)
        x = (left - MARGIN, right + MARGIN + self._names_width(right - left + 2 * MARGIN))
        y = (low - MARGIN, high + max(HEAD, self._head(high - low + MARGIN)))
        view = self.getViewBox()
        view.setRange(xRange=x, yRange=y, padding=0, disableAutoRange=True)
        for roof in self._roofs:
            roof.draw(x, y, max(levels, default=y[1]))
        lines = [roof.line_in(view) for roof in self._roofs if not roof.rises]
        taken, marks = [*lines], [view.mapViewToScene(QPointF(*place)) for place in places]
        for roof in sorted(self._roofs, key=lambda one: (one.rises, -one.level)):
            roof.write(view, taken, marks)
        self._roof_names = taken[len(lines) :]
        self._draw_chosen()

    def _names_width(self, decades: float) -> float:
        """How many decades more it takes for names to stand right of the last points, at most a third."""
        share = label_px([item.kernel for item in self._shown]) / max(1.0, self.getViewBox().width())
        return float(decades * min(share / max(1 - share, 0.5), 1 / 3))

    def _head(self, decades: float) -> float:
        """How many decades more it takes for a name to stand over the highest ceiling, at most as many."""
        share = name_height() / max(1.0, self.getViewBox().height())
        return float(decades * share / max(1 - share, 0.5))

    def _draw_chosen(self) -> None:
        rings = [
            place
            for item in self._shown
            for spot, *both in zip(item.spots, *item.tiers, strict=True)
            for place in both
            if self._is_spot(spot) and np.isfinite(place).all()
        ]
        self._ring.setData([x for x, _ in rings], [y for _, y in rings])
        self._draw_labels()

    def _draw_labels(self) -> None:
        """The chosen N, the names of kernels at their longest N, and every other N of the chosen kernel."""
        names: list[SpotLabel] = []
        lengths: list[SpotLabel] = []
        for item in self._shown:
            colour = kernel_mark(item.kernel).on(self._theme)
            longest = max(range(len(item.spots)), key=lambda n: item.spots[n].row.seqlen)
            chosen = self._is_chosen(item)
            name = SpotLabel(
                cut_short(item.kernel, MOST_OF_NAME), colour, item.place(longest), NAME_SIDES, chosen
            )
            if not chosen:
                names.append(name)
                continue
            names.insert(0, name)
            chosen_first = sorted(enumerate(item.spots), key=lambda one: not self._is_spot(one[1]))
            lengths = [
                SpotLabel(
                    seqlen_text(spot.row.seqlen),
                    colour,
                    item.place(n),
                    CHOSEN_SIDES if self._is_spot(spot) else LENGTH_SIDES,
                    self._is_spot(spot),
                )
                for n, spot in chosen_first
            ]
        taken = self._roof_names
        self._labels.show([*lengths[:1], *names[:1], *lengths[1:], *names[1:]], self._places(), taken)

    def _places(self) -> list[tuple[float, float]]:
        """Where marks stand; a point of which nothing tells the bytes has none."""
        both = (place for item in self._shown for group in item.tiers for place in group)
        return [(float(x), float(y)) for x, y in both if np.isfinite((x, y)).all()]

    def _is_spot(self, spot: Spot) -> bool:
        return spot.row.point.index == self._chosen

    def _is_chosen(self, item: SpotsItem) -> bool:
        return any(map(self._is_spot, item.spots))

    def _spot_at(self, scene: QPointF) -> Spot | None:
        """The point nearest to a place of the scene, None where none is near."""
        view = self.getViewBox()
        if not view.sceneBoundingRect().contains(scene):
            return None
        here, (width, height) = view.mapSceneToView(scene), view.viewPixelSize()
        best, found = float(px(NEAR_PX)), None
        for item in self._shown:
            for places in item.tiers:
                away = np.hypot((places[:, 0] - here.x()) / width, (places[:, 1] - here.y()) / height)
                away[~np.isfinite(away)] = np.inf
                nearest = int(np.argmin(away))
                if away[nearest] < best:
                    best, found = float(away[nearest]), item.spots[nearest]
        return found

    def let_go(self) -> None:
        """The pointer is near no point any more."""
        self.hovered.emit(None)

    @guarded()
    def _hover(self, scene: QPointF) -> None:
        self.hovered.emit(self._spot_at(scene))

    @guarded()
    def _click(self, event: Any) -> None:
        spot = self._spot_at(event.scenePos())
        if event.button() == Qt.MouseButton.LeftButton and spot is not None:
            self.picked.emit(spot.row.point.index)
