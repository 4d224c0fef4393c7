"""Runtime over N: the median of the accepted samples, whiskers at the quartiles."""

from app.plots.metric import Metric
from app.plots.units import ms_text, plain_tick
from profiles.summary import PointRow


def _median(row: PointRow, baseline: PointRow | None) -> float | None:
    del baseline
    return row.runtime_ms_median


def _q1(row: PointRow, baseline: PointRow | None) -> float | None:
    del baseline
    return row.runtime_ms_q1


def _q3(row: PointRow, baseline: PointRow | None) -> float | None:
    del baseline
    return row.runtime_ms_q3


RUNTIME = Metric(
    key="runtime",
    title="Runtime",
    heading="runtime",
    unit="ms · median, quartiles",
    unit_name="ms",
    scale="log10",
    text=ms_text,
    tick=plain_tick,
    value=_median,
    low=_q1,
    high=_q3,
)
