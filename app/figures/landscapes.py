"""From a grid of cuts to what is timed of it, and from a landscape back to what is known of its cuts."""

from collections.abc import Iterable

from flashscope.app.figures.cut_grid import CutCell, CutGrid, Known, cut_grid
from flashscope.app.figures.cut_times import RoundTimes
from flashscope.app.figures.tile_grid import SHIPPED, TileCell, tile_grid
from flashscope.kernels.cuda.design.cut import shipped
from flashscope.kernels.cuda.design.knobs import KNOBS, Knob, inner
from flashscope.kernels.cuda.reading.cards import GpuCard
from flashscope.kernels.workload.cut import CompiledCut, Cut, CutKernel
from flashscope.kernels.workload.landscape import CutLandscape, CutOutcome
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.model.landscape_made import LandscapeMaker
from flashscope.profiles.wire.cuts import CutsToTime, CutTimes


def knob_of(kernel: CutKernel, name: str) -> Knob:
    """A number of a kernel's cuts by its name."""
    return next(knob for knob in KNOBS[kernel] if knob.name == name)


def row_names(kernel: CutKernel) -> list[str]:
    """The numbers that rows of a landscape can differ in: all but that of the columns."""
    return [knob.name for knob in KNOBS[kernel] if knob != inner(kernel)]


def maker_on(card: GpuCard, kernel: CutKernel, problem: Problem, rows: Knob) -> LandscapeMaker:
    """What is to be timed of the cuts around the shipped one on a GPU, and why others are not."""
    own = shipped(kernel, problem, card.target)
    return maker_of(cut_grid(own, rows, problem, card, Known()), problem, own)


def maker_of(grid: CutGrid[CutCell] | CutGrid[TileCell], problem: Problem, own: Cut) -> LandscapeMaker:
    """What is to be timed of a grid, the shipped cut among it; what was tried before counts not."""
    cells: Iterable[CutCell | TileCell] = (cell for row in grid.cells for cell in row)
    reasons = {cell.cut: cell.by_formula for cell in cells}
    cuts = dict.fromkeys((*(cut for cut, why in reasons.items() if not why), own))
    asked = CutsToTime(
        problem=problem,
        backend="cpu" if own.kernel == "numpy" else "cuda",
        cuts=tuple(cuts),
        shipped=own,
    )
    refused = {cut: why for cut, why in reasons.items() if why and cut != own}
    return LandscapeMaker(asked, grid.rows.name, refused)


def maker_in_numpy(problem: Problem) -> LandscapeMaker:
    """The tiles of flash2 in NumPy."""
    return maker_of(tile_grid(problem, {}), problem, SHIPPED)


def known_of(landscape: CutLandscape) -> Known:
    """What a landscape knows of its cuts, as the grid takes it."""
    return Known(
        {cell.cut: _compiled(cell) for cell in landscape.cells if cell.registers is not None},
        {cell.cut: _times(cell) for cell in landscape.cells if cell.first_ms or cell.refused},
    )


def _compiled(cell: CutOutcome) -> CompiledCut:
    return CompiledCut(cut=cell.cut, registers=cell.registers or 0, spilled=cell.spilled or 0)


def _times(cell: CutOutcome) -> RoundTimes:
    failure = "" if cell.first_ms else " ".join(cell.refused)
    first = CutTimes(cut=cell.cut, ms=cell.first_ms, failure=failure)
    return RoundTimes(first, CutTimes(cut=cell.cut, ms=cell.anew_ms, anew=True) if cell.anew_ms else None)
