"""Measure what a device reaches: a few runs of each load that asks for one thing alone."""

import time
from collections.abc import Callable
from statistics import median, quantiles

from flashscope.profiles.wire.ceilings import Ceiling, Ceilings
from flashscope.profiles.wire.events import LogLine
from flashscope.profiles.wire.measurement import Figure, Sample
from flashscope.profiles.worker.child import Link
from flashscope.profiles.worker.instruments.bench import Bench, CeilingLoad, Run

RUNS, LEAST_RUNS = 9, 3
LONGEST_S = 0.05  # after which no run beyond the least is begun


def measure_ceilings(bench: Bench, link: Link) -> Ceilings:
    """Measure each ceiling that the bench has a load for; one that cannot be had says why."""
    rates, begun = {}, time.perf_counter()
    for key, make in bench.loads.items():
        link.check()
        rates[key] = _attempted(bench, key, make, link)
        bench.release()
    took_ms = (time.perf_counter() - begun) * 1e3
    return Ceilings(
        rates=rates,
        cache_bytes=bench.cache_bytes,
        core_cache_bytes=bench.core_cache_bytes,
        took_ms=took_ms,
    )


def reach(bench: Bench, load: CeilingLoad) -> Ceiling:
    """What the device reaches with a load: median and quartiles of a few runs after one that does not count.

    Raises:
        RuntimeError: Every run was rejected; the text says why.
    """
    bench.time_ms(load.run)
    samples = _samples(bench, load.run)
    accepted = [one for one in samples if one.rejected is None]
    if len(accepted) < LEAST_RUNS:
        raise RuntimeError(next(one.rejected for one in samples if one.rejected is not None))
    low, middle, high = quantiles([load.amount / one.ms for one in accepted], n=4, method="inclusive")
    clocks = [one.sm_clock_mhz for one in accepted if one.sm_clock_mhz is not None]
    figure = Figure(value=middle, low=low, high=high, source=f"{bench.timer} around {load.what}")
    return Ceiling(figure=figure, sm_clock_mhz=median(clocks) if clocks else None)


def _samples(bench: Bench, run: Run) -> list[Sample]:
    samples: list[Sample] = []
    begun = time.monotonic()
    while len(samples) < LEAST_RUNS or (len(samples) < RUNS and time.monotonic() - begun < LONGEST_S):
        samples.append(bench.sample(run, cold=False))
    return samples


def _attempted(bench: Bench, key: str, make: Callable[[], CeilingLoad], link: Link) -> Ceiling:
    try:
        return reach(bench, make())
    except Exception as error:  # noqa: BLE001 - whatever an instrument raises, the sweep goes on without it
        missing = f"{type(error).__name__}: {error}"
        link.send(LogLine(source="worker", text=f"No {key} of this device: {missing}", level="warning"))
        return Ceiling(figure=Figure(missing=missing))
