"""A place for a text beside a point of a plot, where no line crosses it and no other thing is; no Qt."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

Pixel = tuple[float, float]
Stretch = tuple[Pixel, Pixel]


class Box(NamedTuple):
    """An upright rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    def touches(self, other: "Box") -> bool:
        """Whether the two have a place in common."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def holds(self, other: "Box") -> bool:
        """Whether the other is within it."""
        across = self.left <= other.left and other.right <= self.right
        return across and self.top <= other.top and other.bottom <= self.bottom

    def crossed_by(self, line: Stretch) -> bool:
        """Whether a straight line goes through it (Liang and Barsky, ACM Trans. Graphics 3, 1984)."""
        (x, y), (to_x, to_y) = line
        first, last = 0.0, 1.0
        for start, step, low, high in (
            (x, to_x - x, self.left, self.right),
            (y, to_y - y, self.top, self.bottom),
        ):
            if not step:
                if not low < start < high:
                    return False
                continue
            one, other = sorted(((low - start) / step, (high - start) / step))
            first, last = max(first, one), min(last, other)
        return first < last


def free_place(
    point: Pixel,
    size: tuple[float, float],
    away: float,
    field: Box,
    taken: tuple[Sequence[Stretch], Sequence[Box]],
) -> Box | None:
    """The place nearest in height to a point that a text may have, beside it rather than over or under it.

    Args:
        point: What the text names.
        size: Its width and height.
        away: How far it stands from the point.
        field: What it must stay in.
        taken: Lines that may not cross it, and boxes that may not touch it.

    Returns:
        None: there is no room.
    """
    lines, boxes = taken
    for place in _places(point, size, away, field):
        if not any(map(place.touches, boxes)) and not any(map(place.crossed_by, lines)):
            return place
    return None


def _places(point: Pixel, size: tuple[float, float], away: float, field: Box) -> Iterator[Box]:
    """Those in the field: right of the point, left of it, over and under it; then half a height farther."""
    (x, y), (width, height) = point, size
    over = min(max(x - width / 2, field.left), field.right - width)
    for halves in count():
        middles = {y - halves * height / 2: None, y + halves * height / 2: None}
        rows = [at for at in middles if field.top <= at - height / 2 and at + height / 2 <= field.bottom]
        if halves * height > 2 * (field.bottom - field.top):
            return
        for at in rows:
            for left in (x + away, x - away - width, over):
                place = Box(left, at - height / 2, left + width, at + height / 2)
                if field.holds(place):
                    yield place
