"""standard on CUDA: three launches with S and P in HBM."""

import math
from collections.abc import Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np

from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cuda import simt_standard
from flashscope.kernels.cuda.launch import bind
from flashscope.kernels.cuda.program import (
    HOPPER,
    KernelLaunch,
    Program,
    ProgramOf,
    Target,
    TileSize,
    ceil_div,
    choose_fitting,
    round_up,
    shape_arguments,
)
from flashscope.kernels.cuda.simt import sparse_arguments
from flashscope.kernels.cuda.sparse import block_text, divides, sparse_defines, sparse_tables
from flashscope.kernels.cuda.tensor import TensorVariant, tile_bytes
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.workload.errors import InputError
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs

SPAN_TILES = 16  # key tiles that a block of QK^T passes by its query rows
STAGES_OF_SCORES, STAGES_OF_OUTPUT = 2, 3
VECTOR = 8  # elements of one access
WARP = 32
SMALLEST_SOFTMAX = 128  # threads


class ProductTiling(NamedTuple):
    """How the blocks of one of the two products are cut.

    Attributes:
        variant: Query rows, and keys of a tile.
        blocks: Blocks that share an SM.
        wgmma: A product of warpgroups instead of warps.
    """

    variant: TensorVariant
    blocks: int
    wgmma: bool = False


# (widest head, cut), best first; the small ones at the end suit block masks.
SCORES_CUTS = (
    (128, ProductTiling(TensorVariant(4, 2, 64), 3)),
    (256, ProductTiling(TensorVariant(4, 2, 32), 2)),
    (256, ProductTiling(TensorVariant(4, 1, 32), 2)),
    (256, ProductTiling(TensorVariant(2, 1, 32), 2)),
    (256, ProductTiling(TensorVariant(1, 1, 32), 2)),
)
OUTPUT_CUTS = (
    (128, ProductTiling(TensorVariant(4, 2, 64), 2)),
    (128, ProductTiling(TensorVariant(4, 2, 32), 2)),
    (128, ProductTiling(TensorVariant(4, 2, 16), 2)),
    (256, ProductTiling(TensorVariant(8, 1, 64), 1)),
    (256, ProductTiling(TensorVariant(8, 1, 32), 1)),
    (256, ProductTiling(TensorVariant(4, 1, 32), 1)),
    (256, ProductTiling(TensorVariant(4, 1, 16), 1)),
    (256, ProductTiling(TensorVariant(2, 1, 32), 1)),
    (256, ProductTiling(TensorVariant(1, 1, 32), 1)),
)
WGMMA_CUTS = {  # of both products, by head dim
    64: (
        ProductTiling(TensorVariant(8, 1, 128), 2, wgmma=True),
        ProductTiling(TensorVariant(8, 1, 128), 1, wgmma=True),
    ),
    128: (
        ProductTiling(TensorVariant(8, 1, 128), 2, wgmma=True),
        ProductTiling(TensorVariant(8, 1, 128), 1, wgmma=True),
    ),
    256: (
        ProductTiling(TensorVariant(8, 1, 128), 1, wgmma=True),
        ProductTiling(TensorVariant(8, 1, 64), 1, wgmma=True),
    ),
}
SMALLEST_TILE = TileSize(16, 32)


class SoftmaxTiling(NamedTuple):
    """How the softmax cuts a row: it stays in registers, or is read in parts.

    Attributes:
        longest: Keys of the longest row that is cut like this.
        threads: Threads of a row.
        vectors: Vectors of scores that a thread holds.
        registers: Of a thread; the fewer, the more rows are in flight.
    """

    longest: float
    threads: int
    vectors: int
    registers: int

    @property
    def scores_in_registers(self) -> int:
        """Scores of a row that are in registers at a time."""
        return self.threads * self.vectors * VECTOR


