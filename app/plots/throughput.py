"""Throughput over N: the problem's floating-point operations over the median runtime."""

from app.plots.metric import Metric
from app.plots.units import digits, plain_tick
from profiles.summary import PointRow


def _tflops(row: PointRow, baseline: PointRow | None) -> float | None:
    del baseline
    return row.tflops


THROUGHPUT = Metric(
    key="throughput",
    title="Throughput",
    heading="TFLOP/s",
    unit="TFLOP/s · 4·d per kept pair",
    unit_name="TFLOP/s",
    scale="linear",
    text=digits,
    tick=plain_tick,
    value=_tflops,
)
