"""Every plot, one a file; axes, colours and units from one place."""

from app.plots.footprint import FOOTPRINT
from app.plots.metric import Metric
from app.plots.runtime import RUNTIME
from app.plots.speedup import SPEEDUP
from app.plots.throughput import THROUGHPUT

SWEEP_PLOTS: tuple[Metric, ...] = (FOOTPRINT, RUNTIME, SPEEDUP, THROUGHPUT)
