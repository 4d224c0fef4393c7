"""Speed-up over N: how many times as fast as the baseline at the same N, by medians."""

from app.plots.metric import Metric
from app.plots.units import plain_tick, ratio_text
from profiles.summary import PointRow


def _ratio(row: PointRow, baseline: PointRow | None) -> float | None:
    if baseline is None or not baseline.runtime_ms_median or not row.runtime_ms_median:
        return None
    return baseline.runtime_ms_median / row.runtime_ms_median


SPEEDUP = Metric(
    key="speed-up",
    title="Speed-up",
    heading="speed-up",
    unit="× · ratio of medians",
    unit_name="ratio",
    scale="linear",
    text=ratio_text,
    tick=plain_tick,
    value=_ratio,
)
