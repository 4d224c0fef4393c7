"""Block masks that people know by name: local, global, strided and random blocks, and their unions.

The parts are those of sparse attention's literature: a band of blocks along the diagonal and global blocks
(Beltagy et al., "Longformer", 2020), every k-th block (Child et al., "Sparse Transformers", 2019), random
blocks beside them (Zaheer et al., "BigBird", 2020).
"""

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

import msgspec

from flashscope.kernels.workload.block_mask import BlockMask, count_blocks
from flashscope.kernels.workload.errors import InputError

BLOCK = 128  # queries and keys of a block when nothing else is said
PARTS = ("local", "global", "strided", "random")
EXAMPLES = ("local:4", "local:4,global:1", "strided:8", "random:0.25", "local:1,global:1,random:0.05")
N = TypeVar("N", int, float)


class BlockPattern(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which blocks a block mask keeps, whatever the sequence lengths: the union of its parts.

    The diagonal is aligned to the bottom right, as causal is. At least one part is given.

    Attributes:
        local: Keep the blocks at most this many from the diagonal; None: no such part.
        global_: Keep the first so many rows and columns of blocks; None: no such part.
        strided: Keep the diagonal and every so-many-th block left and right of it; None: no such part.
        random: Keep this share of all blocks, drawn from the seed; None: no such part.
    """

    local: int | None = None
    global_: int | None = None
    strided: int | None = None
    random: float | None = None

    def __post_init__(self) -> None:
        if (self.local, self.global_, self.strided, self.random) == (None,) * 4:
            raise InputError(f"A block pattern needs at least one part, as {', '.join(EXAMPLES)}.")
        if self.local is not None and self.local < 0:
            raise InputError(f"local keeps 0 or more blocks beside the diagonal's, not {self.local}.")
        for name, number in (("global", self.global_), ("strided", self.strided)):
            if number is not None and number < 1:
                raise InputError(f"{name} takes a number of blocks from 1, not {number}.")
        if self.random is not None and not 0 <= self.random <= 1:
            raise InputError(f"random takes a share of the blocks between 0 and 1, not {self.random:g}.")

    @classmethod
    def parse(cls, text: str) -> "BlockPattern":
        """Read `local:4`, `strided:8`, `random:0.25`, or several of these separated by commas.

        Raises:
            InputError: It names no part, an unknown one, one twice, or a number that the part does not take.
        """
        found: dict[str, str] = {}
        for item in filter(None, (item.strip() for item in text.split(","))):
            name, _, number = item.partition(":")
            if name not in PARTS or name in found:
                listed = ", ".join(EXAMPLES)
                raise InputError(f"{item!r} is not another part of a block pattern; write {listed}.")
            found[name] = number
        counts = {name: _number(int, name, found[name]) for name in found if name != "random"}
        return cls(
            local=counts.get("local"),
            global_=counts.get("global"),
            strided=counts.get("strided"),
            random=_number(float, "random", found["random"]) if "random" in found else None,
        )

    @property
    def text(self) -> str:
        """What `parse` reads back as this pattern."""
        numbers = (self.local, self.global_, self.strided, self.random)
        said = zip(PARTS, numbers, strict=True)
        return ",".join(f"{name}:{number}" for name, number in said if number is not None)

    def mask(self, seqlen_q: int, seqlen_k: int, *, block: int = BLOCK, seed: int = 0) -> BlockMask:
        """The block mask of a Nq x Nk score matrix in square blocks; random blocks are drawn from the seed.

        Raises:
            InputError: A block is shorter than 1, or there are too many.
        """
        return _mask(self, seqlen_q, seqlen_k, block, seed if self.random is not None else 0)

    def columns(self, row: int, shape: tuple[int, int]) -> list[range]:
        """The columns that the parts but `random` keep in a row of blocks of a mask of that shape."""
        rows, columns = shape
        diagonal = row + columns - rows
        kept = []
        if self.local is not None:
            kept.append(range(max(0, diagonal - self.local), max(0, min(columns, diagonal + self.local + 1))))
        if self.global_ is not None:
            kept.append(range(columns if row < self.global_ else min(columns, self.global_)))
        if self.strided is not None:
            kept.append(range(diagonal % self.strided, columns, self.strided))
        return kept


@lru_cache(maxsize=64)
def _mask(pattern: BlockPattern, seqlen_q: int, seqlen_k: int, block: int, seed: int) -> BlockMask:
    """Made once: a form asks for the same masks again for every field that is changed."""
    rows, columns = shape = count_blocks(seqlen_q, seqlen_k, block_q=block, block_k=block)
    share = 0.0 if pattern.random is None else pattern.random
    drawn = BlockMask.random(seqlen_q, seqlen_k, block_q=block, block_k=block, kept_share=share, seed=seed)
    kept = bytearray(drawn.kept)
    for row in range(rows):
        for part in pattern.columns(row, shape):
            first = row * columns
            kept[first + part.start : first + part.stop : part.step] = b"\1" * len(part)
    return BlockMask(block_q=block, block_k=block, shape=shape, kept=bytes(kept), pattern=pattern.text)


def _number(read: Callable[[str], N], name: str, text: str) -> N:
    try:
        return read(text)
    except ValueError as error:
        example = next(item for item in EXAMPLES if name in item)
        raise InputError(f"{name} needs a number, as in {example}, not {text!r}.") from error
