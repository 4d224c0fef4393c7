"""How long something ran, and how long a transfer ran beside no product."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from flashscope.profiles.wire.ranks import StepTime


class TimedRun(NamedTuple):
    """One run of all ranks.

    Attributes:
        ms: What the slowest rank took.
        steps: Products and transfers of each rank.
        in_time: Whether all was enqueued before any of it ran; else a rank may have waited for the host.
    """

    ms: float
    steps: tuple[tuple[StepTime, ...], ...]
    in_time: bool = True


def busy_ms(spans: Iterable[StepTime]) -> float:
    """Time in which at least one of them ran."""
    return sum(end - begin for begin, end in _joined(spans))


def exposed_ms(spans: Sequence[StepTime]) -> float:
    """Time in which a transfer ran and no product."""
    products = [one for one in spans if one.lane == "product"]
    return busy_ms(spans) - busy_ms(products)


def lockstep_ms(ranks: Sequence[Sequence[StepTime]]) -> float:
    """What ranks that took turns would have taken side by side: in every step the slowest one's time."""
    steps = {one.step for spans in ranks for one in spans}
    return sum(
        max(sum(one.end_ms - one.begin_ms for one in spans if one.step == step) for spans in ranks)
        for step in steps
    )


def _joined(spans: Iterable[StepTime]) -> list[tuple[float, float]]:
    """The same as stretches that do not overlap."""
    joined: list[tuple[float, float]] = []
    for one in sorted(spans, key=lambda span: span.begin_ms):
        if joined and one.begin_ms <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], one.end_ms)
        else:
            joined.append((one.begin_ms, one.end_ms))
    return joined
