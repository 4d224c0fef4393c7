"""The traffic of a point in tiers that are never mixed: by formula, and as hardware counters saw it.

The third tier, Nsight Compute, is the arbiter of the second and in no session: profiles.results.selfcheck.
"""

from collections.abc import Callable
from functools import lru_cache

from kernels.problem import Problem
from profiles.results.quantity import Derived, Quantity
from profiles.results.rows import PointRow
from profiles.results.theory import CUDA_TILES, compulsory_dram_bytes, tile_io_bytes
from profiles.wire.measurement import Figure

NOT_ASKED = "not counted: the sweep ran without --counters"
ONCE = "inputs and outputs once, and what of S and P the L2 cache cannot hold"
MOST_TILES = 20_000  # with a block mask, where each is looked at
TILES = f"tiles of {CUDA_TILES.block_q} × {CUDA_TILES.block_k}"


def _tile_io(row: PointRow, _: PointRow | None = None) -> Figure:
    problem = row.problem
    tiles = (problem.seqlen_q / CUDA_TILES.block_q) * (problem.seqlen_k / CUDA_TILES.block_k)
    if problem.block_mask is not None and tiles > MOST_TILES:
        return Figure(missing="the tiles that this block mask keeps are too many to be counted here")
    moved = _known(_tile_io_bytes, row)
    if moved is None:
        return Figure(missing=f"there is no formula for {row.kernel}, whose loops are a library's own")
    return Figure(value=moved, source=f"loads and stores of the algorithm's loops, {TILES}")


def _compulsory(row: PointRow, _: PointRow | None = None) -> Figure:
    if row.l2_bytes is None:
        return Figure(missing="the size of the device's L2 cache is not known")
    moved = _known(lambda kernel, problem: compulsory_dram_bytes(kernel, problem, row.l2_bytes or 0), row)
    if moved is None:
        return Figure(missing=f"there is no formula for {row.kernel}")
    return Figure(value=moved, source=ONCE)


_tile_io_bytes = lru_cache(1024)(tile_io_bytes)  # a table asks again and again


def _known(formula: Callable[[str, Problem], int | None], row: PointRow) -> int | None:
    """What a formula says of a point; None: there is none, as of a kernel that this version does not know."""
    try:
        return formula(row.kernel, row.problem)
    except KeyError:
        return None


def _counted(key: str) -> Derived:
    def figure(row: PointRow, _: PointRow | None = None) -> Figure | None:
        known = row.measured(key)
        return Figure(missing=NOT_ASKED) if known is None and row.done else known

    return figure


def _dram(row: PointRow, _: PointRow | None = None) -> Figure | None:
    read, written = row.measured("dram_read_bytes"), row.measured("dram_write_bytes")
    if read is None or written is None:
        return Figure(missing=NOT_ASKED) if row.done else None
    if read.value is None or written.value is None:
        return read
    ends = ((read.low, written.low), (read.high, written.high))
    low, high = (None if a is None or b is None else a + b for a, b in ends)
    return Figure(value=read.value + written.value, low=low, high=high, source=read.source)


TRAFFIC = (
    Quantity(
        "dram_bytes",
        "DRAM traffic",
        "bytes",
        "Bytes that one run moves to and from DRAM, by hardware counters; what stays in L2 is not in it.",
        better="lower",
        columns=("dram_bytes", "dram_bytes_low", "dram_bytes_high"),
        caption="counted, least–most",
        ends=("least", "most"),
        heading="dram",
        of=_dram,
        telling=lambda row: row.measured("dram_read_bytes") is not None,
        model=lambda row: _compulsory(row).value,
        model_source=f"compulsory DRAM traffic: {ONCE}",
    ),
    *(
        Quantity(
            key,
            title,
            "bytes",
            about,
            better="lower",
            columns=(key, f"{key}_low", f"{key}_high"),
            caption="counted, least–most",
            ends=("least", "most"),
            heading=heading,
            of=_counted(key),
            telling=lambda row, key=key: row.measured(key) is not None,  # type: ignore[misc]
            model=(lambda row: _tile_io(row).value) if key == "l2_bytes" else None,
            model_source=f"tile traffic: loads and stores of the algorithm's loops, {TILES}",
            detail=True,
        )
        for key, title, heading, about in (
            ("dram_read_bytes", "DRAM read", "read", "Bytes that one run reads from DRAM, by counters."),
            (
                "dram_write_bytes",
                "DRAM written",
                "written",
                "Bytes that one run writes to DRAM, by counters.",
            ),
            ("l2_bytes", "L2 traffic", "l2", "Bytes that one run moves through the L2 cache, by counters."),
        )
    ),
    Quantity(
        "tile_io_bytes",
        "Tile traffic (formula)",
        "bytes",
        "What the tiled loop moves between L2 and the multiprocessors: a formula, never a measurement.",
        better="lower",
        heading="tile model",
        of=_tile_io,
        telling=lambda row: _tile_io(row).value is not None,
        detail=True,
        exact=True,
    ),
    Quantity(
        "compulsory_dram_bytes",
        "Compulsory DRAM traffic (formula)",
        "bytes",
        "What must cross the DRAM bus even with a perfect cache: a formula, never a measurement.",
        better="lower",
        heading="dram model",
        of=_compulsory,
        telling=lambda row: _compulsory(row).value is not None,
        detail=True,
        exact=True,
    ),
)
"""What a point moves: counted first, then by formula."""
