"""Runs of one kernel back to back: what power and heat leave it, beside the burst that samples show."""

from collections.abc import Callable
from statistics import quantiles
from time import monotonic

from flashscope.profiles.wire.measurement import Figure, Sample
from flashscope.profiles.worker.instruments.bench import Bench, Run
from flashscope.profiles.worker.instruments.energy import spend

STRETCH_S = 0.05  # of runs between two readings of the clock
LEAST = 4  # stretches, so that half of them have quartiles


def sustain(bench: Bench, run: Run, seconds: float, check: Callable[[], object]) -> dict[str, Figure]:
    """Run back to back for so long, and read the second half, when the clock has settled.

    Args:
        bench: What times it.
        run: One run.
        seconds: How long; at least four stretches of runs are made.
        check: Called between stretches; raises to stop.

    Returns:
        `sustained_ms`, ms a run, and where the clock can be read `sustained_mhz`: medians and quartiles over
        the stretches; and what all of it took (see `profiles.worker.instruments.energy.spend`).
    """
    stretches: list[Sample] = []

    def loop() -> int:
        made, runs, begun = 0, 1, monotonic()
        while len(stretches) < LEAST or monotonic() - begun < seconds:
            check()
            stretches.append(bench.stretch(run, runs))
            made += runs
            runs = max(1, round(STRETCH_S * 1e3 / max(stretches[-1].ms, 1e-3)))
        return made

    spent = spend(bench, loop, seconds)
    settled = stretches[len(stretches) // 2 :]
    source = f"{bench.timer} over runs back to back, the second half of {seconds:g} s"
    figures = spent | {"sustained_ms": _figure([one.ms for one in settled], source)}
    clocks = [one.sm_clock_mhz for one in settled if one.sm_clock_mhz is not None]
    if clocks:
        figures["sustained_mhz"] = _figure(clocks, source)
    return figures


def _figure(values: list[float], source: str) -> Figure:
    low, median, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    return Figure(value=median, low=low, high=high, source=source)
