"""Tiles of flash2 in NumPy side by side: what they hold, and how long they took."""

from collections.abc import Mapping, Sequence
from statistics import median, quantiles
from typing import NamedTuple

from flashscope.app.figures.cut_grid import CutGrid, CutQuantity
from flashscope.app.words.units import bytes_short, bytes_text, digits, ms_text
from flashscope.kernels.catalogue.workspace import CPU_BLOCK_K, CPU_BLOCK_Q, flash2_in_tiles
from flashscope.kernels.cuda.design.cut import KNOBS
from flashscope.kernels.workload.cut import Cut
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.wire.cuts import CutTimes

SHIPPED = Cut(kernel="numpy", groups=CPU_BLOCK_Q, block_k=CPU_BLOCK_K)
ANEW = "◆"
QUARTERS = 4


class TileTimes(NamedTuple):
    """How long a tile took: in the first rounds, and in fresh ones if it was among the fastest."""

    first: CutTimes | None = None
    anew: CutTimes | None = None

    @property
    def ms(self) -> tuple[float, ...]:
        """The times that count: of fresh rounds where there are any."""
        for timed in (self.anew, self.first):
            if timed is not None and timed.ms:
                return timed.ms
        return ()

    def with_one(self, timed: CutTimes) -> "TileTimes":
        """The same with what was told."""
        return self._replace(anew=timed) if timed.anew else TileTimes(timed)


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
    times: TileTimes

    @property
    def mark(self) -> str:
        """That it was measured anew."""
        return ANEW if self.times.anew else ""

    @property
    def tip(self) -> str:
        """What it holds and how long it took, or why it does not run."""
        title = f"{self.cut.block_q} × {self.cut.block_k}"
        if self.refused:
            return "\n".join((title, *self.refused))
        return "\n".join((f"{title}: a tile holds {bytes_text(self.nbytes)}", *self._told()))

    def _told(self) -> Sequence[str]:
        first, anew = self.times
        parts = (("in the first rounds", first), ("in fresh rounds", anew))
        return [f"{time_words(timed.ms)} {where}" for where, timed in parts if timed and timed.ms]


RUNTIME = CutQuantity[TileCell](
    "runtime", "runtime", lambda one: median(one.times.ms) if one.times.ms else None, digits, True
)
HELD = CutQuantity[TileCell]("held", "held by a tile", lambda one: one.nbytes, bytes_short, True)


def tile_grid(problem: Problem, times: Mapping[Cut, TileTimes]) -> CutGrid[TileCell]:
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


def tile_cell(cut: Cut, problem: Problem, times: Mapping[Cut, TileTimes]) -> TileCell:
    """One tile."""
    nbytes = sum(buffer.nbytes for buffer in flash2_in_tiles(problem, cut.block_q, cut.block_k))
    of_cut = times.get(cut, TileTimes())
    failure = of_cut.first.failure if of_cut.first else ""
    return TileCell(cut, nbytes, (*_too_large(cut, problem), *filter(None, (failure,))), of_cut)


def left(grid: CutGrid[TileCell]) -> list[Cut]:
    """Those that nothing refuses."""
    return [cell.cut for row in grid.cells for cell in row if not cell.refused]


def finalists(times: Mapping[Cut, TileTimes]) -> list[tuple[Cut, tuple[float, ...]]]:
    """Those that were timed anew with these times, the fastest first."""
    anew = [(cut, one.anew.ms) for cut, one in times.items() if one.anew and one.anew.ms]
    return sorted(anew, key=lambda pair: median(pair[1]))


def time_words(ms: Sequence[float]) -> str:
    """A median with its quartiles: `6.53 ms (6.50 to 6.61)`."""
    low, high = quartiles(ms)
    return f"{ms_text(median(ms))} ({digits(low)} to {digits(high)})"


def quartiles(ms: Sequence[float]) -> tuple[float, float]:
    """The lower and the upper one; of one time itself."""
    if len(ms) == 1:
        return ms[0], ms[0]
    cuts = quantiles(ms, n=QUARTERS, method="inclusive")
    return cuts[0], cuts[-1]


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


def verdict(times: Mapping[Cut, TileTimes]) -> str:
    """Which tile is fastest on fresh rounds, and by how much; empty: none was timed anew."""
    ranked = finalists(times)
    if not ranked:
        return ""
    best, best_ms = ranked[0]
    told = f"Fastest on fresh rounds: {best.block_q} × {best.block_k}, {time_words(best_ms)}"
    own = times.get(SHIPPED, TileTimes())
    if best == SHIPPED or own.anew is None or not own.anew.ms:
        return f"{told}{', the shipped tile' if best == SHIPPED else ''}."
    shipped = f"the shipped {SHIPPED.block_q} × {SHIPPED.block_k}"
    if quartiles(own.anew.ms)[0] <= quartiles(best_ms)[1]:
        return f"{told}; too little to tell it from {shipped}, {time_words(own.anew.ms)}."
    ratio = median(own.anew.ms) / median(best_ms)
    return f"{told}; {shipped} takes {digits(ratio)}× as long, {time_words(own.anew.ms)}."
