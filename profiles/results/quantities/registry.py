"""The quantities: everything that a point has a figure of, each declared once.

Tables, plots, readouts, exports and the command line iterate over `QUANTITIES`. A new quantity is one entry
here, and a reader in a worker where it is measured (see profiles.worker.instruments.bench.Bench.readers).
"""

from flashscope.kernels.catalogue.registry import known_kernel
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.quantities.errors import GRADIENTS, bound_of, error_of, worst_row
from flashscope.profiles.results.quantities.memory import MEMORY_PARTS
from flashscope.profiles.results.quantities.quantity import Quantity
from flashscope.profiles.results.quantities.surroundings import SURROUNDINGS
from flashscope.profiles.results.quantities.traffic import TRAFFIC
from flashscope.profiles.results.statistics.stats import Quartiles
from flashscope.profiles.wire.measurement import Figure


def _spread(known: Quartiles | None, source: str) -> Figure | None:
    if known is None:
        return None
    return Figure(value=known.median, low=known.q1, high=known.q3, source=source)


def _runtime(row: PointRow, _: PointRow | None) -> Figure | None:
    return _spread(row.times, row.measurement.timer if row.measurement else "")


def _speedup(row: PointRow, baseline: PointRow | None) -> Figure | None:
    if baseline is None or not baseline.times or not row.times or not row.times.median:
        return None
    return Figure(value=baseline.times.median / row.times.median, source=f"{baseline.kernel} / {row.kernel}")


def _throughput(row: PointRow, _: PointRow | None) -> Figure | None:
    return _rate(row, row.problem.flops, "FLOPs of the kept pairs / median")


def _dense_throughput(row: PointRow, _: PointRow | None) -> Figure | None:
    if row.problem.block_mask is None:
        return None
    return _rate(row, row.problem.dense_equivalent_flops, "FLOPs without the block mask / median")


def _rate(row: PointRow, flops: int, source: str) -> Figure | None:
    """FLOPs over the median runtime, TFLOP/s."""
    if not row.times or not row.times.median:
        return None
    return Figure(value=flops / row.times.median / 1e9, source=source)


def _footprint(row: PointRow, _: PointRow | None) -> Figure | None:
    held = row.measurement.held_bytes if row.measurement else None
    return None if held is None else Figure(value=held, source="inputs + outputs + workspace")


def _predicted(row: PointRow, _: PointRow | None = None) -> Figure | None:
    needed = _model_footprint(row)
    return None if needed is None else Figure(value=needed, source="shapes and dtypes")


def _model_footprint(row: PointRow) -> int | None:
    """None of a kernel that cannot run the problem, or of a function of one's own, which allocates unseen."""
    spec = known_kernel(row.kernel)
    unseen = spec is not None and spec.allocates_unseen
    return None if unseen or row.status == "unsupported" else row.predicted_bytes


def _sustained_throughput(row: PointRow, _: PointRow | None) -> Figure | None:
    known = row.measured("sustained_ms")
    if known is None or not known.value:
        return None
    tflops = row.problem.flops / known.value / 1e9
    return Figure(value=tflops, source="FLOPs of the kept pairs / sustained runtime")


def _kept(row: PointRow, _: PointRow | None) -> Figure:
    return Figure(value=row.problem.kept_share, source="counted")


def _samples(row: PointRow, _: PointRow | None) -> Figure | None:
    return Figure(value=row.times.samples if row.times else 0, source="counted")


def _clock(row: PointRow, _: PointRow | None) -> Figure | None:
    return _spread(row.clocks, "cycles over time on one multiprocessor")


def _round_times(row: PointRow) -> list[float]:
    return [sample.ms for sample in row.accepted]


def _round_rates(row: PointRow) -> list[float]:
    flops = row.problem.flops
    return [flops / sample.ms / 1e9 for sample in row.accepted if sample.ms]


def _round_dense_rates(row: PointRow) -> list[float]:
    flops = row.problem.dense_equivalent_flops
    return [flops / sample.ms / 1e9 for sample in row.accepted if sample.ms]


def _round_clocks(row: PointRow) -> list[float]:
    return [sample.sm_clock_mhz for sample in row.accepted if sample.sm_clock_mhz is not None]


def _masked(row: PointRow) -> bool:
    return row.problem.block_mask is not None or row.problem.window is not None


