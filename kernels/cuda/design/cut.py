"""What of flash2 and flash3 can be cut otherwise, how both passes are cut, and the program of a cut."""

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as with_changes
from functools import lru_cache

from flashscope.kernels.catalogue.buffers import Buffer
from flashscope.kernels.catalogue.flash3_share import Share, TileShape, share
from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.catalogue.spec import KernelSpec
from flashscope.kernels.catalogue.workspace_backward import flash3_in_tiles
from flashscope.kernels.cuda import flash2, flash2_backward, flash3, flash3_backward
from flashscope.kernels.cuda.flash2_backward import KeyTiling
from flashscope.kernels.cuda.flash3 import Flash3Variant
from flashscope.kernels.cuda.flash3_backward import QueryTiling
from flashscope.kernels.cuda.program import KernelLaunch, Program, Target
from flashscope.kernels.cuda.tensor import TensorVariant
from flashscope.kernels.workload.cut import Cut, CutKernel
from flashscope.kernels.workload.problem import Backend, Problem

KEY_GROUPS = 2  # of flash3's backward pass: its warpgroups, of 64 keys each


@dataclass(frozen=True)
class Knob:
    """One number of a cut that can be varied.

    Attributes:
        name: The field of `Cut`.
        title: What it is called.
        least: Its smallest value.
        most: Its largest.
        step: From one value to the next.
        doubling: Whether the next value is twice the one before, in place of steps.
        tip: What it does, in a line.
    """

    name: str
    title: str
    least: int
    most: int
    step: int = 1
    doubling: bool = False
    tip: str = ""

    @property
    def values(self) -> tuple[int, ...]:
        """What there is to choose."""
        if self.doubling:
            return tuple(self.least << turn for turn in range((self.most // self.least).bit_length()))
        return tuple(range(self.least, self.most + 1, self.step))


_KEYS = Knob("block_k", "Keys, Bc", 16, 256, 16, tip="Keys of a tile of K and V")
_QUERIES = Knob("queries", "Queries, Br", 16, 128, 16, tip="Queries of a tile of Q and dO, which passes by")
KNOBS: dict[CutKernel, Sequence[Knob]] = {
    "flash2": (
        Knob("groups", "Warps", 1, 16, doubling=True, tip="Warps of a block; each has rows of its own"),
        Knob("subtiles", "Fragments a warp", 1, 4, tip="Fragments of 16 query rows in a warp"),
        _KEYS,
        Knob("residents", "Blocks an SM", 1, 4, tip="Blocks that the compiler cuts registers for"),
    ),
    "flash3": (
        Knob("groups", "Warpgroups", 1, 4, tip="Consumer warpgroups of 64 query rows; one more copies"),
        _KEYS,
        Knob("stages", "Stages of K, V", 1, 6, tip="Tiles of K, and of V, in shared memory"),
        Knob("q_stages", "Stages of Q", 1, 2, tip="Tiles of Q in shared memory"),
        Knob("residents", "Blocks an SM", 1, 2, tip="Blocks that share an SM"),
    ),
    "flash2 backward": (
        Knob(
            "groups",
            "Groups of warps",
            1,
            8,
            doubling=True,
            tip="Groups of a block; each has keys of its own",
        ),
        Knob("subtiles", "Fragments a group", 1, 4, tip="Fragments of 16 keys in a group of warps"),
        Knob("columns", "Warps a group", 1, 4, doubling=True, tip="Each has a part of dK's and dV's columns"),
        _QUERIES,
        Knob("residents", "Blocks an SM", 1, 3, tip="Blocks that the compiler cuts registers for"),
    ),
    "flash3 backward": (
        _QUERIES,
        Knob("stages", "Stages of K, V", 1, 2, tip="Tiles of K, and of V, in shared memory"),
    ),
    "numpy": (
        Knob("groups", "Rows, Br", 16, 2048, doubling=True, tip="Query rows of a tile"),
        Knob("block_k", "Keys, Bc", 16, 2048, doubling=True, tip="Keys of a tile of K and V"),
    ),
}


def inner(kernel: CutKernel) -> Knob:
    """The number of those that pass by: keys of a forward pass, queries of a backward pass."""
    return next(knob for knob in KNOBS[kernel] if knob.name in {_KEYS.name, _QUERIES.name})


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
