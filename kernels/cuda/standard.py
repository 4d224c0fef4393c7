"""standard on CUDA: three launches with S and P in HBM."""

import math
from typing import NamedTuple

import numpy as np

from kernels.cuda import simt_standard
from kernels.cuda.launch import bind
from kernels.cuda.program import Program, Stage, Target, ceil_div, choose, round_up, shape_arguments
from kernels.cuda.tensor import Variant, tile_bytes
from kernels.launch import Inputs, Launch
from kernels.problem import Problem
from kernels.spec import KernelSpec

SPAN_TILES = 16  # key tiles that a block of QK^T passes by its query rows
STAGES_OF_SCORES, STAGES_OF_OUTPUT = 2, 3
VECTOR = 8  # elements of one access
WARP = 32
SMALLEST_SOFTMAX = 128  # threads


class Cut(NamedTuple):
    """How the blocks of the two products are cut.

    Attributes:
        variant: Query rows, and keys of a tile of PV.
        scores_k: Keys of a tile of QK^T.
        scores_blocks: Blocks of QK^T that share an SM's registers.
        output_blocks: Blocks of PV that do.
    """

    variant: Variant
    scores_k: int
    scores_blocks: int
    output_blocks: int


# (widest head, cut), best first.
CUTS = (
    (128, Cut(Variant(4, 2, 64), 64, 3, 2)),
    (64, Cut(Variant(4, 2, 32), 64, 3, 2)),
    (128, Cut(Variant(4, 2, 16), 64, 3, 2)),
    (256, Cut(Variant(8, 1, 64), 64, 1, 1)),
    (256, Cut(Variant(8, 1, 32), 32, 1, 1)),
    (256, Cut(Variant(4, 1, 16), 32, 1, 1)),
)

# (longest row, threads of a row, vectors of one thread): a row stays in registers, the longest in part.
SOFTMAX_ROWS = ((1024, 32, 4), (2048, 32, 8), (4096, 128, 4), (8192, 256, 4), (math.inf, 512, 4))
CAUSAL_SOFTMAX_ROWS = ((1024, 32, 4), (2048, 32, 8), (math.inf, 128, 4))  # half as long on average


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Compile for the current device, allocate O, LSE, S and P, and bind them."""
    return bind(spec, problem, inputs, program)


def program(problem: Problem, target: Target) -> Program:
    """Source, defines and the three launches for a problem on a target."""
    if problem.dtype == "float32":
        return simt_standard.program(problem, target)
    cut = choose(
        [cut for widest, cut in CUTS if problem.head_dim <= widest],
        lambda cut: max(scores_bytes(problem, cut), output_bytes(problem, cut)),
        target.shared_memory,
    )
    row_threads, row_vectors = softmax_row(problem)
    defines = {
        **cut.variant.defines(problem),
        "SPAN_TILES": SPAN_TILES,
        "SCORES_K": cut.scores_k,
        "SCORES_BLOCKS": cut.scores_blocks,
        "OUTPUT_BLOCKS": cut.output_blocks,
        "ROW_THREADS": row_threads,
        "ROW_VECTORS": row_vectors,
    }
    return Program("standard.cu", defines, stages(problem, cut, row_threads))


def stages(problem: Problem, cut: Cut, row_threads: int) -> tuple[Stage, ...]:
    """The three launches."""
    variant, shape = cut.variant, shape_arguments(problem)
    tiles_q = problem.batch * problem.heads * ceil_div(problem.seqlen_q, variant.tile_q)
    stride = np.int64(round_up(problem.seqlen_k, VECTOR))
    threads = max(SMALLEST_SOFTMAX, row_threads)
    scores = Stage(
        "standard_scores",
        grid=tiles_q * ceil_div(problem.seqlen_k, SPAN_TILES * cut.scores_k),
        arguments=("q", "k", "S", *shape, np.float32(problem.softmax_scale), stride),
        threads=variant.threads,
        shared_bytes=scores_bytes(problem, cut),
    )
    softmax = Stage(
        "standard_softmax",
        grid=ceil_div(problem.rows, threads // row_threads),
        arguments=("S", "P", "lse", *shape[1:], np.int64(problem.rows), stride),
        threads=threads,
    )
    output = Stage(
        "standard_output",
        grid=tiles_q,
        arguments=("P", "v", "o", *shape, stride),
        threads=variant.threads,
        shared_bytes=output_bytes(problem, cut),
    )
    return scores, softmax, output


def softmax_row(problem: Problem) -> tuple[int, int]:
    """Threads of a row, and vectors of eight scores in each."""
    table = CAUSAL_SOFTMAX_ROWS if problem.causal else SOFTMAX_ROWS
    return next((threads, vectors) for longest, threads, vectors in table if problem.seqlen_k <= longest)


def scores_bytes(problem: Problem, cut: Cut) -> int:
    """Shared memory of a block of QK^T: Q, whose place S takes on its way out, and two stages of K."""
    rows = cut.variant.tile_q
    q_or_s = max(tile_bytes(rows, problem.head_dim), tile_bytes(rows, cut.scores_k))
    return q_or_s + STAGES_OF_SCORES * tile_bytes(cut.scores_k, problem.head_dim)


def output_bytes(problem: Problem, cut: Cut) -> int:
    """Shared memory of a block of PV: three stages of P and V, then O on its way out."""
    rows, keys = cut.variant.tile_q, cut.variant.block_k
    stage = tile_bytes(rows, keys) + tile_bytes(keys, problem.head_dim)
    return max(STAGES_OF_OUTPUT * stage, tile_bytes(rows, problem.head_dim))