SOFTMAX_ROWS = (
    SoftmaxTiling(1024, 64, 2, 32),
    SoftmaxTiling(2048, 128, 2, 32),
    SoftmaxTiling(4096, 256, 2, 32),
    SoftmaxTiling(8192, 512, 2, 32),
    SoftmaxTiling(16384, 512, 4, 40),
    SoftmaxTiling(32768, 512, 8, 56),
    SoftmaxTiling(math.inf, 256, 4, 72),
)
CAUSAL_SOFTMAX_ROWS = (  # half as long on average
    SoftmaxTiling(1024, 32, 1, 32),
    SoftmaxTiling(2048, 32, 2, 48),
    SoftmaxTiling(4096, 128, 4, 72),
    SoftmaxTiling(8192, 128, 2, 60),
    SoftmaxTiling(math.inf, 128, 4, 72),
)
MASK_REGISTERS = 8  # that a window or a block mask takes besides


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Compile for the current device, allocate O, LSE, P and S in the dtype of the spec, and bind them."""
    scores = next(buffer for buffer in spec.workspace(problem, "cuda") if buffer.name == "S")
    return bind(spec, problem, inputs, _program_of(scores.dtype == "float32"))


@cache
def _program_of(float_scores: bool) -> ProgramOf:
    """The programs with S in this dtype; always the same function, so that `bind` knows them again."""
    return partial(program, float_scores=float_scores)


def program(problem: Problem, target: Target, *, float_scores: bool = False) -> Program:
    """Source, defines and the three launches for a problem on a target."""
    if problem.dtype == "float32":
        return simt_standard.program(problem, target)
    scores, output = choose_cuts(problem, target)
    row = softmax_row(problem)
    defines = {
        **output.variant.defines(problem),
        **sparse_defines(problem, output.variant.tile),
        "WARPGROUPS": int(output.wgmma),
        "SPAN_TILES": SPAN_TILES,
        "SCORES_WARPS": scores.variant.warps,
        "SCORES_SUBTILES": scores.variant.subtiles,
        "SCORES_K": scores.variant.block_k,
        "SCORES_BLOCKS": scores.blocks,
        "OUTPUT_BLOCKS": output.blocks,
        "ROW_THREADS": row.threads,
        "ROW_VECTORS": row.vectors,
        "ROW_IN_ONE": int(problem.seqlen_k <= row.scores_in_registers),
        "ROW_REGISTERS": row_registers(problem, row, float_scores=float_scores),
        "FLOAT_SCORES": int(float_scores),
    }
    pdl = target.compute_capability >= HOPPER
    launches = forward_launches(problem, scores, output.variant, row.threads, pdl=pdl)
    tables = sparse_tables(problem, output.variant.tile)
    return Program("standard.cu", defines, launches, tables, arch_suffix="a" if output.wgmma else "")


def choose_cuts(problem: Problem, target: Target) -> tuple[ProductTiling, ProductTiling]:
    """How QK^T and PV are cut; both are products of warpgroups, or neither is."""
    pair = WGMMA_CUTS.get(problem.head_dim) if target.compute_capability == HOPPER else None
    if pair and all(divides(problem, cut.variant.tile) for cut in pair):
        return pair
    scores = choose_fitting(
        suitable(problem, SCORES_CUTS),
        lambda cut: scores_bytes(problem, cut),
        target.shared_memory,
        blocks_per_sm=2,
    )
    output = choose_fitting(
        suitable(problem, OUTPUT_CUTS), lambda cut: output_bytes(problem, cut.variant), target.shared_memory
    )
    return scores, output


def suitable(problem: Problem, table: Sequence[tuple[int, ProductTiling]]) -> list[ProductTiling]:
    """The cuts of a table that suit the head dim and the block mask, best first.

    Raises:
        InputError: None suits the block mask.
    """
    cuts = [cut for widest, cut in table if problem.head_dim <= widest and divides(problem, cut.variant.tile)]
    if not cuts:
        raise InputError(
            f"standard takes block masks whose blocks are multiples of {SMALLEST_TILE.q} x {SMALLEST_TILE.k} "
            f"in {problem.dtype}, not {block_text(problem)}."
        )
    return cuts


def forward_launches(
    problem: Problem, scores_cut: ProductTiling, pv: TensorVariant, row_threads: int, *, pdl: bool
) -> tuple[KernelLaunch, ...]:
    """The three launches; with `pdl` the next may begin while one ends."""
    shape = shape_arguments(problem)
    heads = problem.batch * problem.heads
    stride = np.int64(round_up(problem.seqlen_k, VECTOR))
    threads = max(SMALLEST_SOFTMAX, row_threads)
    tables = sparse_arguments(problem)
    qk = scores_cut.variant
    spans = ceil_div(problem.seqlen_k, SPAN_TILES * qk.block_k)
    scores = KernelLaunch(
        "standard_scores",
        grid=heads * ceil_div(problem.seqlen_q, qk.tile_q) * spans,
        arguments=("q", "k", "S", *shape, np.float32(problem.softmax_scale), stride, *tables),
        threads=qk.threads,
        shared_bytes=scores_bytes(problem, scores_cut),
    )
    softmax = KernelLaunch(
        "standard_softmax",
        grid=ceil_div(problem.rows, threads // row_threads),
        arguments=("S", "P", "lse", *shape[1:], np.int64(problem.rows), stride, *tables),
        threads=threads,
        pdl=pdl,
    )
    output = KernelLaunch(
        "standard_output",
        grid=heads * ceil_div(problem.seqlen_q, pv.tile_q),
        arguments=("P", "v", "o", *shape, stride, *tables),
        threads=pv.threads,
        shared_bytes=output_bytes(problem, pv),
        pdl=pdl,
    )
    return scores, softmax, output


def softmax_row(problem: Problem) -> SoftmaxTiling:
    """How the softmax cuts a row of S."""
    table = CAUSAL_SOFTMAX_ROWS if problem.causal else SOFTMAX_ROWS
    return next(cut for cut in table if problem.seqlen_k <= cut.longest)


def row_registers(problem: Problem, row: SoftmaxTiling, *, float_scores: bool) -> int:
    """Registers of a thread of the softmax: float32 scores take twice as many as 16-bit ones."""
    masked = problem.window is not None or problem.block_mask is not None
    return row.registers + float_scores * row.vectors * VECTOR // 2 + masked * MASK_REGISTERS


def scores_bytes(problem: Problem, cut: ProductTiling) -> int:
    """Shared memory of a block of QK^T: Q, and two stages of K in its place, or with wgmma behind it."""
    q, k = cut.variant.tile_q, STAGES_OF_SCORES * cut.variant.block_k
    return tile_bytes(q + k if cut.wgmma else max(q, k), problem.head_dim)


def output_bytes(problem: Problem, cut: TensorVariant) -> int:
    """Shared memory of a block of PV: three stages of P and V, then O on its way out."""
    stage = tile_bytes(cut.tile_q, cut.block_k) + tile_bytes(cut.block_k, problem.head_dim)
    return max(STAGES_OF_OUTPUT * stage, tile_bytes(cut.tile_q, problem.head_dim))
