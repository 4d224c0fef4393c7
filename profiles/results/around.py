"""A point's energy, clocks and rejected samples as JSON groups them: each figure, or why there is none."""

from collections import Counter
from collections.abc import Sequence

from profiles.results.quantities import QUANTITIES
from profiles.results.rows import PointRow
from profiles.wire.measurement import Figure

ENERGY = ("energy_mj", "efficiency", "power_w", "power_limit_w")
CLOCKS = ("sm_clock_mhz", "sustained_mhz", "slowed", "capped", "temperature_c", "other_processes")
UNCOUNTED = "it takes runs back to back for a second or more (sweep --sustain 1) and a counter"
SUSTAINED = "it takes runs back to back (sweep --sustain 1) on a GPU"
UNREAD = "nothing told it beside the samples"


def energy_of(row: PointRow) -> dict[str, Figure]:
    """What a run took."""
    known = row.measured("energy_mj")
    return _figures(row, ENERGY, (known.missing if known else "") or UNCOUNTED)


def clocks_of(row: PointRow) -> dict[str, Figure]:
    """What clocks it ran at, and what held them back."""
    return _figures(row, CLOCKS, UNREAD) | _figures(row, ("sustained_mhz",), SUSTAINED)


def rejected_of(row: PointRow) -> dict[str, int]:
    """How many samples do not count, by the reason."""
    samples = row.measurement.samples if row.measurement else ()
    return dict(Counter(sample.rejected for sample in samples if sample.rejected is not None))


def _figures(row: PointRow, keys: Sequence[str], reason: str) -> dict[str, Figure]:
    missing = Figure(missing=reason if row.done else f"the point is {row.status}")
    return {key: QUANTITIES[key].figure(row) or missing for key in keys}
