"""The traffic of a point in tiers that are never mixed: by formula, and as hardware counters saw it.

The third tier, Nsight Compute, is the arbiter of the second and in no session: profiles.results.selfcheck.
"""

from profiles.results.moved import ONCE, compulsory, tile_io
from profiles.results.quantity import Derived, Quantity
from profiles.results.rows import PointRow
from profiles.wire.measurement import Figure

NOT_ASKED = "not counted: the sweep ran without --counters"


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
        model=lambda row: compulsory(row).value,
        model_source=f"what must cross the bus: {ONCE}",
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
            model=(lambda row: tile_io(row).value) if key == "l2_bytes" else None,
            model_source="tile traffic: loads and stores of the algorithm's loops",
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
        of=lambda row, _: tile_io(row),
        telling=lambda row: tile_io(row).value is not None,
        detail=True,
        exact=True,
    ),
    Quantity(
        "compulsory_dram_bytes",
        "Compulsory DRAM traffic (formula)",
        "bytes",
        f"What must cross the DRAM bus, {ONCE}: a formula, never a measurement.",
        better="lower",
        heading="dram model",
        of=lambda row, _: compulsory(row),
        telling=lambda row: compulsory(row).value is not None,
        detail=True,
        exact=True,
    ),
)
"""What a point moves: counted first, then by formula."""
