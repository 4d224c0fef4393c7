"""What of flash2 and flash3 can be cut otherwise: the numbers of a cut, and the values of each."""

from collections.abc import Sequence
from dataclasses import dataclass

from flashscope.kernels.workload.cut import CutKernel

KEY_GROUPS = 2  # warpgroups of flash3's backward pass, of 64 keys each


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
    def words(self) -> str:
        """The title within a sentence."""
        return self.title[:1].lower() + self.title[1:]

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
