"""flash2, backward: FlashAttention-2, Algorithm 2 (Dao 2023).

Idea: K/V blocks outside, Q blocks inside; dK and dV of a K/V block stay where they are (registers on a GPU)
until all its queries have passed. Each K/V block can be another worker's, and only dQ is then summed by
several.
Predecessor: flash1 computes delta anew in every tile; here one pass over O and dO comes first, and O is
read no more.
Limit: dQ goes through memory once for every K/V block, and five products take the place of the forward
pass's two.
"""

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cpu.backward import CpuBackward, bind
from flashscope.kernels.cpu.backward_tiles import BackwardTile, absorb, row_deltas
from flashscope.kernels.cpu.tiles import blocks
from flashscope.kernels.launching.launch import BackwardLaunch
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Saved


def prepare(spec: KernelSpec, problem: Problem, saved: Saved) -> BackwardLaunch:
    """Allocate the gradients, delta of every row and one tile's buffers, and bind them."""
    return bind(spec, problem, saved, _head)


def _head(launch: CpuBackward, head: tuple[int, ...]) -> None:
    one, delta = launch.head(head), launch.workspace["delta"][head]
    row_deltas(one, slice(0, launch.problem.seqlen_q), delta)
    for columns in blocks(launch.problem.seqlen_k, launch.workspace["P tile"].shape[1]):
        _key_block(launch, head, columns)


def _key_block(launch: CpuBackward, head: tuple[int, ...], columns: slice) -> None:
    """All queries of one block of keys."""
    problem, mask, tile = launch.problem, launch.problem.mask, BackwardTile.of(launch)
    one, delta = launch.head(head), launch.workspace["delta"][head]
    for rows in blocks(problem.seqlen_q, tile.p.shape[0]):
        if mask.keeps(rows, columns):
            absorb(tile.cut((rows, columns)), one, delta[rows], problem, (rows, columns))
