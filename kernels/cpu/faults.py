"""What each fault of a trace computes in place of the right step: real arithmetic, wrong on purpose.

    no-rescale             l = l + rowsum P,  O = O + P V: what was summed under the old maximum is not
                           multiplied by alpha
    no-maximum             P = exp(S): nothing is subtracted, so m stays 0 and LSE = ln l
    softmax-per-tile       O = O + softmax(S) V of each tile alone, never divided by what they sum to
    float16-accumulators   l and O are rounded to float16 after every tile
    diagonal-masked        causal keeps k < q + Nk - Nq, one key too few
    key-beyond-diagonal    causal keeps k <= q + Nk - Nq + 1, one key too many, in the tiles that the right
                           edge visits
    stale-keys             a barrier is missing before a tile is read: the later half of its keys, of an odd
                           number the larger one, still has K and V of the tile before, and zeros where that
                           had none

The last is a model of a race: on a GPU it depends on the moment which rows have arrived. The first tile that
a query block loads has nothing before it (flash1: the first tile of all, and a block of keys has arrived once
the next query block meets it).
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from flashscope.kernels.cpu.flash1 import absorb_normalised
from flashscope.kernels.cpu.launch import Floats
from flashscope.kernels.cpu.tiles import (
    Absorb,
    ForwardTile,
    TileSlices,
    TileState,
    absorb,
    online_softmax,
    weighted,
)
from flashscope.kernels.workload.mask import Mask
from flashscope.kernels.workload.trace import TraceRequest

EDGES = {"diagonal-masked": -1, "key-beyond-diagonal": 1}


class TileSteps(NamedTuple):
    """How a trace computes a tile.

    Attributes:
        mask: The pairs that a tile keeps; which tiles run is the request's own affair.
        absorb: Takes a tile into m, l and O.
        keys: The K and V that it multiplies.
    """

    mask: Mask
    absorb: Absorb
    keys: "KeyBlocks"


class KeyBlocks:
    """K (Nk, d) and V (Nk, dv) in blocks, each as it lies in memory."""

    def __init__(self, k: Floats, v: Floats) -> None:
        self.k, self.v = k, v

    def load(self, i: int, columns: slice) -> tuple[Floats, Floats]:
        """K and V of some keys as query block i reads them."""
        del i
        return self.k[columns], self.v[columns]


class StaleKeyBlocks(KeyBlocks):
    """One buffer for all blocks of keys, which is read before the later half of a block has arrived."""

    def __init__(self, request: TraceRequest, k: Floats, v: Floats) -> None:
        super().__init__(k, v)
        self._shared = request.order == "flash1"  # the buffer goes on from one query block to the next
        self._buffers = tuple(np.zeros((request.block_k, array.shape[1]), np.float32) for array in (k, v))
        self._loaded: int | None = None  # the query block that a block was loaded for last

    def load(self, i: int, columns: slice) -> tuple[Floats, Floats]:
        """What the buffer has while the block arrives; one that it has already is read whole."""
        whole, before = super().load(i, columns), self._loaded
        if before is None or (not self._shared and before != i):
            read = whole
        else:
            k, v = (self._half(*pair) for pair in zip(whole, self._buffers, strict=True))
            read = k, v
        self._loaded = i
        for buffer, block in zip(self._buffers, whole, strict=True):
            buffer.fill(0)
            buffer[: len(block)] = block
        return read

    @staticmethod
    def _half(block: Floats, buffer: Floats) -> Floats:
        fresh = len(block) // 2
        return np.concatenate([block[:fresh], buffer[fresh : len(block)]])


def steps_of(request: TraceRequest, k: Floats, v: Floats) -> TileSteps:
    """The steps of a request: the right ones, or those of its fault."""
    mask, fault = request.shown.mask, request.fault
    if request.problem.causal and fault in EDGES:
        mask = mask._replace(highest=min(mask.seqlen_k - 1, mask.highest + EDGES[fault]))
    keys = StaleKeyBlocks(request, k, v) if fault == "stale-keys" else KeyBlocks(k, v)
    return TileSteps(mask, _absorb(request), keys)


def _absorb(request: TraceRequest) -> Absorb:
    if request.fault == "softmax-per-tile":
        return _add_softmax_of_tile
    one = {"no-rescale": _absorb_without_alpha, "no-maximum": _absorb_without_maximum}.get(
        request.fault, absorb
    )
    whole: Absorb = partial(absorb_normalised, instead=one) if request.order == "flash1" else one
    return partial(_absorb_in_float16, whole) if request.fault == "float16-accumulators" else whole


def _absorb_without_alpha(
    state: TileState, tile: ForwardTile, v: Floats, mask: Mask, area: TileSlices
) -> None:
    m, l, o = state
    old = l.copy()
    online_softmax(tile, m, l)
    np.add(old, np.sum(tile.s, axis=1, out=tile.row), out=l)
    o += weighted(tile.s, v, tile.pv, mask, area)


def _absorb_without_maximum(
    state: TileState, tile: ForwardTile, v: Floats, mask: Mask, area: TileSlices
) -> None:
    m, l, o = state
    m[~np.isneginf(np.max(tile.s, axis=1))] = 0
    tile.alpha.fill(1)
    np.exp(tile.s, out=tile.s)
    l += np.sum(tile.s, axis=1, out=tile.row)
    o += weighted(tile.s, v, tile.pv, mask, area)


def _add_softmax_of_tile(
    state: TileState, tile: ForwardTile, v: Floats, mask: Mask, area: TileSlices
) -> None:
    """Each tile starts anew; a row that keeps no key of it stays as it is."""
    m, l, o = state
    own_m, own_l = np.full_like(m, -np.inf), np.zeros_like(l)
    online_softmax(tile, own_m, own_l)
    tile.alpha.fill(1)
    seen = own_l > 0
    m[seen], l[seen] = own_m[seen], own_l[seen]
    own_l[~seen] = 1
    weights = tile.s
    weights /= own_l[:, None]
    o += weighted(weights, v, tile.pv, mask, area)


def _absorb_in_float16(  # noqa: PLR0917 - the step's own arguments, behind it
    step: Absorb, state: TileState, tile: ForwardTile, v: Floats, mask: Mask, area: TileSlices
) -> None:
    step(state, tile, v, mask, area)
    for held in state[1:]:
        held[...] = held.astype(np.float16)