RUNTIME = Quantity(
    "runtime",
    "Runtime",
    "time",
    "How long one run takes, of the accepted samples.",
    group="Time",
    better="lower",
    columns=("runtime_ms_median", "runtime_ms_q1", "runtime_ms_q3"),
    caption="median, q1–q3",
    of=_runtime,
    rounds=_round_times,
)
SPEEDUP = Quantity(
    "speed-up",
    "Speed-up",
    "ratio",
    "How many times as fast as the baseline at the same N.",
    group="Time",
    better="higher",
    columns=("speedup",),
    caption="ratio of medians",
    of=_speedup,
    relative=True,
)
THROUGHPUT = Quantity(
    "throughput",
    "Throughput",
    "rate",
    "Floating-point operations of the pairs that the masks keep, over the median runtime: of each 4·d "
    "forward and 10·d backward, products with V by its own width.",
    group="Time",
    better="higher",
    columns=("tflops",),
    caption="FLOPs of kept pairs over the median",
    of=_throughput,
    rounds=_round_rates,
)
FOOTPRINT = Quantity(
    "footprint",
    "Peak footprint",
    "bytes",
    "Inputs, outputs and workspace as really held.",
    group="Memory",
    better="lower",
    columns=("footprint_bytes",),
    heading="footprint",
    of=_footprint,
    exact=True,
    model=_model_footprint,
    model_source="inputs + outputs + workspace, exact for our kernels, a lower bound for libraries",
)
QUANTITIES: dict[str, Quantity] = {
    quantity.key: quantity
    for quantity in (
        RUNTIME,
        SPEEDUP,
        THROUGHPUT,
        Quantity(
            "kept",
            "Kept share",
            "share",
            "Query-key pairs that the masks keep, of all pairs.",
            group="Time",
            columns=("kept_share",),
            heading="kept",
            of=_kept,
            telling=_masked,
            exact=True,
        ),
        Quantity(
            "dense-throughput",
            "Dense equivalent",
            "rate",
            "FLOPs without the block mask over the median: what a kernel that skips nothing would need.",
            group="Time",
            better="higher",
            columns=("dense_tflops",),
            heading="dense equivalent",
            of=_dense_throughput,
            rounds=_round_dense_rates,
        ),
        FOOTPRINT,
        Quantity(
            "predicted",
            "Predicted footprint",
            "bytes",
            "The footprint as predicted before the launch.",
            group="Memory",
            columns=("predicted_bytes",),
            heading="predicted",
            of=_predicted,
            telling=lambda _: True,
            exact=True,
        ),
        Quantity(
            "kept_bytes",
            "Kept between the passes",
            "bytes",
            "What a forward pass leaves for the backward pass besides Q, K and V.",
            group="Memory",
            better="lower",
            heading="kept between",
            exact=True,
        ),
        Quantity(
            "max-error",
            "Largest error of O",
            "error",
            "max |O - oracle's| against float64 attention.",
            group="Accuracy",
            better="lower",
            columns=("max_abs_error",),
            heading="max error",
            of=error_of("O"),
            exact=True,
        ),
        *GRADIENTS,
        Quantity(
            "sm_clock_mhz",
            "SM clock",
            "clock",
            "Mean clock of a multiprocessor over each sample.",
            group="Device",
            columns=("sm_clock_mhz", "sm_clock_mhz_q1", "sm_clock_mhz_q3"),
            caption="median, q1–q3",
            of=_clock,
            rounds=_round_clocks,
        ),
        Quantity(
            "sustained_ms",
            "Sustained runtime",
            "time",
            "How long one run takes of many back to back, once the clock has settled.",
            group="Time",
            better="lower",
            columns=("sustained_ms", "sustained_ms_q1", "sustained_ms_q3"),
            caption="median, q1–q3",
        ),
        Quantity(
            "sustained-throughput",
            "Sustained throughput",
            "rate",
            "Floating-point operations of the kept pairs over the sustained runtime.",
            group="Time",
            better="higher",
            columns=("sustained_tflops",),
            of=_sustained_throughput,
        ),
        Quantity(
            "sustained_mhz",
            "Sustained SM clock",
            "clock",
            "Mean clock of a multiprocessor while a kernel runs back to back.",
            group="Device",
            columns=("sustained_sm_clock_mhz", "sustained_sm_clock_mhz_q1", "sustained_sm_clock_mhz_q3"),
            caption="median, q1–q3",
            detail=True,
        ),
        *SURROUNDINGS,
        Quantity(
            "samples",
            "Accepted samples",
            "count",
            "How many timed runs count.",
            group="Time",
            columns=("samples",),
            heading="samples",
            of=_samples,
            detail=True,
            telling=lambda row: row.times is not None,
            exact=True,
        ),
        Quantity(
            "peak_bytes",
            "Allocator peak",
            "bytes",
            "The allocator's high-water mark over one run.",
            group="Memory",
            better="lower",
            columns=("allocator_peak_bytes",),
            detail=True,
            exact=True,
        ),
        Quantity(
            "error-bound",
            "Bound of the error",
            "error",
            "The largest error of O that passes.",
            group="Accuracy",
            columns=("error_bound",),
            of=bound_of("O"),
            detail=True,
            exact=True,
        ),
        Quantity(
            "lse-error",
            "Largest error of LSE",
            "error",
            "max |LSE - oracle's| against float64 attention.",
            group="Accuracy",
            better="lower",
            columns=("lse_error",),
            of=error_of("LSE"),
            detail=True,
            exact=True,
        ),
        Quantity(
            "row-error",
            "Error of the worst row",
            "error",
            "L2 norm of a row's error of O relative to the oracle's, of the row nearest to its bound.",
            group="Accuracy",
            better="lower",
            columns=("row_error",),
            of=worst_row,
            detail=True,
            exact=True,
        ),
        *MEMORY_PARTS,
        Quantity(
            "prepare_ms",
            "Preparation",
            "time",
            "Compiling what is not compiled yet, and allocating.",
            group="Time",
            better="lower",
            detail=True,
        ),
        Quantity(
            "first_run_ms",
            "First run",
            "time",
            "The first launch.",
            group="Time",
            better="lower",
            detail=True,
        ),
        Quantity(
            "host_ms",
            "Host time",
            "time",
            "What the host takes to enqueue a run on an idle GPU.",
            group="Time",
            better="lower",
            columns=("host_ms", "host_ms_q1", "host_ms_q3"),
            caption="median, q1–q3",
            detail=True,
        ),
        Quantity(
            "copy_gbs",
            "Copy rate",
            "bandwidth",
            "What a large copy within device memory reaches beside the point, bytes read and written.",
            group="Traffic",
            columns=("copy_gbs", "copy_gbs_q1", "copy_gbs_q3"),
            caption="median, q1–q3",
            detail=True,
        ),
        *TRAFFIC,
    )
}
"""Every quantity by its key, in the order in which they are shown."""


FAVOURED_BASELINE = "standard"


def favoured_baseline(kernels: tuple[str, ...]) -> str | None:
    """What others are compared with when nothing else is chosen; None without kernels."""
    return FAVOURED_BASELINE if FAVOURED_BASELINE in kernels else next(iter(kernels), None)
