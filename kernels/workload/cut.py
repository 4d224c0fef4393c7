"""A cut: how blocks of flash2 or flash3 are made, in numbers that can be varied, and its compiled form."""

from typing import Literal

import msgspec

CutKernel = Literal["flash2", "flash3", "numpy"]
"""Two in CUDA, and flash2 in NumPy: of that a tile has as many query rows as `groups` says."""
CUT_KERNELS: tuple[CutKernel, ...] = ("flash2", "flash3")  # in CUDA
ROWS: dict[CutKernel, int] = {"flash2": 16, "flash3": 64, "numpy": 1}
"""Query rows of a fragment of mma.sync, of a warpgroup; of NumPy each one."""


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of a cut; those that a kernel has no use for keep their defaults.

    Attributes:
        kernel: Whose blocks.
        groups: What the rows of a tile are shared out to: warps of flash2, consumer warpgroups of flash3; in
            NumPy the rows themselves.
        subtiles: Of flash2: fragments of 16 query rows in a warp.
        block_k: Keys of a tile, Bc.
        stages: Of flash3: tiles of K, and of V, in shared memory; flash2 has two.
        q_stages: Of flash3: tiles of Q in shared memory.
        residents: Blocks that are to share the registers of an SM.
    """

    kernel: CutKernel
    groups: int
    subtiles: int = 1
    block_k: int = 64
    stages: int = 2
    q_stages: int = 1
    residents: int = 1

    @property
    def block_q(self) -> int:
        """Query rows of a tile, Br."""
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
