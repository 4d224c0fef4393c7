"""What a launch in slow motion tells in memory of the host: words, and the tiles that they come to."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

SM_BITS = 16  # of a word, below the ns since the launch began: SM + 1; a word of 0: not yet


class ToldTiles(NamedTuple):
    """Tiles that are done, in the order in which they were. T tiles.

    Attributes:
        tile: int32 (T, 3): head, i and j.
        finished_ns: int64 (T,): when, since the launch began.
        sm: int32 (T,): the SM that ended each.
    """

    tile: npt.NDArray[np.int32]
    finished_ns: npt.NDArray[np.int64]
    sm: npt.NDArray[np.int32]


class ToldSoFar:
    """Reads what a launch has told so far.

    Args:
        telling: int32 (heads, Ti, Tj): how many tell of each tile; 0: none computes it.
        told: uint64 (slots, reporters): the memory that they tell in; a slot for each tile, in that order.
    """

    def __init__(self, telling: npt.NDArray[np.int32], told: npt.NDArray[np.uint64]) -> None:
        self._told, self._shape = told, telling.shape
        self._left = telling.reshape(-1).copy()  # who has still to tell; -1: it was told of
        self._left[self._left == 0] = -1

    def fresh(self) -> ToldTiles:
        """The tiles of which all have told, and had not when this was asked last."""
        words = self._told.copy()
        done = np.flatnonzero((np.count_nonzero(words, axis=1) == self._left) & (self._left > 0))
        self._left[done] = -1
        last = words[done].max(axis=1, initial=0)
        order = np.argsort(last, kind="stable")
        done, last = done[order], last[order]
        tile = np.stack(np.unravel_index(done, self._shape), axis=1).astype(np.int32)
        sm = (last & np.uint64((1 << SM_BITS) - 1)).astype(np.int32) - 1
        return ToldTiles(tile, (last >> np.uint64(SM_BITS)).astype(np.int64), sm)
