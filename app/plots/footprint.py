"""Peak footprint over N: quadratic for standard attention, linear for the tiled kernels."""

from app.plots.metric import Metric
from app.plots.units import bytes_text, bytes_tick
from profiles.summary import PointRow


def _held(row: PointRow, baseline: PointRow | None) -> float | None:
    del baseline
    return row.footprint_bytes


def _predicted(row: PointRow, baseline: PointRow | None) -> float | None:
    del baseline
    return row.predicted_bytes


FOOTPRINT = Metric(
    key="footprint",
    title="Peak footprint",
    heading="footprint",
    unit="bytes",
    unit_name="bytes",
    scale="log2",
    text=bytes_text,
    tick=bytes_tick,
    value=_held,
    model=_predicted,
    model_source="inputs + outputs + workspace, exact for our kernels, a lower bound for libraries",
)
