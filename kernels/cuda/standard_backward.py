"""standard's backward pass on CUDA: delta, dS, and three products with P and dS in HBM."""

import numpy as np

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.catalogue.workspace import ROW_STEP
from flashscope.kernels.cuda.backward import bind, mask_defines
from flashscope.kernels.cuda.program import (
    KernelLaunch,
    Program,
    Target,
    TileSize,
    ceil_div,
    choose_fitting,
    defines_of,
    round_up,
    shape_arguments,
)
from flashscope.kernels.cuda.sparse import block_text, divides, kept_argument, kept_table
from flashscope.kernels.cuda.tensor import TensorVariant, tile_bytes
from flashscope.kernels.launching.launch import BackwardLaunch
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Saved

STEP = 64  # depth of one step of a product
ROW_THREADS = 256  # a warp a row, of delta
# (widest head, warps, fragments in a warp), best first; a tile has as many keys as queries.
CUTS = ((128, 4, 2), (256, 8, 1), (256, 4, 1), (256, 2, 1), (256, 1, 1))


def prepare(spec: KernelSpec, problem: Problem, saved: Saved) -> BackwardLaunch:
    """Compile for the current device, allocate the gradients, P, dS and delta, bind them, and fill P once."""
    return bind(spec, problem, saved, program, once=1)


def program(problem: Problem, target: Target) -> Program:
    """Source, defines and the launches for a problem on a target; the first makes P."""
    cut = choose_fitting(suitable(problem), lambda cut: shared_bytes(problem, cut), target.shared_memory)
    defines = {
        **defines_of(problem),
        **mask_defines(problem),
        "WARPS": cut.warps,
        "SUBTILES": cut.subtiles,
    }
    return Program("standard_backward.cu", defines, backward_launches(problem, cut), kept_table(problem))


def suitable(problem: Problem) -> list[TensorVariant]:
    """The cuts that suit the head dim and the block mask, best first.

    Raises:
        InputError: None suits the block mask.
    """
    made = (TensorVariant(w, n, w * n * 16) for widest, w, n in CUTS if problem.head_dim <= widest)
    cuts = [cut for cut in made if divides(problem, TileSize(cut.tile_q, cut.tile_q))]
    if not cuts:
        raise InputError(
            "standard's backward pass takes block masks whose blocks are multiples of 16 long, not "
            f"{block_text(problem)}."
        )
    return cuts


def shared_bytes(problem: Problem, cut: TensorVariant) -> int:
    """Shared memory of a block: two tiles of rows and one of P, or two stages of a product."""
    step = min(STEP, cut.block_k)
    stage = max(tile_bytes(cut.tile_q, step), tile_bytes(step, cut.block_k)) + tile_bytes(
        step, problem.head_dim
    )
    return max(2 * tile_bytes(cut.tile_q, problem.head_dim) + tile_bytes(cut.tile_q, cut.block_k), 2 * stage)


def backward_launches(problem: Problem, cut: TensorVariant) -> tuple[KernelLaunch, ...]:
    """P, which a forward pass would have left; then delta, dS, dV, dK and dQ."""
    scale, one = np.float32(problem.softmax_scale), np.float32(1)
    end = (np.int64(round_up(problem.seqlen_k, ROW_STEP)), kept_argument(problem))
    shape = shape_arguments(problem)
    tiles_q, tiles_k = (ceil_div(length, cut.tile_q) for length in (problem.seqlen_q, problem.seqlen_k))
    heads, kv_heads = problem.batch * problem.heads, problem.batch * problem.key_heads

    def product(entry: str, grid: int, *arguments: object) -> KernelLaunch:
        return KernelLaunch(
            f"standard_backward_{entry}", grid, arguments, cut.threads, shared_bytes(problem, cut)
        )

    tiles = heads * tiles_q * tiles_k
    rows = KernelLaunch(
        "standard_backward_rows",
        grid=ceil_div(problem.rows, ROW_THREADS // 32),
        arguments=("output", "grad_output", "delta", np.int64(problem.rows)),
        threads=ROW_THREADS,
    )
    return (
        product("weights", tiles, "q", "k", "lse", "P", *shape, scale, *end),
        rows,
        product("scores", tiles, "P", "delta", "v", "grad_output", "dS", *shape, *end),
        product("keys", kv_heads * tiles_k, "P", "grad_output", "dv", *shape, one, *end),
        product("keys", kv_heads * tiles_k, "dS", "q", "dk", *shape, scale, *end),
        product("queries", heads * tiles_q, "dS", "k", "dq", *shape, scale, *end),
    )
