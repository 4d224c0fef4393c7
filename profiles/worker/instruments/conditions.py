"""What surrounded the samples of a point: what held the clock back, how warm it was, who else was there."""

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from flashscope.profiles.wire.measurement import Figure

SOURCE = "NVML after each sample"


class Condition(NamedTuple):
    """How a device was right after a sample. None: it does not tell.

    Attributes:
        slowed: What forced its clocks down (heat, hardware, a power brake), in words; empty: nothing.
        capped: What else kept them lower (a power cap, clocks that were set), in words.
        temperature_c: How warm it was.
    """

    slowed: tuple[str, ...] | None
    capped: tuple[str, ...] | None
    temperature_c: float | None


def condition_figures(seen: Sequence[Condition]) -> dict[str, Figure]:
    """`slowed` and `capped`, shares of the samples, and `temperature_c`: median, least and most."""
    figures = {
        "slowed": _share([one.slowed for one in seen]),
        "capped": _share([one.capped for one in seen]),
        "temperature_c": _temperature([one.temperature_c for one in seen if one.temperature_c is not None]),
    }
    return {key: figure for key, figure in figures.items() if figure is not None}


def _share(told: Sequence[tuple[str, ...] | None]) -> Figure | None:
    """The share of samples beside which anything was told; its source names each with its count."""
    known = [words for words in told if words is not None]
    if not known:
        return None
    counts = Counter(word for words in known for word in words)
    each = ", ".join(f"{word} {count} of {len(known)}" for word, count in counts.most_common())
    return Figure(
        value=sum(map(bool, known)) / len(known), source=f"NVML after each sample: {each or 'none'}"
    )


def _temperature(known: Sequence[float]) -> Figure | None:
    if not known:
        return None
    least, most = float(min(known)), float(max(known))
    return Figure(value=float(median(known)), low=least, high=most, source=SOURCE)
