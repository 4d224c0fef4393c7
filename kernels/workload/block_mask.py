"""A block mask: which blocks of the score matrix are kept at all."""

import random
from math import ceil, log
from typing import Any

import msgspec

from flashscope.kernels.workload.errors import InputError

KEPT, DROPPED = b"\1", b"\0"
SAMPLE_SET, SAMPLE_FEW = 21, 5  # of the algorithm of random.sample
MOST_BLOCKS = 1 << 24  # of a mask that is made here: 512k tokens in blocks of 128


class BlockMask(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Kept blocks of the score matrix, the same for all heads.

    Block (i, j) holds the pairs of queries i * block_q <= q < (i + 1) * block_q with keys
    j * block_k <= k < (j + 1) * block_k.

    Attributes:
        block_q: Query rows of a block; the last block may be cut off by the sequence's end.
        block_k: Keys of a block; the last block may be cut off by the sequence's end.
        shape: Number of query blocks and of key blocks: ceil(Nq / block_q), ceil(Nk / block_k).
        kept: One byte a block, row-major: 1 is kept, 0 is dropped.
        pattern: The BlockPattern it was made from, as text; empty: it was made otherwise.
    """

    block_q: int
    block_k: int
    shape: tuple[int, int]
    kept: bytes
    pattern: str = ""

    def __post_init__(self) -> None:
        if self.block_q < 1 or self.block_k < 1:
            raise InputError(
                f"The blocks of a block mask must be at least 1 long, not {self.block_q} x {self.block_k}."
            )
        rows, columns = self.shape
        if rows < 1 or columns < 1 or len(self.kept) != rows * columns:
            raise InputError(
                f"A block mask of {rows} x {columns} blocks needs one byte for each, not {len(self.kept)}."
            )
        if self.kept.translate(None, KEPT + DROPPED):
            raise InputError("The bytes of a block mask must be 1 (kept) or 0 (dropped).")

    @classmethod
    def of(cls, kept: Any, block_q: int, block_k: int) -> "BlockMask":
        """From a boolean array (query blocks, key blocks) in host memory, or nested lists of booleans.

        Raises:
            InputError: It is not boolean, has not two axes, or a block is shorter than 1.
        """
        import numpy as np  # noqa: PLC0415 - the messages stay importable in milliseconds

        array = np.ascontiguousarray(kept)
        if array.dtype != np.bool_ or array.ndim != 2:  # noqa: PLR2004 - query blocks, key blocks
            raise InputError(
                "A block mask is made from a boolean array with two axes (query blocks, key blocks), not "
                f"{array.dtype} of shape {array.shape}."
            )
        rows, columns = array.shape
        return cls(block_q=block_q, block_k=block_k, shape=(rows, columns), kept=array.tobytes())

    @classmethod
    def random(
        cls, seqlen_q: int, seqlen_k: int, *, block_q: int, block_k: int, kept_share: float, seed: int = 0
    ) -> "BlockMask":
        """Keep round(kept_share * blocks) blocks of a Nq x Nk score matrix, drawn from the seed.

        Raises:
            InputError: The share is not between 0 and 1, a block is shorter than 1, or there are too many.
        """
        if not 0 <= kept_share <= 1:
            raise InputError(f"The kept share must be between 0 and 1, not {kept_share}.")
        rows, columns = count_blocks(seqlen_q, seqlen_k, block_q=block_q, block_k=block_k)
        count = rows * columns
        kept = _drawn(count, round(kept_share * count), seed)
        return cls(block_q=block_q, block_k=block_k, shape=(rows, columns), kept=kept)

    def array(self) -> Any:
        """The blocks as a NumPy array, bool (query blocks, key blocks), read-only."""
        import numpy as np  # noqa: PLC0415 - the messages stay importable in milliseconds

        return np.frombuffer(self.kept, np.bool_).reshape(self.shape)

    def keeps(self, i: int, j: int) -> bool:
        """Whether block (i, j) is kept."""
        return self.kept[i * self.shape[1] + j] == 1

    @property
    def words(self) -> str:
        """The mask's pattern and its blocks, for titles."""
        block = f"{self.block_q}" if self.block_q == self.block_k else f"{self.block_q} x {self.block_k}"
        return f"{self.pattern or 'block mask'} in blocks of {block}"

    def check_fits(self, seqlen_q: int, seqlen_k: int) -> None:
        """Refuse sequences that are not cut into this number of blocks.

        Raises:
            InputError: The shape is that of other lengths; the text has both.
        """
        needed = -(-seqlen_q // self.block_q), -(-seqlen_k // self.block_k)
        if self.shape != needed:
            raise InputError(
                f"Sequences of {seqlen_q} queries and {seqlen_k} keys in blocks of {self.block_q} x "
                f"{self.block_k} need a block mask of {needed[0]} x {needed[1]} blocks, not "
                f"{self.shape[0]} x {self.shape[1]}."
            )


def _drawn(count: int, chosen: int, seed: int) -> bytes:
    """One byte for each of `count`, 1 for those that random.Random(seed).sample(range(count), chosen) draws.

    The same algorithm on plain memory: sample makes lists and sets of millions of numbers, and another thread
    waits for each of them.
    """
    import numpy as np  # noqa: PLC0415 - the messages stay importable in milliseconds

    below = random.Random(seed).randrange  # noqa: S311 - a pattern, not a secret
    kept = bytearray(count)
    most_by_trial = SAMPLE_SET + (4 ** ceil(log(chosen * 3, 4)) if chosen > SAMPLE_FEW else 0)
    if count <= most_by_trial:
        pool = memoryview(np.arange(count, dtype=np.uint32).data)
        for last in range(count - 1, count - 1 - chosen, -1):
            place = below(last + 1)
            kept[pool[place]] = 1
            pool[place] = pool[last]
        return bytes(kept)
    for _ in range(chosen):
        place = below(count)
        while kept[place]:
            place = below(count)
        kept[place] = 1
    return bytes(kept)


def count_blocks(seqlen_q: int, seqlen_k: int, *, block_q: int, block_k: int) -> tuple[int, int]:
    """Query blocks and key blocks of a Nq x Nk score matrix.

    Raises:
        InputError: A block is shorter than 1, or there are more than a mask of a size to work with has.
    """
    if block_q < 1 or block_k < 1:
        raise InputError(f"The blocks of a block mask must be at least 1 long, not {block_q} x {block_k}.")
    rows, columns = -(-seqlen_q // block_q), -(-seqlen_k // block_k)
    if rows * columns > MOST_BLOCKS:
        raise InputError(
            f"Blocks of {block_q} x {block_k} cut {seqlen_q} queries and {seqlen_k} keys into more than "
            f"{MOST_BLOCKS} blocks; take longer ones."
        )
    return rows, columns
