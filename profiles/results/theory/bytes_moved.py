"""The bytes that a point's run moves, by formula and by the best source there is: hardware counters first."""

import math
from functools import lru_cache
from typing import NamedTuple

from flashscope.kernels.catalogue.registry import find_kernel, known_kernel
from flashscope.kernels.catalogue.traffic import TILES
from flashscope.kernels.workload.problem import NOT_TRACED, Feature
from flashscope.kernels.workload.walk import parts
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.theory.formulas import compulsory_dram_bytes, tile_io_bytes, tiles_of
from flashscope.profiles.wire.measurement import Figure

COUNTERS, FORMULA, LEAST = "by counters", "by formula", "by formula, at least"
CUT_OTHERWISE: frozenset[Feature] = NOT_TRACED - {"sinks"} | {"block_mask", "paged"}
"""Problems of which kernels are cut in other tiles than the formulas of shared memory know."""
MOST_PARTS = 1 << 20  # of a score matrix that tiles and a block mask cut, looked at in arrays
MOST_LENGTHS = 2000  # different ones of a batch, each counted for itself
BACKWARD = "no formula for the bytes of a backward pass has been derived here"
TOO_MANY_TILES = "the tiles that this block mask keeps are too many to be counted here"
TOO_MANY_LENGTHS = "the different lengths of this batch are too many to be counted here"
GATHERED = "on the CPU pages are copied into arrays first, which no formula counts"
SHARED_UNEVENLY = "there is no formula for how an uneven batch, or one in pages, is shared among SMs"
S_AND_P_UNEVEN = "there is no formula for S and P of sequences of different lengths on a GPU"
HELD = "it ran warm, and the cache may have held all of it from the run before"
ONCE = "inputs that masks leave and outputs once; S and P written, and read as far as the cache has lost them"

_tile_io_bytes = lru_cache(1024)(tile_io_bytes)  # a table asks again and again
_compulsory_dram_bytes = lru_cache(1024)(compulsory_dram_bytes)


class BytesMoved(NamedTuple):
    """Bytes of one run.

    Attributes:
        nbytes: How many.
        source: Where they come from, in words: hardware counted them, or a formula says what they are, or
            what they are at least.
    """

    nbytes: float
    source: str


def tile_io(row: PointRow) -> Figure:
    """What its loops move between the cache and whoever computes a tile, by formula."""
    missing = _without_formula(row) or _shared_unevenly(row)
    moved = None if missing else _tile_io_bytes(row.kernel, row.problem, row.backend)
    if moved is None:
        return Figure(missing=missing or _unknown_loops(row.kernel))
    rows, keys = tiles_of(row.kernel, row.problem, row.backend)
    return Figure(value=moved, source=f"loads and stores of the algorithm's loops, tiles of {rows} × {keys}")


def compulsory(row: PointRow) -> Figure:
    """What must cross the bus of the memory, by formula."""
    missing = _without_formula(row) or _unfused(row) or _uneven_matrices(row)
    if row.cache_bytes is None:
        missing = missing or "the size of the device's cache is not known"
    if missing:
        return Figure(missing=missing)
    moved = _compulsory_dram_bytes(row.kernel, row.problem, row.backend, row.cache_bytes or 0)
    warm = row.measurement is not None and not row.measurement.cold
    if warm and moved <= (row.cache_bytes or 0):
        return Figure(missing=HELD)
    return Figure(value=moved, source=ONCE)


def dram_bytes(row: PointRow) -> BytesMoved | None:
    """Bytes between memory and the last cache before it while it runs; None where nothing tells."""
    read, written = (_counted(row, key) for key in ("dram_read_bytes", "dram_write_bytes"))
    if read is not None and written is not None:
        return BytesMoved(read + written, COUNTERS)
    spec = known_kernel(row.kernel)
    more = spec is not None and (spec.traffic is None or spec.traffic.state_in_memory)
    return _by_formula(compulsory(row), LEAST if more else FORMULA)


def l2_bytes(row: PointRow) -> BytesMoved | None:
    """Bytes between the cache and whoever computes a tile; None without a formula."""
    counted = _counted(row, "l2_bytes")
    return BytesMoved(counted, COUNTERS) if counted is not None else _by_formula(tile_io(row), FORMULA)


def shared_bytes(row: PointRow) -> BytesMoved | None:
    """Bytes that products read and copies write in a GPU's shared memory; None without a formula."""
    spec, problem = known_kernel(row.kernel), row.problem
    if spec is None or spec.shared_traffic is None or row.backend != "cuda" or _without_formula(row):
        return None
    plain = problem.even and not problem.features & CUT_OTHERWISE
    if not plain or problem.dtype == "float32":
        return None
    return BytesMoved(spec.shared_traffic(problem), FORMULA)


def _unknown_loops(kernel: str) -> str:
    """Why there is no formula for what a kernel's loops move."""
    reason = {"library": ", whose loops are a library's", "own": ", whose loops are one's own"}
    family = find_kernel(kernel).family
    return f"there is no formula for {kernel}{reason.get(family, '')}"


def _without_formula(row: PointRow) -> str:
    """Why no formula says anything of a point; empty where one does."""
    spec = known_kernel(row.kernel)
    if spec is None:
        return f"there is no formula for {row.kernel}"
    if row.problem.head_dim not in spec.head_dims.get(row.backend, ()):
        return f"{row.kernel} takes no head dim of {row.problem.head_dim}, so that no formula is for it"
    if row.problem.runs_backward:
        return BACKWARD
    if row.backend == "cpu" and row.problem.page_size is not None:
        return GATHERED
    if parts(row.problem.mask, *TILES[row.backend]) > MOST_PARTS:
        return TOO_MANY_TILES
    return TOO_MANY_LENGTHS if len(row.problem.different_lengths) > MOST_LENGTHS else ""


def _shared_unevenly(row: PointRow) -> str:
    """Why no formula knows the loops of a kernel that shares an uneven batch; empty for others."""
    traffic = find_kernel(row.kernel).traffic
    unknown = traffic is not None and not traffic.uneven
    return SHARED_UNEVENLY if unknown and not row.problem.even else ""


def _uneven_matrices(row: PointRow) -> str:
    """Why no formula knows what of S and P a GPU's cache keeps; empty where one does."""
    matrices = find_kernel(row.kernel).family == "standard" and row.backend == "cuda"
    return S_AND_P_UNEVEN if matrices and not row.problem.even else ""


def _unfused(row: PointRow) -> str:
    """Why no formula knows the bytes of a kernel that passes matrices through memory; empty where one does.

    A library's kernel that declares buffers declares these.
    """
    spec = find_kernel(row.kernel)
    passes = spec.traffic is None and (
        spec.family == "standard" or (spec.family == "library" and spec.workspace(row.problem, row.backend))
    )
    return f"there is no formula for {row.kernel}, which passes S and P through memory" if passes else ""


def _by_formula(figure: Figure, source: str) -> BytesMoved | None:
    return None if figure.value is None else BytesMoved(figure.value, source)


def _counted(row: PointRow, key: str) -> float | None:
    """What counters say; None where they say nothing, or what cannot be."""
    known = row.measured(key)
    value = None if known is None else known.value
    return value if value is not None and 0 <= value < math.inf else None
