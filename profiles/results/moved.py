"""The bytes that a point's run moves, by the best source there is: hardware counters, else a formula."""

from typing import NamedTuple

from kernels import workspace
from kernels.registry import KERNELS
from profiles.results.rows import PointRow
from profiles.results.theory import CUDA_TILES, Tiles, compulsory_dram_bytes, tile_io_bytes

CPU_TILES = Tiles(workspace.CPU_BLOCK_Q, workspace.CPU_BLOCK_K)
COUNTERS, FORMULA = "by counters", "by formula"
KNOWN = frozenset(spec.name for spec in KERNELS)


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


def dram_bytes(row: PointRow, cache_bytes: int | None) -> Moved | None:
    """Bytes between memory and the last cache before it; by formula those that no cache of that size saves.

    A kernel of several steps does all heads in one before the next begins: each has its share of the cache.
    None for a kernel that is not known here.
    """
    read, written = (_counted(row, key) for key in ("dram_read_bytes", "dram_write_bytes"))
    if read is not None and written is not None:
        return Moved(read + written, counted=True)
    if row.kernel not in KNOWN:
        return None
    share = (cache_bytes or 0) // (row.problem.batch * row.problem.heads)
    return Moved(compulsory_dram_bytes(row.kernel, row.problem, share), counted=False)


def l2_bytes(row: PointRow) -> Moved | None:
    """Bytes between the cache and whoever computes a tile; None without a formula."""
    counted = _counted(row, "l2_bytes")
    if counted is not None:
        return Moved(counted, counted=True)
    if row.kernel not in KNOWN:
        return None
    tiles = CUDA_TILES if row.backend == "cuda" else CPU_TILES
    found = tile_io_bytes(row.kernel, row.problem, tiles)
    return None if found is None else Moved(found, counted=False)


def _counted(row: PointRow, key: str) -> float | None:
    known = row.measured(key)
    return None if known is None else known.value
