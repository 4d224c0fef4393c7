"""Names of curves at their ends: in a column where the longest end, else where no curve crosses them."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import pyqtgraph as pg

from flashscope.app.figures.free_places import Box, free_place
from flashscope.app.figures.text_places import spread_texts
from flashscope.app.look.zoom import px
from flashscope.app.plots.view_pixels import ViewPixels, around

NAME_PX, BESIDE_PX = 15, 6

DrawnLine = tuple[Sequence[float], Sequence[float]]


class EndName(NamedTuple):
    """The name of a curve, and where that ends."""

    item: pg.TextItem
    x: float
    y: float


def place_names(view: pg.ViewBox, names: Sequence[EndName], drawn: Sequence[DrawnLine], mark_px: int) -> None:
    """Put each name beside its curve's end, so that it can be read; where there is no room it is not shown.

    Args:
        view: What shows the curves.
        names: Their names.
        drawn: Their lines.
        mark_px: How large the marks on them are.
    """
    pixels = ViewPixels(view)
    last = max((x for xs, _ in drawn for x in xs), default=0.0)
    ends = [(name, *pixels.of(name.x, name.y)) for name in names]
    column = [one for one in ends if one[0].x >= last]
    gap = px(NAME_PX)
    own = [down for _, _, down in column]
    downs = spread_texts(own, gap, gap / 2, pixels.height - gap / 2) or own
    boxes = [
        _box(name, across + px(BESIDE_PX), down)
        for (name, across, _), down in zip(column, downs, strict=True)
    ]
    for (name, _, _), box in zip(column, boxes, strict=True):
        _put(name, box, pixels)
    paths = [[pixels.of(x, y) for x, y in zip(*line, strict=True)] for line in drawn]
    lines = [line for path in paths for line in pairwise(path)]
    boxes += [around(spot, px(mark_px)) for path in paths for spot in path]
    for name, across, down in ends:
        if name.x < last:
            rect = name.item.boundingRect()
            size = rect.width(), min(rect.height(), gap)
            place = free_place((across, down), size, px(BESIDE_PX), pixels.field, (lines, boxes))
            name.item.setVisible(place is not None)
            if place is not None:
                boxes.append(place)
                _put(name, place, pixels)


def _box(name: EndName, left: float, middle: float) -> Box:
    half = px(NAME_PX) / 2
    return Box(left, middle - half, left + name.item.boundingRect().width(), middle + half)


def _put(name: EndName, box: Box, pixels: ViewPixels) -> None:
    name.item.setPos(*pixels.value(box.left, (box.top + box.bottom) / 2))
