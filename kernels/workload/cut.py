"""A cut: how blocks of flash2 or flash3 are made, in numbers that can be varied, and its compiled form."""

from typing import Literal

import msgspec

CutKernel = Literal["flash2", "flash3", "flash2 backward", "flash3 backward", "numpy"]
"""Passes of two kernels in CUDA, and flash2 in NumPy: there `groups` are the query rows of a tile."""
CUT_KERNELS: tuple[CutKernel, ...] = ("flash2", "flash3", "flash2 backward", "flash3 backward")  # in CUDA
BACKWARD = " backward"
ROWS: dict[CutKernel, int] = {
    "flash2": 16,
    "flash3": 64,
    "flash2 backward": 16,
    "flash3 backward": 64,
    "numpy": 1,
}
"""Rows of a fragment of mma.sync, of a warpgroup; of NumPy each one. Backward passes have keys as rows."""


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of a cut; those that a kernel has no use for keep their defaults.

    A block of a forward pass owns queries, and the keys pass by in tiles; one of a backward pass owns keys,
    and the queries pass by.

    Attributes:
        kernel: Whose blocks.
        groups: What the rows that a block owns are shared out to: warps of flash2, of its backward pass
            groups of `columns` warps; consumer warpgroups of flash3, of its backward pass always two; in
            NumPy the rows themselves.
        subtiles: Of flash2: fragments of 16 of those rows in a warp, or in a group of warps.
        block_k: Of forward passes: keys of a tile that pass by.
        stages: Of flash3: tiles of K, and of V, in shared memory; flash2 has two, of its backward pass one.
        q_stages: Of flash3's forward pass: tiles of Q in shared memory.
        residents: Blocks that are to share the registers of an SM.
        columns: Of flash2's backward pass: warps of a group, each with a part of the columns of dK and dV.
        queries: Of backward passes: queries of a tile that pass by.
    """

    kernel: CutKernel
    groups: int
    subtiles: int = 1
    block_k: int = 64
    stages: int = 2
    q_stages: int = 1
    residents: int = 1
    columns: int = 1
    queries: int = 64

    @property
    def backward(self) -> bool:
        """Whether a block owns keys."""
        return self.kernel.endswith(BACKWARD)

    @property
    def spec(self) -> str:
        """The kernel's name in the catalogue, whatever the pass."""
        return "flash2" if self.kernel == "numpy" else self.kernel.removesuffix(BACKWARD)

    @property
    def source(self) -> str:
        """The key of its source among the digests of `kernels.catalogue.sources`."""
        return self.spec if self.kernel == "numpy" else self.kernel

    @property
    def block_q(self) -> int:
        """Query rows of a tile, Br."""
        return self.queries if self.backward else self._owned

    @property
    def keys(self) -> int:
        """Keys of a tile, Bc."""
        return self._owned if self.backward else self.block_k

    @property
    def _owned(self) -> int:
        return self.groups * self.subtiles * ROWS[self.kernel]


class CompiledCut(msgspec.Struct, frozen=True, kw_only=True):
    """What the compiler makes of a cut.

    Attributes:
        cut: The cut.
        registers: Registers of a thread at launch.
        spilled: Bytes that a thread writes to memory for want of registers.
        stack: Bytes of a thread's stack.
        static_bytes: Shared memory of a block besides what it asks for at launch.
        notes: What else is to be known of it, each in a sentence.
        failure: Why there is no machine code, in a sentence; empty: there is.
        log: All that the compiler said.
    """

    cut: Cut
    registers: int = 0
    spilled: int = 0
    stack: int = 0
    static_bytes: int = 0
    notes: tuple[str, ...] = ()
    failure: str = ""
    log: str = ""
