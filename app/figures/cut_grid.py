"""Cuts side by side: all values of one number against those that pass by in a tile, and what each takes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from statistics import median
from types import MappingProxyType
from typing import Generic, NamedTuple, Protocol, TypeVar

from msgspec.structs import replace

from flashscope.app.figures.cut_times import RoundTimes
from flashscope.app.words.inside.cuts import cell_tip
from flashscope.app.words.units import bytes_short, digits, share_text, traffic_text
from flashscope.kernels.cuda.design.estimate import Estimate, estimate
from flashscope.kernels.cuda.design.knobs import KNOBS, Knob, inner
from flashscope.kernels.cuda.reading.cards import GpuCard
from flashscope.kernels.workload.cut import CompiledCut, Cut
from flashscope.kernels.workload.problem import Problem

SPILLS = "▾"


class GridCell(Protocol):
    """What a grid needs of a cell."""

    @property
    def cut(self) -> Cut:
        """The cut."""

    @property
    def refused(self) -> tuple[str, ...]:
        """Why it does not run, each in a sentence; none: nothing refuses it."""

    @property
    def mark(self) -> str:
        """What stands in its corner; empty: nothing."""

    @property
    def tip(self) -> str:
        """What it says of its cut, a line each."""


C = TypeVar("C", bound=GridCell)


class CutCell(NamedTuple):
    """One cut of a grid.

    Attributes:
        found: What it takes, by the compiler's registers where it has been compiled.
        compiled: What the compiler made of it; None: it was not asked.
        times: How long it took, on this machine or as it was recorded.
        beside: How long it took in what that is compared with.
    """

    found: Estimate
    compiled: CompiledCut | None = None
    times: RoundTimes = RoundTimes()
    beside: RoundTimes = RoundTimes()

    @property
    def cut(self) -> Cut:
        """The cut."""
        return self.found.cut

    @property
    def refused(self) -> tuple[str, ...]:
        """Why it does not run, each in a sentence; none: nothing refuses it."""
        if self.times.ms:
            return ()
        failure = self.compiled.failure if self.compiled else ""
        return self.found.refused or tuple(filter(None, (failure, self.times.failure)))

    @property
    def by_formula(self) -> tuple[str, ...]:
        """Those of these reasons that are known before anybody tries."""
        return self.found.refused

    @property
    def spills(self) -> bool:
        """Whether registers go to memory: by the compiler, or as the products alone need too many."""
        return self.compiled.spilled > 0 if self.compiled else self.found.held.short

    @property
    def mark(self) -> str:
        """That it spills, or was timed anew."""
        return SPILLS * (self.spills and not self.refused) + self.times.mark

    @property
    def tip(self) -> str:
        """What its cut takes, or why it does not run."""
        told = (f"compared: {one}" for one in self.beside.told)
        return "\n".join((cell_tip(self.found, self.refused, self.compiled), *self.times.told, *told))


@dataclass(frozen=True)
class CutGrid(Generic[C]):
    """Cells by row and column.

    Attributes:
        rows: The number whose values the rows have.
        cells: A row for each of its values, with a cell for each number of keys, or queries, that pass by.
    """

    rows: Knob
    cells: tuple[tuple[C, ...], ...]

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.cells), len(self.cells[0])

    def place_of(self, cut: Cut) -> tuple[int, int] | None:
        """The row and column of a cut, None where it is not among these."""
        places = ((y, x) for y, row in enumerate(self.cells) for x, cell in enumerate(row) if cell.cut == cut)
        return next(places, None)

    def values(self, quantity: "CutQuantity[C]") -> list[list[float | None]]:
        """A quantity of every cell; None where it is refused or not known."""
        return [[None if cell.refused else quantity.of(cell) for cell in row] for row in self.cells]


@dataclass(frozen=True)
class CutQuantity(Generic[C]):
    """What the colours of a grid can stand for.

    Attributes:
        key: Its stable name.
        title: What it is called.
        of: Its value of a cell; None: not known.
        text: A value as it is written in a cell.
        logarithmic: Whether its colours go by ratios.
    """

    key: str
    title: str
    of: Callable[[C], float | None]
    text: Callable[[float], str]
    logarithmic: bool = False

    def share(self, value: float, low: float, high: float) -> float:
        """Where a value stands between the least and the largest, from 0 to 1."""
        if self.logarithmic and low > 0:
            value, low, high = map(log, (value, low, high))
        return (value - low) / ((high - low) or 1.0)


def _registers(cell: CutCell) -> float | None:
    return cell.compiled.registers if cell.compiled else None


def _spilled(cell: CutCell) -> float | None:
    return cell.compiled.spilled if cell.compiled else None


def _runtime(cell: CutCell) -> float | None:
    return median(cell.times.ms) if cell.times.ms else None


def _ratio(cell: CutCell) -> float | None:
    both = cell.times.ms and cell.beside.ms
    return median(cell.times.ms) / median(cell.beside.ms) if both else None


QUANTITIES: Sequence[CutQuantity[CutCell]] = (
    CutQuantity("warps", "warps an SM", lambda one: one.found.occupancy.warps, "{:.0f}".format),
    CutQuantity("shared", "shared memory", lambda one: one.found.shared_bytes, bytes_short),
    CutQuantity("traffic", "L2 traffic", lambda one: one.found.loop_bytes, traffic_text),
    CutQuantity("waves", "waves", lambda one: one.found.waves, digits),
    CutQuantity("last", "last wave full", lambda one: one.found.last_wave, share_text),
    CutQuantity("registers", "registers (compiled)", _registers, "{:.0f}".format),
    CutQuantity("spilled", "bytes spilled (compiled)", _spilled, "{:.0f}".format),
    CutQuantity("runtime", "runtime, ms (measured)", _runtime, digits, True),
    CutQuantity("ratio", "runtime over the compared (measured)", _ratio, digits, True),
)


def row_knobs(cut: Cut) -> Sequence[Knob]:
    """The numbers that the rows of a grid can have."""
    return [knob for knob in KNOBS[cut.kernel] if knob != inner(cut.kernel)]


class Known(NamedTuple):
    """What is known of cuts of a problem beside what follows from formulas.

    Attributes:
        compiled: What the compiler made of those it was asked for.
        times: How long those took that were timed.
        beside: How long those took in what that is compared with.
    """

    compiled: Mapping[Cut, CompiledCut] = MappingProxyType({})
    times: Mapping[Cut, RoundTimes] = MappingProxyType({})
    beside: Mapping[Cut, RoundTimes] = MappingProxyType({})


def cut_grid(cut: Cut, rows: Knob, problem: Problem, card: GpuCard, known: Known) -> CutGrid[CutCell]:
    """All cuts that differ from one in what passes by, keys or queries, and in another number.

    Args:
        cut: What they have in common.
        rows: The other number.
        problem: What they compute.
        card: The GPU.
        known: What is known of some of them.
    """
    passing = inner(cut.kernel)
    return CutGrid(
        rows,
        tuple(
            tuple(
                cell_of(replace(cut, **{rows.name: value, passing.name: other}), problem, card, known)
                for other in passing.values
            )
            for value in rows.values
        ),
    )


def cell_of(cut: Cut, problem: Problem, card: GpuCard, known: Known) -> CutCell:
    """One cut, by the compiler's registers where it was compiled."""
    found = known.compiled.get(cut)
    registers = found.registers if found and not found.failure else None
    times, beside = (of.get(cut, RoundTimes()) for of in (known.times, known.beside))
    return CutCell(estimate(cut, problem, card, registers), found, times, beside)
