"""Quantities of what a kernel takes and what surrounds it: energy, power, heat, what holds clocks back."""

from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.wire.measurement import Figure


def _efficiency(row: PointRow, _: PointRow | None) -> Figure | None:
    """Query tokens of the whole batch over the energy of one run."""
    energy, tokens = row.measured("energy_mj"), row.problem.queries_in_all
    if energy is None:
        return None
    if not energy.value or not energy.low or not energy.high:
        return Figure(missing=energy.missing or "no energy was counted that tokens could be divided by")
    low, value, high = (1e3 * tokens / mj for mj in (energy.high, energy.value, energy.low))
    return Figure(value=value, low=low, high=high, source="query tokens over the energy of a call")


def _sustained_share(row: PointRow, _: PointRow | None) -> Figure | None:
    """How much of the burst is left of a kernel that runs back to back."""
    known = row.measured("sustained_ms")
    if known is None or not known.value or not row.times:
        return None
    return Figure(value=row.times.median / known.value, source="median of the samples / sustained runtime")


def _counted(row: PointRow) -> bool:
    """Whether its energy was counted."""
    return row.measurement is not None and row.measurement.value("energy_mj") is not None


ENDS = ("low", "high")
SURROUNDINGS: tuple[Quantity, ...] = (
    Quantity(
        "sustained-share",
        "Sustained over burst",
        "share",
        "Throughput of runs back to back over that of rested samples; power and heat take the rest.",
        group="Time",
        better="higher",
        columns=("sustained_share",),
        heading="of burst",
        of=_sustained_share,
    ),
    Quantity(
        "energy_mj",
        "Energy per call",
        "energy",
        "What the whole device takes for one run of many back to back, idle power included.",
        group="Device",
        better="lower",
        columns=("energy_mj", "energy_mj_low", "energy_mj_high"),
        caption="as exact as the counter's steps",
        heading="energy",
        ends=ENDS,
    ),
    Quantity(
        "efficiency",
        "Tokens per joule",
        "efficiency",
        "Query tokens of the batch that one joule of the whole device pays for.",
        group="Device",
        better="higher",
        telling=_counted,
        columns=("tokens_per_joule", "tokens_per_joule_low", "tokens_per_joule_high"),
        heading="for a joule",
        of=_efficiency,
        ends=ENDS,
    ),
    Quantity(
        "power_w",
        "Mean power",
        "power",
        "Mean power of the whole device while a kernel runs back to back.",
        group="Device",
        columns=("power_w", "power_w_low", "power_w_high"),
        heading="power",
        telling=_counted,
        ends=ENDS,
    ),
    Quantity(
        "power_limit_w",
        "Power limit",
        "power",
        "The most that the device was allowed to draw.",
        group="Device",
        heading="limit",
        exact=True,
    ),
    Quantity(
        "temperature_c",
        "Temperature",
        "temperature",
        "Of the GPU right after each sample.",
        group="Device",
        columns=("temperature_c", "temperature_c_least", "temperature_c_most"),
        caption="median, least–most",
        detail=True,
        ends=("least", "most"),
    ),
    Quantity(
        "slowed",
        "Slowed down",
        "share",
        "Samples after which NVML named heat, hardware or a power brake as what forces the clocks down.",
        group="Device",
        better="lower",
        columns=("slowed_share",),
        detail=True,
    ),
    Quantity(
        "capped",
        "Held back",
        "share",
        "Samples after which NVML named a power cap or clocks that were set.",
        group="Device",
        columns=("capped_share",),
        detail=True,
    ),
    Quantity(
        "other_processes",
        "Other processes",
        "count",
        "Processes beside this one that held a CUDA context on the GPU.",
        group="Device",
        better="lower",
        heading="others",
        detail=True,
        exact=True,
    ),
)
"""In the order in which they are shown."""
