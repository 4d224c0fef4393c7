"""Many small cells as one picture: to fill each by itself takes longer than a frame may."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage

CellColours = NDArray[np.uint32]  # 0xAARRGGBB
CellBounds = NDArray[np.intp]  # (cells, 2): the first pixel of each cell, and the one after its last


def bounds_of(first: float, size: float, count: int, gap: float) -> CellBounds:
    """Where so many cells of a size lie that end a gap before the next one, all in pixels.

    As Qt rounds the sides of a rectangle that it fills.
    """
    begins = first + size * np.arange(count)
    return np.floor(np.column_stack((begins, begins + size - gap)) + 0.5).astype(np.intp)


def cell_image(cells: CellColours, rows: CellBounds, columns: CellBounds) -> QImage:
    """A picture of cells, (rows, columns), that lie there; between them nothing is painted."""
    apart = np.zeros((2 * len(rows) - 1, 2 * len(columns) - 1), np.uint32)
    apart[::2, ::2] = cells
    high, wide = (np.diff(bounds.ravel()) for bounds in (rows, columns))
    pixels = np.ascontiguousarray(np.repeat(np.repeat(apart, wide, axis=1), high, axis=0))
    shared = QImage(pixels.data, pixels.shape[1], pixels.shape[0], QImage.Format.Format_ARGB32)
    return shared.copy()  # one of its own: the memory of that one is the array's


def runs(chosen: NDArray[np.bool_], *, apart: bool) -> Iterator[tuple[int, int, int]]:
    """The chosen cells of (rows, columns) as (row, first, end): those side by side, or each by itself."""
    if apart:
        yield from ((row, column, column + 1) for row, column in np.argwhere(chosen).tolist())
        return
    sides = np.diff(np.pad(chosen, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    begins, ends = (np.argwhere(sides == side).tolist() for side in (1, -1))
    yield from ((row, first, end) for (row, first), (_, end) in zip(begins, ends, strict=True))
