"""flash2: FlashAttention-2, Algorithm 1 (Dao 2023).

Idea: Q blocks outside, K/V blocks inside. A Q block meets all its keys in one go, so its O, l and m stay
where they are (registers on a GPU) until the block is finished, and O is divided by l once.
Predecessor: flash1 has the loops the other way round and sends O, l and m through memory for every tile.
Limit: K and V are read again for every Q block; larger Q blocks are what reduces that.
"""

import numpy as np

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cpu.launch import CpuLaunch, bind
from flashscope.kernels.cpu.tiles import (
    ForwardTile,
    absorb,
    begin_rows,
    blocks,
    log_sum_exp,
    normalise,
    scores,
)
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Allocate O, LSE and one tile's buffers, and bind them."""
    return bind(spec, problem, inputs, _flash2)


def _flash2(launch: CpuLaunch) -> None:
    problem = launch.problem
    block_q = launch.workspace["S tile"].shape[0]
    for head in np.ndindex(problem.batch, problem.heads):
        for rows in blocks(problem.seqlen_q, block_q):
            _query_block(launch, head, rows)


def _query_block(launch: CpuLaunch, head: tuple[int, ...], rows: slice) -> None:
    """All keys of one block of query rows; O's rows serve as the accumulator."""
    problem, mask, tile = launch.problem, launch.problem.mask, ForwardTile.of(launch)
    q, k, v = launch.head(head)
    count = rows.stop - rows.start
    o, m, l = launch.output[head][rows], launch.workspace["m"][:count], launch.workspace["l"][:count]
    begin_rows((m, l, o), launch.sink(head))
    for columns in blocks(problem.seqlen_k, tile.s.shape[1]):
        if mask.keeps(rows, columns):
            part = tile.cut(count, columns.stop - columns.start)
            area = rows, columns
            scores(q[rows], k[columns], part.s, problem, area, bias=problem.bias(head[1]))
            absorb((m, l, o), part, v[columns], mask, area)
    normalise(o, l, tile.row[:count])
    log_sum_exp(m, l, launch.lse[head][rows])
