"""What the tiled kernels share: cutting the score matrix into tiles, and the online softmax over one tile.

The online softmax (Milakov and Gimelshein 2018; FlashAttention, Dao et al. 2022) takes a row's scores in
pieces. It keeps the maximum m and the sum l of exp(s - m) seen so far; a new piece raises m, and what was
summed under the old one is multiplied by alpha = exp(m_before - m_after).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from flashscope.kernels.cpu.launch import CpuLaunch, Floats
from flashscope.kernels.workload.mask import Mask
from flashscope.kernels.workload.problem import Problem

BIASED = 4096  # scores whose bias is made at a time
TileSlices = tuple[slice, slice]  # the query rows and key columns of a tile
TileState = tuple[Floats, Floats, Floats]  # m (Br,), l (Br,) and O (Br, dv) of a tile's rows


class ForwardTile(NamedTuple):
    """One tile's buffers: what a thread block keeps in shared memory and registers.

    Attributes:
        s: (Br, Bc) scores, then probabilities.
        pv: (Br, dv) product of one tile's probabilities with V.
        alpha: (Br,) factor on the old l and O.
        row: (Br,) scratch.
    """

    s: Floats
    pv: Floats
    alpha: Floats
    row: Floats

    @classmethod
    def of(cls, launch: CpuLaunch) -> "ForwardTile":
        """The tile buffers among a launch's workspace."""
        work = launch.workspace
        return cls(work["S tile"], work["PV tile"], work["alpha"], work["row"])

    def cut(self, rows: int, columns: int) -> "ForwardTile":
        """The part a ragged tile uses, packed: NumPy copies what is not contiguous."""
        s = self.s.reshape(-1)[: rows * columns].reshape(rows, columns)
        return ForwardTile(s, self.pv[:rows], self.alpha[:rows], self.row[:rows])


def blocks(seqlen: int, block: int) -> list[slice]:
    """[0, seqlen) in blocks; the last may be shorter."""
    return [slice(start, min(start + block, seqlen)) for start in range(0, seqlen, block)]


def hide(s: Floats, mask: Mask, area: TileSlices) -> None:
    """Set scores (..., rows, columns) of hidden pairs to -inf, in place and without a mask array."""
    rows, columns = area
    count, width = s.shape[-2:]
    first_hidden = rows.start + mask.highest + 1 - columns.start  # of the first row; each row one further
    for r in range(min(count, width - first_hidden)):
        s[..., r, max(0, first_hidden + r) :] = -np.inf
    first_kept = rows.start + mask.lowest - columns.start
    for r in range(max(0, 1 - first_kept), count):
        s[..., r, : first_kept + r] = -np.inf
    for part_rows, part_columns in mask.dropped(rows, columns):
        s[..., _within(part_rows, rows), _within(part_columns, columns)] = -np.inf


def _within(part: slice, whole: slice) -> slice:
    """A part of a span, counted from the span's start."""
    return slice(part.start - whole.start, part.stop - whole.start)


def scores(
    q: Floats,
    k: Floats,
    s: Floats,
    problem: Problem,
    area: TileSlices,
    *,
    mask: Mask | None = None,
    slope: Floats | None = None,
    bias: float = 0.0,
) -> None:
    """S = scale Q K^T of one tile (the rows of Q and K that `area` names), softcapped, biased, masked.

    `mask` stands in for the problem's own where a trace is wrong on purpose. Into `slope`, like `s`, goes how
    fast softcapped scores change with what they were before; a problem with a softcap alone takes one. `bias`
    is the head's slope of ALiBi, 0 without one.
    """
    np.matmul(q, k.T, out=s)
    s *= np.float32(problem.softmax_scale)
    if problem.softcap is not None:
        _cap(s, np.float32(problem.softcap), slope)
    if bias:
        _add_bias(s, np.float32(bias), area, problem.seqlen_k - problem.seqlen_q)
    hide(s, problem.mask if mask is None else mask, area)


