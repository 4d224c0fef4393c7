"""What of flash2 and flash3 can be cut otherwise, how they are cut, and the program of a cut."""

from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace as with_changes
from functools import lru_cache

from flashscope.kernels.catalogue.flash3_share import Share, TileShape, share
from flashscope.kernels.cuda import flash2, flash3
from flashscope.kernels.cuda.flash3 import Flash3Variant
from flashscope.kernels.cuda.program import Program, Target
from flashscope.kernels.cuda.tensor import TensorVariant
from flashscope.kernels.workload.cut import Cut, CutKernel
from flashscope.kernels.workload.problem import Problem


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
    "numpy": (
        Knob("groups", "Rows, Br", 16, 2048, doubling=True, tip="Query rows of a tile"),
        Knob("block_k", "Keys, Bc", 16, 2048, doubling=True, tip="Keys of a tile of K and V"),
    ),
}


@lru_cache(maxsize=64)
def shipped(kernel: CutKernel, problem: Problem, target: Target) -> Cut:
    """The cut that the kernel takes for a problem in 16 bits without a block mask."""
    if kernel == "flash2":
        taken = flash2.cut(problem, target)
        return Cut(
            kernel=kernel,
            groups=taken.warps,
            subtiles=taken.subtiles,
            block_k=taken.block_k,
            residents=flash2.blocks_per_sm(problem),
        )
    of = flash3_share(problem)
    variant = flash3.flash3_variant(problem, "flash3", of)
    return Cut(
        kernel=kernel,
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


def program_of(cut: Cut, problem: Problem, target: Target) -> Program:
    """Source, defines and launches of a cut; what the source refuses is found by the compiler alone."""
    if cut.kernel == "flash2":
        return flash2.program(problem, target, variant2_of(cut), cut.residents)
    variant = variant3_of(cut, problem, target)
    chosen = flash3_share(problem)._replace(
        shape=TileShape(cut.groups, cut.block_k), draws=bool(variant.schedule), residents=cut.residents
    )
    made = flash3.program(problem, target, chosen=chosen, cut=variant)
    return with_changes(made, note="")
