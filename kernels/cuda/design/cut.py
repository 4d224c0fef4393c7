"""How flash2 and flash3 are cut, both passes, and the program of a cut."""

from dataclasses import replace as with_changes
from functools import lru_cache

from flashscope.kernels.catalogue.buffers import Buffer
from flashscope.kernels.catalogue.flash3_share import Share, TileShape, share
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.catalogue.workspace_backward import flash3_in_tiles
from flashscope.kernels.cuda import flash2, flash2_backward, flash3, flash3_backward
from flashscope.kernels.cuda.design.knobs import KEY_GROUPS
from flashscope.kernels.cuda.flash2_backward import KeyTiling
from flashscope.kernels.cuda.flash3 import Flash3Variant
from flashscope.kernels.cuda.flash3_backward import QueryTiling
from flashscope.kernels.cuda.program import KernelLaunch, Program, Target
from flashscope.kernels.cuda.tensor import TensorVariant
from flashscope.kernels.workload.cut import Cut, CutKernel
from flashscope.kernels.workload.problem import Backend, Problem


@lru_cache(maxsize=64)
def shipped(kernel: CutKernel, problem: Problem, target: Target) -> Cut:
    """The cut that the kernel takes for a problem in 16 bits without a block mask."""
    match kernel:
        case "flash2":
            return _shipped2(problem, target)
        case "flash2 backward":
            return _shipped2_backward(problem, target)
        case "flash3 backward":
            rows, stages = flash3_backward.query_cut(problem)
            return Cut(kernel=kernel, groups=KEY_GROUPS, queries=rows, stages=stages)
        case _:
            return _shipped3(problem)


def _shipped2(problem: Problem, target: Target) -> Cut:
    taken = flash2.cut(problem, target)
    return Cut(
        kernel="flash2",
        groups=taken.warps,
        subtiles=taken.subtiles,
        block_k=taken.block_k,
        residents=flash2.blocks_per_sm(problem),
    )


def _shipped2_backward(problem: Problem, target: Target) -> Cut:
    taken = flash2_backward.key_cut(problem, target)
    return Cut(
        kernel="flash2 backward",
        groups=taken.key_warps,
        subtiles=taken.subtiles,
        columns=taken.column_warps,
        queries=taken.queries,
        residents=taken.blocks,
    )


def _shipped3(problem: Problem) -> Cut:
    variant = flash3.flash3_variant(problem, "flash3", flash3_share(problem))
    return Cut(
        kernel="flash3",
        groups=variant.groups,
        block_k=variant.block_k,
        stages=variant.stages,
        q_stages=variant.q_stages,
        residents=variant.residents,
    )


def flash3_share(problem: Problem) -> Share:
    """How flash3 shares a problem, but that every tile has the rows of one head and all of its keys."""
    return share(problem)._replace(pack_gqa=1, splits=1)


def variant2_of(cut: Cut) -> TensorVariant:
    """A cut of flash2 as its program takes it."""
    return TensorVariant(cut.groups, cut.subtiles, cut.block_k)


def variant3_of(cut: Cut, problem: Problem, target: Target) -> Flash3Variant:
    """A cut of flash3 as its program takes it; whatever else there is to choose is chosen as flash3 does."""
    if cut == shipped("flash3", problem, target):
        return flash3.flash3_variant(problem, "flash3", flash3_share(problem))
    shape = TileShape(cut.groups, cut.block_k)
    return flash3.varied(problem, shape, cut.stages, cut.q_stages, cut.residents)


def key_tiling(cut: Cut) -> KeyTiling:
    """A cut of flash2's backward pass as its program takes it."""
    return KeyTiling(cut.groups, cut.subtiles, cut.columns, cut.queries, cut.residents)


def query_tiling(cut: Cut) -> QueryTiling:
    """A cut of flash3's backward pass as its program takes it."""
    return QueryTiling(cut.queries, cut.stages)


def spec_of(cut: Cut) -> KernelSpec:
    """The kernel in the catalogue, with the workspace that the cut takes."""
    spec = find_kernel(cut.spec)
    if spec.backward is None or cut.kernel != "flash3 backward":
        return spec

    def tiles(problem: Problem, _backend: Backend) -> tuple[Buffer, ...]:
        return flash3_in_tiles(problem, cut.queries)

    return with_changes(spec, backward=with_changes(spec.backward, workspace=tiles))


def program_of(cut: Cut, problem: Problem, target: Target) -> Program:
    """Source, defines and launches of a cut; what the source refuses is found by the compiler alone."""
    match cut.kernel:
        case "flash2":
            return flash2.program(problem, target, variant2_of(cut), cut.residents)
        case "flash2 backward":
            return flash2_backward.program(problem, target, key_tiling(cut))
        case "flash3 backward":
            return flash3_backward.program(problem, target, query_tiling(cut))
        case _:
            return _program3(cut, problem, target)


def main_launch(program: Program) -> KernelLaunch:
    """The launch of a program whose blocks a cut is about: of a backward pass that with the products."""
    return max(program.launches, key=lambda launch: launch.shared_bytes)


def _program3(cut: Cut, problem: Problem, target: Target) -> Program:
    variant = variant3_of(cut, problem, target)
    chosen = flash3_share(problem)._replace(
        shape=TileShape(cut.groups, cut.block_k), draws=bool(variant.schedule), residents=cut.residents
    )
    made = flash3.program(problem, target, chosen=chosen, cut=variant)
    return with_changes(made, note="")
