"""Tiles in the order they run: what the steps of a trace and the bytes of its loops are laid out by."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.trace import TraceRequest

Ints = NDArray[np.integer[Any]]


class Tiled:
    """Tiles (i, j) that run, in their order; who extends it has the attributes.

    Attributes:
        request: The problem, its tiles' size and the loop order.
        tile: The (i, j) of each tile, int (T, 2).
        value_dim: dv, the width of V and O.
    """

    request: TraceRequest
    tile: Ints
    value_dim: int

    @cached_property
    def problem(self) -> Problem:
        """What is on show, as a problem of one head."""
        return self.request.shown

    @property
    def order(self) -> str:
        """The loop order, `flash1` or `flash2`."""
        return self.request.order

    @property
    def block_q(self) -> int:
        """Br, rows of a tile."""
        return self.request.block_q

    @property
    def block_k(self) -> int:
        """Bc, columns of a tile."""
        return self.request.block_k

    @property
    def seqlen_q(self) -> int:
        """Nq, the number of query rows."""
        return self.problem.seqlen_q

    @property
    def seqlen_k(self) -> int:
        """Nk, the number of key rows."""
        return self.problem.seqlen_k

    @property
    def blocks_q(self) -> int:
        """Tr, the number of query blocks."""
        return self.request.grid[0]

    @property
    def blocks_k(self) -> int:
        """Tc, the number of key blocks."""
        return self.request.grid[1]

    @property
    def tiles(self) -> int:
        """T, the number of tiles that ran."""
        return len(self.tile)

    def rows(self, i: int) -> int:
        """Rows of query block i that exist."""
        return min(self.block_q, self.seqlen_q - i * self.block_q)

    def columns(self, j: int) -> int:
        """Columns of key block j that exist."""
        return min(self.block_k, self.seqlen_k - j * self.block_k)

    def at(self, t: int) -> tuple[int, int]:
        """The (i, j) of tile t."""
        return int(self.tile[t, 0]), int(self.tile[t, 1])

    @property
    def in_8_bits(self) -> bool:
        """Whether Q, K and V are rounded to 8 bits by a first launch, as flash3-fp8 does."""
        return self.request.kernel == "flash3-fp8"

    @property
    def loaded_itemsize(self) -> int:
        """Bytes of an element of Q, K or V as tiles load it."""
        return 1 if self.in_8_bits else self.problem.itemsize

    @property
    def splits(self) -> int:
        """Parts that the keys of a query block are cut into, each with a softmax of its own."""
        return self.request.splits

    @cached_property
    def part(self) -> Ints:
        """The part of its query block's keys that each tile is of (int, (T,)): equal shares of the tiles."""
        if self.splits == 1:
            return np.zeros(self.tiles, dtype=np.int64)
        there = self.order_of_tile >= 0
        place, count = np.cumsum(there, axis=1) - 1, there.sum(axis=1)
        i, j = self.tile.T
        return np.asarray(((place[i, j] + 1) * self.splits - 1) // count[i])

    @cached_property
    def previous(self) -> Ints:
        """For each tile, the one before it of the same query block and part; -1 for the first (int, (T,))."""
        keys = self.tile[:, 0].astype(np.int64) * self.splits + self.part
        together = np.argsort(keys, kind="stable")
        before, after = together[:-1], together[1:]
        result = np.full(self.tiles, -1)
        result[after] = np.where(keys[before] == keys[after], before, -1)
        return result

    @cached_property
    def last(self) -> NDArray[np.bool_]:
        """Whether each tile is the last of its query block, or of its part of it (bool, (T,))."""
        last = np.ones(self.tiles, dtype=bool)
        last[self.previous[self.previous >= 0]] = False
        return last

    def ends(self, i: int) -> Mapping[int, int]:
        """The last tile of each part of a query block's keys that has one, by the part."""
        own = np.flatnonzero(self.last & (self.tile[:, 0] == i))
        return {int(self.part[t]): int(t) for t in own}

    @cached_property
    def order_of_tile(self) -> Ints:
        """When the tile (i, j) ran, -1 when it was skipped because every score is masked (int, (Tr, Tc))."""
        grid = np.full((self.blocks_q, self.blocks_k), -1)
        grid[self.tile[:, 0], self.tile[:, 1]] = np.arange(self.tiles)
        return grid

    @cached_property
    def blank_rows(self) -> int:
        """Query rows of blocks without any tile: they see no key, and their O is 0."""
        blank = np.flatnonzero((self.order_of_tile < 0).all(axis=1))
        return sum(self.rows(int(i)) for i in blank)


@dataclass(frozen=True, eq=False)
class TileWalk(Tiled):
    """The tiles of a trace in an order of their own, without what was computed in them."""

    request: TraceRequest
    tile: Ints
    value_dim: int
