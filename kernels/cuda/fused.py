"""fused on CUDA: one launch on the FMA units, a block a tile of query rows, whose scores it keeps whole."""

from kernels import fused
from kernels.cuda.launch import bind
from kernels.cuda.program import Program, Stage, Target, Tile, ceil_div, exponent_factor, shape_arguments
from kernels.cuda.simt_layout import THREADS, simt_defines
from kernels.launch import Inputs, Launch
from kernels.problem import Problem
from kernels.spec import KernelSpec


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Compile for the current device, allocate O and LSE, and bind them."""
    return bind(spec, problem, inputs, program)


def program(problem: Problem, target: Target) -> Program:
    """Source, defines and the launch for a problem; `KernelSpec.limit` says where its rows do not fit."""
    del target  # the same on every one
    tile = Tile(fused.ROWS, fused.key_tile(problem.head_dim))
    stage = Stage(
        "fused",
        grid=problem.batch * problem.heads * ceil_div(problem.seqlen_q, tile.q),
        arguments=("q", "k", "v", "o", "lse", *shape_arguments(problem), exponent_factor(problem)),
        threads=THREADS,
        shared_bytes=fused.shared_bytes(problem),
    )
    return Program("fused.cu", simt_defines(problem, tile, tile), (stage,))
