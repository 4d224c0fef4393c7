"""The steps of a backward pass on one tile: P again from LSE, dS, and what they add to the gradients.

FlashAttention-2, Algorithm 2 (Dao 2023): P = exp(S - LSE) needs neither the row's maximum nor its sum, so
that a tile of P is computed again from Q, K and one number a row. delta = rowsum(dO O) equals rowsum(P dP),
which would need the whole row.
"""

from typing import NamedTuple

import numpy as np

from flashscope.kernels.cpu.backward import CpuBackward, HeadRows
from flashscope.kernels.cpu.launch import Floats
from flashscope.kernels.cpu.tiles import TileSlices, scores
from flashscope.kernels.workload.problem import Problem


class BackwardTile(NamedTuple):
    """One tile's buffers: what a thread block keeps in shared memory and registers.

    Attributes:
        p: (Br, Bc) probabilities.
        ds: (Br, Bc) gradients with respect to the scores, the scale left out.
        product: (max(Br, Bc), max(d, dv)) a product before it is added to a gradient.
        row: (Br,) scratch.
        slope: (Br, Bc) how fast softcapped scores change with the scaled ones; None without a softcap.
    """

    p: Floats
    ds: Floats
    product: Floats
    row: Floats
    slope: Floats | None

    @classmethod
    def of(cls, launch: CpuBackward) -> "BackwardTile":
        """The tile buffers among a launch's workspace."""
        work = launch.workspace
        return cls(work["P tile"], work["dS tile"], work["product"], work["row"], work.get("slope tile"))

    def cut(self, area: TileSlices) -> "BackwardTile":
        """The part a ragged tile uses, packed: NumPy copies what is not contiguous."""
        rows, columns = (span.stop - span.start for span in area)
        p, ds = (_packed(x, rows, columns) for x in (self.p, self.ds))
        slope = None if self.slope is None else _packed(self.slope, rows, columns)
        return BackwardTile(p, ds, self.product, self.row[:rows], slope)


def _packed(buffer: Floats, rows: int, columns: int) -> Floats:
    return buffer.reshape(-1)[: rows * columns].reshape(rows, columns)


def weights(
    tile: tuple[Floats, Floats, Floats | None], head: HeadRows, problem: Problem, area: TileSlices
) -> None:
    """P = exp(S - LSE) of one tile (P, scratch (Br,), and `slope` as in `kernels.cpu.tiles.scores`).

    Rows that keep no key get zeros.
    """
    p, row, slope = tile
    rows, columns = area
    scores(head.q[rows], head.k[columns], p, problem, area, slope=slope, bias=head.bias)
    np.copyto(row, head.lse[rows])
    row[np.isneginf(row)] = np.inf  # exp(-inf - inf) = 0 where -inf - -inf would be NaN
    p -= row[:, None]
    np.exp(p, out=p)


def score_gradients(
    tile: tuple[Floats, Floats, Floats | None], head: HeadRows, delta: Floats, area: TileSlices
) -> None:
    """DS = P (dP - delta), dP = dO V^T, of one tile: dS, P, and the slope of a softcap, a factor of dS."""
    ds, p, slope = tile
    rows, columns = area
    np.matmul(head.grad_output[rows], head.v[columns].T, out=ds)
    ds -= delta[:, None]
    ds *= p
    if slope is not None:
        ds *= slope


def add_product(gradient: Floats, left: Floats, right: Floats, product: Floats) -> None:
    """Add left right to some rows of a gradient, by way of scratch that is as large at least."""
    gradient += np.matmul(left, right, out=_packed(product, *gradient.shape))


def row_deltas(head: HeadRows, rows: slice, delta: Floats) -> None:
    """Delta = rowsum(dO O) of some rows, without an array in between."""
    np.einsum("rd,rd->r", head.grad_output[rows], head.output[rows], out=delta)


def absorb(tile: BackwardTile, head: HeadRows, delta: Floats, problem: Problem, area: TileSlices) -> None:
    """All that one tile adds to dQ, dK and dV, the scale of the first two left out."""
    rows, columns = area
    weights((tile.p, tile.row, tile.slope), head, problem, area)
    score_gradients((tile.ds, tile.p, tile.slope), head, delta, area)
    add_product(head.dv[columns], tile.p.T, head.grad_output[rows], tile.product)
    add_product(head.dq[rows], tile.ds, head.k[columns], tile.product)
    add_product(head.dk[columns], tile.ds.T, head.q[rows], tile.product)
