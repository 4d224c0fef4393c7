"""What one multiprocessor of a GPU has for the blocks of a kernel, by compute capability."""

from typing import NamedTuple

from flashscope.kernels.cuda.program import HOPPER, KIB, SHARED_MEMORY_LIMITS
from flashscope.kernels.cuda.reading.cards import GpuCard

SOURCE = "CUDA C++ Programming Guide, technical specifications per compute capability"
THREADS_OF_BLOCK, REGISTERS_OF_THREAD = 1024, 255
REGISTERS = 65536  # of a multiprocessor, and so of a block at most
TURING = (7, 5)


class SmLimits(NamedTuple):
    """The limits of one multiprocessor (`SOURCE`).

    Attributes:
        warps: Warps at once.
        blocks: Blocks at once.
        shared_bytes: Shared memory of all blocks, what is reserved among it.
        block_bytes: Shared memory that one block may have.
        reserved_bytes: Shared memory that the driver takes besides for each block.
        shared_unit: Bytes that shared memory is given out in.
    """

    warps: int
    blocks: int
    shared_bytes: int
    block_bytes: int
    reserved_bytes: int = KIB
    shared_unit: int = 128


def _limits(warps: int, blocks: int, capability: tuple[int, int]) -> SmLimits:
    """From Ampere on an SM has as much as one block may have, and the driver's part."""
    block_bytes = SHARED_MEMORY_LIMITS[capability]
    return SmLimits(warps, blocks, block_bytes + KIB, block_bytes)


SM_LIMITS: dict[tuple[int, int], SmLimits] = {
    TURING: SmLimits(32, 16, 64 * KIB, SHARED_MEMORY_LIMITS[TURING], reserved_bytes=0, shared_unit=256),
    (8, 0): _limits(64, 32, (8, 0)),
    (8, 6): _limits(48, 16, (8, 6)),
    (8, 9): _limits(48, 24, (8, 9)),
    HOPPER: _limits(64, 32, HOPPER),
    (10, 0): _limits(64, 32, (10, 0)),
    (12, 0): _limits(48, 24, (12, 0)),
}


def limits_of(card: GpuCard) -> SmLimits:
    """What one SM of a card has."""
    return SM_LIMITS[card.compute_capability]
