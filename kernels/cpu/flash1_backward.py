"""flash1, backward: FlashAttention, Algorithm 4 (Dao et al. 2022), from LSE in place of m and l.

Idea: K/V blocks outside, Q blocks inside, as in its forward pass; a tile of P is computed again, never
kept.
Predecessor: standard keeps P, Nq x Nk, between the passes; here that is O and LSE.
Limit: each Q block is visited once for every K/V block, and each time its dQ is read and written, and its O
and dO are read for delta = rowsum(dO O), which is the same every time.
"""

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cpu.backward import CpuBackward, bind
from flashscope.kernels.cpu.backward_tiles import BackwardTile, absorb, row_deltas
from flashscope.kernels.cpu.tiles import blocks
from flashscope.kernels.launching.launch import BackwardLaunch
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Saved


def prepare(spec: KernelSpec, problem: Problem, saved: Saved) -> BackwardLaunch:
    """Allocate the gradients and one tile's buffers, and bind them."""
    return bind(spec, problem, saved, _head)


def _head(launch: CpuBackward, head: tuple[int, ...]) -> None:
    problem, mask, tile = launch.problem, launch.problem.mask, BackwardTile.of(launch)
    one, (block_q, block_k) = launch.head(head), tile.p.shape
    for columns in blocks(problem.seqlen_k, block_k):
        for rows in blocks(problem.seqlen_q, block_q):
            if mask.keeps(rows, columns):
                delta = launch.workspace["delta"][: rows.stop - rows.start]
                row_deltas(one, rows, delta)
                absorb(tile.cut((rows, columns)), one, delta, problem, (rows, columns))
