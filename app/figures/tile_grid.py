"""Tiles of flash2 in NumPy side by side: what they hold, and how long they took."""

from collections.abc import Mapping
from statistics import median
from typing import NamedTuple

from flashscope.app.figures.cut_grid import CutGrid, CutQuantity
from flashscope.app.figures.cut_times import RoundTimes
from flashscope.app.words.inside.cuts import tile_words
from flashscope.app.words.units import bytes_short, bytes_text, digits
from flashscope.kernels.catalogue.workspace import CPU_BLOCK_K, CPU_BLOCK_Q, flash2_in_tiles
from flashscope.kernels.cuda.design.knobs import KNOBS
from flashscope.kernels.workload.cut import Cut
from flashscope.kernels.workload.problem import Problem

SHIPPED = Cut(kernel="numpy", groups=CPU_BLOCK_Q, block_k=CPU_BLOCK_K)


class TileCell(NamedTuple):
    """One tile of a grid.

    Attributes:
        cut: Its rows and keys.
        nbytes: Bytes of all that one tile holds: scores, O of its rows and their sums.
        refused: Why it does not run, in a sentence.
        times: How long it took.
    """

    cut: Cut
    nbytes: int
    refused: tuple[str, ...]
    times: RoundTimes

    @property
    def by_formula(self) -> tuple[str, ...]:
        """Those of these reasons that are known before anybody tries."""
        return () if self.times.failure else self.refused

    @property
    def mark(self) -> str:
        """That it was measured anew."""
        return self.times.mark

    @property
    def tip(self) -> str:
        """What it holds and how long it took, or why it does not run."""
        title = tile_words(self.cut)
        if self.refused:
            return "\n".join((title, *self.refused))
        return "\n".join((f"{title}: a tile holds {bytes_text(self.nbytes)}", *self.times.told))


RUNTIME = CutQuantity[TileCell](
    "runtime", "runtime", lambda one: median(one.times.ms) if one.times.ms else None, digits, True
)
HELD = CutQuantity[TileCell]("held", "held by a tile", lambda one: one.nbytes, bytes_short, True)


def tile_grid(problem: Problem, times: Mapping[Cut, RoundTimes]) -> CutGrid[TileCell]:
    """All tiles that can be chosen."""
    rows, keys = KNOBS["numpy"]
    return CutGrid(
        rows,
        tuple(
            tuple(
                tile_cell(Cut(kernel="numpy", groups=block_q, block_k=block_k), problem, times)
                for block_k in keys.values
            )
            for block_q in rows.values
        ),
    )


def tile_cell(cut: Cut, problem: Problem, times: Mapping[Cut, RoundTimes]) -> TileCell:
    """One tile."""
    nbytes = sum(buffer.nbytes for buffer in flash2_in_tiles(problem, cut.block_q, cut.block_k))
    of_cut = times.get(cut, RoundTimes())
    refused = () if of_cut.ms else (*_too_large(cut, problem), *filter(None, (of_cut.failure,)))
    return TileCell(cut, nbytes, refused, of_cut)


def left(grid: CutGrid[TileCell]) -> list[Cut]:
    """Those that nothing refuses."""
    return [cell.cut for row in grid.cells for cell in row if not cell.refused]


def _too_large(cut: Cut, problem: Problem) -> tuple[str, ...]:
    """A tile of more rows or keys than there are is one that stands elsewhere in the grid."""
    found = []
    for what, size, there in (
        ("query rows", cut.block_q, problem.seqlen_q),
        ("keys", cut.block_k, problem.seqlen_k),
    ):
        if size > there:
            found.append(f"There are {there:,} {what}: a tile of {size:,} would be one of {there:,}.")
    return tuple(found)
