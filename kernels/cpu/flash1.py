"""flash1: FlashAttention, Algorithm 1 (Dao et al. 2022).

Idea: K/V blocks outside, Q blocks inside. One tile of S exists at a time; the online softmax joins the tiles
exactly.
Predecessor: standard holds S and P whole; here memory grows with the sequence length, not its square.
Limit: each Q block is visited once for every K/V block, so its O, l and m are read and written that often,
and O is divided by l every time only to be multiplied by it at the next visit.
"""

import numpy as np

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cpu.launch import CpuLaunch, Floats, bind
from flashscope.kernels.cpu.tiles import (
    Absorb,
    ForwardTile,
    TileSlices,
    TileState,
    absorb,
    begin_rows,
    blocks,
    log_sum_exp,
    normalise,
    scores,
)
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.workload.mask import Mask
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Allocate O, LSE, m and l of every row and one tile's buffers, and bind them."""
    return bind(spec, problem, inputs, _flash1)


def _flash1(launch: CpuLaunch) -> None:
    m, l = launch.workspace["m"], launch.workspace["l"]
    for head in np.ndindex(m.shape[:2]):
        begin_rows((m[head], l[head], launch.output[head]), launch.sink(head))
        _head(launch, head)
    log_sum_exp(m, l, launch.lse)


def _head(launch: CpuLaunch, head: tuple[int, ...]) -> None:
    """All tiles of one head, key blocks outside."""
    problem, mask, tile = launch.problem, launch.problem.mask, ForwardTile.of(launch)
    q, k, v = launch.head(head)
    o, m, l = launch.output[head], launch.workspace["m"][head], launch.workspace["l"][head]
    block_q, block_k = tile.s.shape
    for columns in blocks(problem.seqlen_k, block_k):
        for rows in blocks(problem.seqlen_q, block_q):
            if mask.keeps(rows, columns):
                part = tile.cut(rows.stop - rows.start, columns.stop - columns.start)
                area = rows, columns
                scores(q[rows], k[columns], part.s, problem, area, bias=problem.bias(head[1]))
                absorb_normalised((m[rows], l[rows], o[rows]), part, v[columns], mask, area)


def absorb_normalised(
    state: TileState,
    tile: ForwardTile,
    v: Floats,
    mask: Mask,
    area: TileSlices,
    *,
    instead: Absorb | None = None,
) -> None:
    """Take one tile into m, l and a normalised O: O = (l alpha O + P V) / l_new (Algorithm 1, line 12).

    `instead` stands in for `absorb` where a trace is wrong on purpose.
    """
    _m, l, o = state
    o *= l[:, None]
    (instead or absorb)(state, tile, v, mask, area)
    normalise(o, l, tile.row)
