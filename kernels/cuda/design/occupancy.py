"""How many blocks of a kernel share a multiprocessor, and which limit allows no more.

The rules are those of NVIDIA's occupancy calculator (`cuda_occupancy.h` of the CUDA toolkit), for GPUs from
compute capability 7.5 on.
"""

from enum import Enum
from typing import NamedTuple

from flashscope.kernels.cuda.design.limits import REGISTERS, REGISTERS_OF_THREAD, THREADS_OF_BLOCK, SmLimits
from flashscope.kernels.cuda.program import ceil_div, round_up

WARP = 32
QUARTERS = 4  # of an SM, each with its own registers and warps
REGISTER_UNIT = 256  # registers are given to a warp in


class SmLimit(Enum):
    """What can allow no more blocks; the value is its name in words."""

    REGISTERS = "registers"
    SHARED = "shared memory"
    WARPS = "warps"
    BLOCKS = "blocks"


class Demand(NamedTuple):
    """What one block of a kernel takes.

    Attributes:
        threads: Threads of a block.
        registers: Registers of a thread.
        shared_bytes: Shared memory of a block, static and dynamic.
    """

    threads: int
    registers: int
    shared_bytes: int


class Occupancy(NamedTuple):
    """How a multiprocessor is filled.

    Attributes:
        by_limit: As many blocks as each limit allows.
        warps: Warps that are there at once.
        most_warps: Warps that there could be.
    """

    by_limit: dict[SmLimit, int]
    warps: int
    most_warps: int

    @property
    def blocks(self) -> int:
        """Blocks at once; 0: the kernel cannot be launched."""
        return min(self.by_limit.values())

    @property
    def binding(self) -> tuple[SmLimit, ...]:
        """The limits that allow no more."""
        return tuple(limit for limit, blocks in self.by_limit.items() if blocks == self.blocks)

    @property
    def share(self) -> float:
        """Of the warps that there could be, from 0 to 1."""
        return self.warps / self.most_warps


def occupancy(demand: Demand, limits: SmLimits) -> Occupancy:
    """What an SM holds of a kernel's blocks at once."""
    warps = ceil_div(demand.threads, WARP)
    allowed = {
        SmLimit.REGISTERS: _by_registers(demand.registers, warps),
        SmLimit.SHARED: _by_shared(demand.shared_bytes, limits),
        SmLimit.WARPS: limits.warps // warps if demand.threads <= THREADS_OF_BLOCK else 0,
        SmLimit.BLOCKS: limits.blocks,
    }
    return Occupancy(allowed, warps * min(allowed.values()), limits.warps)


def register_budget(threads: int, residents: int) -> int:
    """Registers that the compiler may give a thread so that so many blocks share an SM."""
    return min(REGISTERS_OF_THREAD, REGISTERS // (residents * round_up(threads, WARP)) // 8 * 8)


def registers_of_block(demand: Demand) -> int:
    """Registers that a block is given, in whole units."""
    return ceil_div(demand.threads, WARP) * round_up(demand.registers * WARP, REGISTER_UNIT)


def _by_registers(registers: int, warps: int) -> int:
    """Each warp has its own in one quarter of the SM; a block is looked at as if it filled all quarters."""
    of_warp = round_up(registers * WARP, REGISTER_UNIT)
    if registers > REGISTERS_OF_THREAD or of_warp * round_up(warps, QUARTERS) > REGISTERS:
        return 0
    return REGISTERS // QUARTERS // of_warp * QUARTERS // warps


def _by_shared(shared_bytes: int, limits: SmLimits) -> int:
    taken = round_up(shared_bytes + limits.reserved_bytes, limits.shared_unit)
    if taken > limits.block_bytes + limits.reserved_bytes:
        return 0
    return limits.shared_bytes // taken if taken else limits.blocks
