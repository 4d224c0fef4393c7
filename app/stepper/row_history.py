"""One query row, tile by tile, and the wrong result of a softmax taken in each tile alone."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from flashscope.app.stepper.recording import RecordedFloats, Recording
from flashscope.app.stepper.walk import Ints

FLOAT32_EXP_LIMIT = 88.72  # exp of more than this is inf in float32


@dataclass(frozen=True, eq=False)
class RowHistory:
    """The state of one row after each of its K tiles, in the order they ran.

    Attributes:
        row: The query row, counted from 0.
        tiles: Index of each tile in the recording (int, (K,)).
        blocks: Key block j of each tile (int, (K,)).
        m: Running maximum (K,).
        l: Running sum (K,).
        alpha: Factor on the old state (K,).
        rises: Whether the tile raised a maximum that was there before (bool, (K,)).
        o: O divided by l: the output if the row ended with this tile, merged with the parts of its keys that
            are done (K, dv).
        starts: Whether the tile begins in the empty state: the first of the row, or of a part (bool, (K,)).
        shares: shares[k, b] is the share of tile b in the softmax after tile k; rows sum to 1 (K, K).
        naive: Sum of the outputs of each tile's own softmax, up to this tile (K, dv).
        naive_sum: Sum of the weights of these softmaxes: the number of tiles so far that are not masked for
            the row (K,).
        exact: The exact output (dv,).
        top: The row's largest score.
    """

    row: int
    tiles: Ints
    blocks: Ints
    m: RecordedFloats
    l: RecordedFloats
    alpha: RecordedFloats
    rises: Ints
    o: RecordedFloats
    starts: NDArray[np.bool_]
    shares: RecordedFloats
    naive: RecordedFloats
    naive_sum: Ints
    exact: RecordedFloats
    top: float

    def passed(self, t: int) -> int:
        """How many of the row's tiles have run once tile t of the recording has."""
        return int(np.searchsorted(self.tiles, t, side="right"))

    @property
    def overflows(self) -> bool:
        """Whether exp of the row's largest score is inf in float32: why the maximum is subtracted."""
        return self.top > FLOAT32_EXP_LIMIT


@np.errstate(all="ignore")  # what is not finite is shown as such
def row_history(recording: Recording, row: int) -> RowHistory:
    """Gather the history of one row; shares and naive are recomputed here, in float64."""
    i, local = divmod(row, recording.block_q)
    tiles = np.flatnonzero(recording.tile[:, 0] == i)
    m, l = recording.m[tiles, local], recording.l[tiles, local]
    o = recording.o[tiles, local]
    starts = recording.previous[tiles] < 0
    if recording.splits > 1:
        o = _merged(m, l, o, starts)
    elif not recording.normalised:
        o = o / np.where(l > 0, l, 1)[:, None]
    before = recording.m_before[tiles, local]
    scores = recording.s[tiles, local].astype(np.float64)
    return RowHistory(
        row=row,
        tiles=tiles,
        blocks=recording.tile[tiles, 1],
        m=m,
        l=l,
        alpha=recording.alpha[tiles, local],
        rises=np.isfinite(before) & (m > before),
        o=o,
        starts=starts,
        shares=_shares(scores),
        naive=_naive(recording, tiles, scores),
        naive_sum=np.cumsum(np.isfinite(scores).any(axis=1)),
        exact=recording.exact[row],
        top=float(scores.max(initial=-np.inf)),
    )


def _merged(
    m: RecordedFloats, l: RecordedFloats, o: RecordedFloats, starts: NDArray[np.bool_]
) -> RecordedFloats:
    """O divided by l after each tile, with what the parts before its own come to, in float64."""
    top, sums, outputs = -np.inf, 0.0, np.zeros(o.shape[1])  # of the parts before
    found = np.zeros(o.shape)
    for k in range(len(m)):
        if k and starts[k]:
            top, sums, outputs = _sum((top, sums, outputs), (float(m[k - 1]), float(l[k - 1]), o[k - 1]))
        _, total, both = _sum((top, sums, outputs), (float(m[k]), float(l[k]), o[k]))
        found[k] = both / total if total > 0 else 0
    return found


def _sum(one: tuple[float, float, RecordedFloats], other: tuple[float, float, RecordedFloats]) -> Any:
    """m, l and O of two parts together."""
    top = max(one[0], other[0])
    if np.isneginf(top):
        return one
    keep, take = np.exp(one[0] - top), np.exp(other[0] - top)
    return top, keep * one[1] + take * other[1], keep * one[2] + take * other[2].astype(np.float64)


def _shares(scores: RecordedFloats) -> RecordedFloats:
    """The sum of exp(S) in tile b, divided by that in tiles 0 to k.

    Exponents are taken relative to the largest score so far, so that nothing overflows.
    """
    peaks = scores.max(axis=1, initial=-np.inf)
    tops = np.maximum.accumulate(peaks)
    sums = np.exp(scores - _finite(peaks)[:, None]).sum(axis=1)
    gap = peaks[None, :] - _finite(tops)[:, None]
    shares = sums * np.exp(np.where(np.tri(len(peaks), dtype=bool), gap, -np.inf))
    total = shares.sum(axis=1, keepdims=True)
    return np.asarray(shares / np.where(total > 0, total, 1))


def _finite(maxima: RecordedFloats) -> RecordedFloats:
    return np.where(np.isfinite(maxima), maxima, 0.0)


def _naive(recording: Recording, tiles: Ints, scores: RecordedFloats) -> RecordedFloats:
    values = recording.trace.v.numpy().astype(np.float64)
    outputs = np.zeros((len(tiles), recording.value_dim))
    for k, t in enumerate(tiles):
        j = recording.at(int(t))[1]
        seen = scores[k, : recording.columns(j)]
        if np.isfinite(seen).any():
            weights = np.exp(seen - seen.max())
            rows = values[j * recording.block_k : j * recording.block_k + len(seen)]
            outputs[k] = weights @ rows / weights.sum()
    return np.cumsum(outputs, axis=0)