def _cap(s: Floats, softcap: np.float32, slope: Floats | None) -> None:
    """S = softcap tanh(S / softcap) in place, its slope 1 - tanh^2."""
    s /= softcap
    np.tanh(s, out=s)
    if slope is not None:
        np.multiply(s, s, out=slope)
        np.subtract(1, slope, out=slope)
    s *= softcap


def _add_bias(s: Floats, bias: np.float32, area: TileSlices, shift: int) -> None:
    """S += bias (k - q - shift) in place, some rows and columns at a time: no array is as large as the tile.

    The distance of a pair is a whole number and exact, so that what is near the diagonal is.
    """
    rows, columns = area
    for part in blocks(s.shape[1], BIASED):
        keys = np.arange(columns.start + part.start, columns.start + part.stop, dtype=np.float32)
        for few in blocks(s.shape[0], max(1, BIASED // len(keys))):
            queries = np.arange(rows.start + few.start, rows.start + few.stop, dtype=np.float32) + shift
            distance = keys - queries[:, None]
            s[few, part] += np.multiply(distance, bias, out=distance)


def begin_rows(state: TileState, sink: np.float32) -> None:
    """M, l and O of rows that have met no key: empty, or as a sink leaves them, a score whose value is 0."""
    m, l, o = state
    m.fill(sink)
    l.fill(not np.isneginf(sink))
    o.fill(0)


def online_softmax(tile: ForwardTile, m: Floats, l: Floats) -> None:
    """Take one tile's scores into m and l (Br,), all in place: S becomes exp(S - m), alpha the factor."""
    s, _, alpha, row = tile
    np.copyto(alpha, m)
    np.max(s, axis=1, out=row)
    np.maximum(m, row, out=m)
    np.copyto(row, m)
    row[np.isneginf(row)] = 0  # no key seen yet: exp(-inf - 0) = 0 where -inf - -inf would be NaN
    alpha -= row
    np.exp(alpha, out=alpha)
    s -= row[:, None]
    np.exp(s, out=s)
    l *= alpha
    l += np.sum(s, axis=1, out=row)


def weighted(p: Floats, v: Floats, out: Floats, mask: Mask, area: TileSlices) -> Floats:
    """P V of one tile into `out`, which it returns; V of a hidden pair never enters, not even as NaN.

    A hidden pair has the weight 0, and 0 x NaN would be NaN. A sum tells whether there is any such number.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if not mask.hides(*area) or np.isfinite(np.sum(v)):
            return np.matmul(p, v, out=out)
        numbers = np.isfinite(v)
        np.matmul(p, np.where(numbers, v, 0), out=out)
        rows, columns = area
        for j in np.flatnonzero(~numbers.all(axis=1)):
            kept = mask.keeping(columns.start + int(j), rows)
            out[kept] += p[kept, j, None] * np.where(numbers[j], 0, v[j])
    return out


def absorb(state: TileState, tile: ForwardTile, v: Floats, mask: Mask, area: TileSlices) -> None:
    """Take one tile into m, l and O: O = alpha O + P V, unnormalised (FlashAttention-2, Algorithm 1)."""
    m, l, o = state
    online_softmax(tile, m, l)
    o *= tile.alpha[:, None]
    o += weighted(tile.s, v, tile.pv, mask, area)


Absorb = Callable[[TileState, ForwardTile, Floats, Mask, TileSlices], None]  # as `absorb`


def normalise(o: Floats, l: Floats, row: Floats) -> None:
    """O = O / l in place, with (Br,) scratch; rows that kept no key stay 0."""
    np.copyto(row, l)
    row[row == 0] = 1
    o /= row[:, None]


def log_sum_exp(m: Floats, l: Floats, lse: Floats) -> None:
    """LSE = m + ln l into `lse`; -inf for rows that kept no key."""
    with np.errstate(divide="ignore"):  # ln 0 = -inf is the answer there
        np.log(l, out=lse)
    lse += m
