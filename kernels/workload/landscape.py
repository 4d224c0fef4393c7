"""A landscape: cuts of one kernel side by side, how long each took on a device, and why others do not run."""

import msgspec

from flashscope.kernels.workload.cut import Cut, CutKernel
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Problem

MOST_CUTS = 4_096
MOST_ROUNDS = 1_000


class CutOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """One cut of a landscape.

    Attributes:
        cut: The cut.
        refused: Why it has no times, each reason in a sentence; none: it has.
        registers: Of a thread, as the compiler told them; None: it was not asked.
        spilled: Bytes that a thread writes to memory for want of registers; None: the same.
        first_ms: A time for each of the first rounds that counts, of all cuts in turns.
        anew_ms: A time for each fresh round that counts, of the fastest and the shipped cut; none: not one of
            these.
    """

    cut: Cut
    refused: tuple[str, ...] = ()
    registers: int | None = None
    spilled: int | None = None
    first_ms: tuple[float, ...] = ()
    anew_ms: tuple[float, ...] = ()


class CutLandscape(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a grid of cuts.

    Attributes:
        problem: What they compute.
        rows: The number of a cut that differs between rows; columns differ in what passes by.
        device: What ran them.
        timer: What timed them, in words.
        build: The digest of the kernel's source, as `kernels.catalogue.sources` has it.
        shipped: The cut that the kernel took for the problem then; it is among the cells.
        cells: The cuts, row by row, and the shipped one where it is none of these.
    """

    problem: Problem
    rows: str
    device: Device
    timer: str
    build: str
    shipped: Cut
    cells: tuple[CutOutcome, ...]

    @property
    def kernel(self) -> CutKernel:
        """Whose cuts they are."""
        return self.shipped.kernel

    @property
    def timed(self) -> int:
        """How many cuts have times."""
        return sum(bool(cell.first_ms) for cell in self.cells)

    @property
    def by_cut(self) -> dict[Cut, CutOutcome]:
        """The cells by their cuts."""
        return {cell.cut: cell for cell in self.cells}
