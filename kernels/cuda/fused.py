"""fused on CUDA: one launch on the FMA units, a block a tile of query rows, whose scores it keeps whole."""

from flashscope.kernels.catalogue import fused
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.cuda.launch import bind
from flashscope.kernels.cuda.program import (
    KernelLaunch,
    Program,
    Target,
    TileSize,
    ceil_div,
    exponent_factor,
    shape_arguments,
)
from flashscope.kernels.cuda.simt_layout import THREADS, simt_defines
from flashscope.kernels.launching.launch import Launch
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.tensors import Inputs


def prepare(spec: KernelSpec, problem: Problem, inputs: Inputs) -> Launch:
    """Compile for the current device, allocate O and LSE, and bind them."""
    return bind(spec, problem, inputs, program)


def program(problem: Problem, target: Target) -> Program:
    """Source, defines and the launch for a problem; `KernelSpec.limit` says where its rows do not fit."""
    del target  # the same on every one
    tile = TileSize(fused.ROWS, fused.key_tile(problem.head_dim))
    launch = KernelLaunch(
        "fused",
        grid=problem.batch * problem.heads * ceil_div(problem.seqlen_q, tile.q),
        arguments=("q", "k", "v", "o", "lse", *shape_arguments(problem), exponent_factor(problem)),
        threads=THREADS,
        shared_bytes=fused.shared_bytes(problem),
    )
    return Program("fused.cu", simt_defines(problem, tile, tile), (launch,))
