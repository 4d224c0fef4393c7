"""The traffic of a point in tiers that are never mixed: by formula, and as hardware counters saw it.

The third tier, Nsight Compute, is the arbiter of the second; `selfcheck` asks it.
"""

from collections.abc import Callable, Sequence

from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.quantity import Derived, Quantity
from flashscope.profiles.results.theory.bytes_moved import ONCE, compulsory, tile_io
from flashscope.profiles.wire.measurement import Figure, Number
from flashscope.profiles.wire.traffic import BY_NCU, WRITTEN_BACK

ARBITER = "Nsight Compute"
NOT_ASKED = "not counted: the sweep ran without --counters"
NOT_FOLLOWED = "the version that counted did not look beyond the end of a run"


def _counted(key: str) -> Derived:
    def figure(row: PointRow, _: PointRow | None = None) -> Figure | None:
        known = row.measured(key)
        if known is not None or not row.done:
            return known
        return Figure(missing=NOT_ASKED if row.measured("dram_read_bytes") is None else NOT_FOLLOWED)

    return figure


def _dram(row: PointRow, _: PointRow | None = None) -> Figure | None:
    """What is read and written, and what is written back if that was counted."""
    read, written = row.measured("dram_read_bytes"), row.measured("dram_write_bytes")
    if read is None or written is None:
        return Figure(missing=NOT_ASKED) if row.done else None
    if read.value is None or written.value is None:
        return read
    back = row.measured(WRITTEN_BACK)
    parts = [one for one in (read, written, back) if one is not None and one.value is not None]
    source = read.source + (", written back with it" if back in parts else "")
    value, low, high = (_sum([getattr(one, end) for one in parts]) for end in ("value", "low", "high"))
    return Figure(value=value, low=low, high=high, source=source)


def _by_ncu(key: str) -> Callable[[PointRow], float | None]:
    """What Nsight Compute counted of a quantity, if it was asked."""

    def value(row: PointRow) -> float | None:
        known = row.measured(BY_NCU[key])
        return None if known is None else known.value

    return value


def _sum(values: Sequence[Number | None]) -> Number | None:
    """None where one of them is."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


TRAFFIC = (
    Quantity(
        "dram_bytes",
        "DRAM traffic",
        "traffic",
        "Bytes that one run moves to and from DRAM by hardware counters: read, written, written back.",
        group="Traffic",
        better="lower",
        columns=("dram_bytes", "dram_bytes_low", "dram_bytes_high"),
        caption="counted, least–most",
        ends=("least", "most"),
        heading="dram",
        of=_dram,
        telling=lambda row: row.measured("dram_read_bytes") is not None,
        model=lambda row: compulsory(row).value,
        model_source=f"what must cross the bus: {ONCE}",
        beside=_by_ncu("dram_bytes"),
        beside_source=ARBITER,
    ),
    *(
        Quantity(
            key,
            title,
            "traffic",
            about,
            group="Traffic",
            better="lower",
            columns=(key, f"{key}_low", f"{key}_high"),
            caption="counted, least–most",
            ends=("least", "most"),
            heading=heading,
            of=_counted(key),
            telling=lambda row, key=key: row.measured(key) is not None,  # type: ignore[misc]
            model=(lambda row: tile_io(row).value) if key == "l2_bytes" else None,
            model_source="tile traffic: loads and stores of the algorithm's loops",
            beside=_by_ncu(key) if key in BY_NCU else None,
            beside_source=ARBITER,
            detail=True,
        )
        for key, title, heading, about in (
            ("dram_read_bytes", "DRAM read", "read", "Bytes that one run reads from DRAM, by counters."),
            (
                "dram_write_bytes",
                "DRAM written",
                "written",
                "Bytes that one run writes to DRAM before it ends, by counters.",
            ),
            (
                WRITTEN_BACK,
                "DRAM written back",
                "back",
                "Bytes that L2 holds changed when a run ends, written to DRAM in its wake, by counters.",
            ),
            ("l2_bytes", "L2 traffic", "l2", "Bytes that one run moves through the L2 cache, by counters."),
        )
    ),
    Quantity(
        "tile_io_bytes",
        "Tile traffic (formula)",
        "traffic",
        "What the tiled loop moves between L2 and the multiprocessors: a formula, never a measurement.",
        group="Traffic",
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
        "traffic",
        f"What must cross the DRAM bus ({ONCE}): a formula, never a measurement.",
        group="Traffic",
        better="lower",
        heading="dram model",
        of=lambda row, _: compulsory(row),
        telling=lambda row: compulsory(row).value is not None,
        detail=True,
        exact=True,
    ),
)
"""What a point moves: counted first, then by formula."""
