"""The groups into which JSON sorts the figures of a point: each figure, or why there is none."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.wire.measurement import Figure
from flashscope.profiles.wire.traffic import BY_NCU, WRITTEN_BACK

LEDGER = (
    *("input_bytes", "output_bytes", "workspace_bytes", "footprint"),
    *("predicted", "peak_bytes", "device_delta_bytes"),
)
FORMULAS = ("tile_io_bytes", "compulsory_dram_bytes")
COUNTED = ("dram_read_bytes", "dram_write_bytes", WRITTEN_BACK, "dram_bytes", "l2_bytes")
ENERGY = ("energy_mj", "efficiency", "power_w", "power_limit_w")
CLOCKS = ("sm_clock_mhz", "sustained_mhz", "slowed", "capped", "temperature_c", "other_processes")
UNWEIGHED = "nothing weighed it"
NOBODY_ASKED = "Nsight Compute was not asked: `selfcheck --out FILE` does"
UNCOUNTED = "it takes runs back to back for a second or more (sweep --sustain 1) and a counter"
SUSTAINED = "it takes runs back to back (sweep --sustain 1) on a GPU"
UNREAD = "nothing told it beside the samples"

FiguresByKey = dict[str, Figure]


class TrafficByTier(msgspec.Struct, frozen=True):
    """What a run moves, by tiers that are never mixed, and by the keys of the quantities.

    Attributes:
        formula: What the algorithm's loops move, and what must cross the bus of the memory.
        counters: What hardware counters saw.
        ncu: What Nsight Compute counted.
    """

    formula: FiguresByKey
    counters: FiguresByKey
    ncu: FiguresByKey


class Rejected(msgspec.Struct, frozen=True):
    """Samples that do not count.

    Attributes:
        samples: How many.
        reasons: How many by their reason.
    """

    samples: Figure
    reasons: dict[str, int]


def ledger_of(row: PointRow) -> FiguresByKey:
    """What it holds, predicted, as the launch has it and as the allocator saw it."""
    return _figures(row, LEDGER, UNWEIGHED)


def traffic_of(row: PointRow) -> TrafficByTier:
    """What a run moves."""
    missing = Figure(missing=NOBODY_ASKED)
    ncu = {key: row.measured(by_ncu) or missing for key, by_ncu in BY_NCU.items()}
    return TrafficByTier(_figures(row, FORMULAS, ""), _figures(row, COUNTED, UNREAD), ncu)


def energy_of(row: PointRow) -> FiguresByKey:
    """What a run took."""
    known = row.measured("energy_mj")
    return _figures(row, ENERGY, (known.missing if known else "") or UNCOUNTED)


def clocks_of(row: PointRow) -> FiguresByKey:
    """What clocks it ran at, and what held them back."""
    return _figures(row, CLOCKS, UNREAD) | _figures(row, ("sustained_mhz",), SUSTAINED)


def rejected_of(row: PointRow) -> Rejected:
    """How many samples do not count."""
    samples = row.measurement.samples if row.measurement else ()
    reasons = Counter(sample.rejected for sample in samples if sample.rejected is not None)
    count = Figure(value=reasons.total(), source="counted") if samples else Figure(missing=_unmeasured(row))
    return Rejected(count, dict(reasons))


def _figures(row: PointRow, keys: Sequence[str], reason: str) -> FiguresByKey:
    """The figures of these quantities; one that is missing says why, if only that the point is not done."""
    unknown = Figure(missing=reason if row.done else _unmeasured(row))
    known = {key: QUANTITIES[key].figure(row) or unknown for key in keys}
    return {key: one if one.value is not None or one.missing else unknown for key, one in known.items()}


def _unmeasured(row: PointRow) -> str:
    return f"the point is {row.status}"
