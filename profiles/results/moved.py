"""The bytes that a point's run moves, by formula and by the best source there is: hardware counters first."""

from functools import lru_cache
from typing import NamedTuple

from kernels.problem import Problem
from kernels.registry import KERNELS
from profiles.results.rows import PointRow
from profiles.results.theory import TILES, compulsory_dram_bytes, tile_io_bytes, tiles_of
from profiles.wire.measurement import Figure

COUNTERS, FORMULA = "by counters", "by formula"
KNOWN = frozenset(spec.name for spec in KERNELS)
MOST_TILES = 20_000  # with a block mask, where each is looked at
TOO_MANY_TILES = "the tiles that this block mask keeps are too many to be counted here"
ONCE = "inputs and outputs once; S and P written, and read as far as the cache has lost them"

_tile_io_bytes = lru_cache(1024)(tile_io_bytes)  # a table asks again and again
_compulsory_dram_bytes = lru_cache(1024)(compulsory_dram_bytes)


class Moved(NamedTuple):
    """Bytes of one run.

    Attributes:
        nbytes: How many.
        counted: Whether hardware counted them; else a formula says what they are.
    """

    nbytes: float
    counted: bool

    @property
    def source(self) -> str:
        """Where they come from, in words."""
        return COUNTERS if self.counted else FORMULA


def tile_io(row: PointRow) -> Figure:
    """What its loops move between the cache and whoever computes a tile, by formula."""
    missing = _without_formula(row)
    moved = None if missing else _tile_io_bytes(row.kernel, row.problem, row.backend)
    if moved is None:
        return Figure(missing=missing or f"there is no formula for {row.kernel}, whose loops are a library's")
    rows, keys = tiles_of(row.kernel, row.problem, row.backend)
    return Figure(value=moved, source=f"loads and stores of the algorithm's loops, tiles of {rows} × {keys}")


def compulsory(row: PointRow) -> Figure:
    """What must cross the bus of the memory, by formula."""
    missing = _without_formula(row)
    if row.cache_bytes is None:
        missing = missing or "the size of the device's cache is not known"
    if missing:
        return Figure(missing=missing)
    moved = _compulsory_dram_bytes(row.kernel, row.problem, row.backend, row.cache_bytes or 0)
    return Figure(value=moved, source=ONCE)


def dram_bytes(row: PointRow) -> Moved | None:
    """Bytes between memory and the last cache before it; None for a kernel that is not known here."""
    read, written = (_counted(row, key) for key in ("dram_read_bytes", "dram_write_bytes"))
    if read is not None and written is not None:
        return Moved(read + written, counted=True)
    return _by_formula(compulsory(row))


def l2_bytes(row: PointRow) -> Moved | None:
    """Bytes between the cache and whoever computes a tile; None without a formula."""
    counted = _counted(row, "l2_bytes")
    return Moved(counted, counted=True) if counted is not None else _by_formula(tile_io(row))


def _without_formula(row: PointRow) -> str:
    """Why no formula says anything of a point; empty where one does."""
    if row.kernel not in KNOWN:
        return f"there is no formula for {row.kernel}"
    return TOO_MANY_TILES if _tiles(row.problem, row) > MOST_TILES else ""


def _tiles(problem: Problem, row: PointRow) -> float:
    """How many tiles are to be looked at one by one."""
    tiles = TILES[row.backend]
    count = (problem.seqlen_q / tiles.block_q) * (problem.seqlen_k / tiles.block_k)
    return 0 if problem.block_mask is None else count


def _by_formula(figure: Figure) -> Moved | None:
    return None if figure.value is None else Moved(figure.value, counted=False)


def _counted(row: PointRow, key: str) -> float | None:
    known = row.measured(key)
    return None if known is None else known.value
