"""How full a multiprocessor is of blocks of a cut: shared memory, registers and warps as bars of blocks."""

from typing import NamedTuple

from flashscope.kernels.cuda.design.estimate import Estimate, Part
from flashscope.kernels.cuda.design.limits import REGISTERS, limits_of
from flashscope.kernels.cuda.design.occupancy import WARP, Demand, SmLimit, registers_of_block
from flashscope.kernels.cuda.design.refusals import kib_text
from flashscope.kernels.cuda.program import ceil_div
from flashscope.kernels.cuda.reading.cards import GpuCard

RESERVED = "reserved"


class SmBar(NamedTuple):
    """What an SM has of one thing, and what blocks take of it.

    Attributes:
        limit: What it is a limit of.
        capacity: As much as there is.
        block: What one block takes, part by part, in the unit of the bar.
        blocks: Blocks that are there at once; 0: not one fits.
        fits: Whether there is enough of this for one block.
        told: How much is taken of how much, in words.
        binds: Whether it lets in no more.
    """

    limit: SmLimit
    capacity: int
    block: tuple[Part, ...]
    blocks: int
    fits: bool
    told: str
    binds: bool

    @property
    def of_block(self) -> int:
        """What one block takes."""
        return sum(part.size for part in self.block)

    @property
    def drawn(self) -> int:
        """Blocks that are drawn: one that does not fit, too."""
        return max(1, self.blocks)

    @property
    def length(self) -> int:
        """All that the bar has to show: what there is, or what is asked for where that is more."""
        return max(self.capacity, self.drawn * self.of_block)


def sm_bars(found: Estimate, card: GpuCard) -> tuple[SmBar, ...]:
    """The bars of a cut on a card."""
    limits = limits_of(card)
    reserved = (Part(RESERVED, limits.reserved_bytes),) if limits.reserved_bytes else ()
    registers = registers_of_block(Demand(found.threads, found.registers, 0))
    warps = ceil_div(found.threads, WARP)
    return (
        _bar(found, SmLimit.SHARED, limits.shared_bytes, (*found.parts, *reserved)),
        _bar(found, SmLimit.REGISTERS, REGISTERS, (Part("registers", registers),)),
        _bar(found, SmLimit.WARPS, limits.warps, (Part("warps", warps),)),
    )


def bars_sentence(bars: tuple[SmBar, ...]) -> str:
    """The bars in words, for screen readers."""
    return "; ".join(f"{bar.limit.value}: {bar_words(bar)}" for bar in bars)


def bar_words(bar: SmBar) -> str:
    """How much of a bar is taken, and whether it binds."""
    if not bar.fits:
        return f"{bar.told} · does not fit"
    return f"{bar.told} · binds" if bar.binds else bar.told


def _bar(found: Estimate, limit: SmLimit, capacity: int, block: tuple[Part, ...]) -> SmBar:
    filled = found.occupancy
    blocks, of_block = filled.blocks, sum(part.size for part in block)
    taken = max(1, blocks) * of_block
    write = kib_text if limit is SmLimit.SHARED else "{:,}".format
    told = f"{write(taken)} of {write(capacity)}"
    fits = filled.by_limit[limit] > 0
    return SmBar(limit, capacity, block, blocks, fits, told, blocks > 0 and limit in filled.binding)
