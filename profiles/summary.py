"""One row a point: the figures that tables, plots, readouts, exports and `--json` all show."""

import msgspec

from kernels.problem import Backend, Dtype, Problem
from profiles.events import PointStatus
from profiles.session import PointState, Session
from profiles.stats import quartiles


class PointRow(msgspec.Struct, frozen=True, kw_only=True):
    """One point's figures; None: not available, `status` and `reason` say why.

    Attributes:
        kernel: Kernel name.
        backend: Where it ran.
        seqlen: Query sequence length, N.
        seqlen_k: Key sequence length.
        batch: Sequences.
        heads: Query heads.
        head_dim: d.
        dtype: Element type.
        causal: Whether the mask is causal.
        status: Where the point stands.
        reason: Why it is not `done`; empty otherwise.
        runtime_ms_median: Median of the accepted samples, ms.
        runtime_ms_q1: Lower quartile, ms.
        runtime_ms_q3: Upper quartile, ms.
        samples: Number of accepted samples.
        cold: Whether the cache was flushed before each sample.
        tflops: Problem FLOPs over the median, TFLOP/s.
        footprint_bytes: inputs + outputs + workspace as really held.
        allocator_peak_bytes: The allocator's high-water mark.
        predicted_bytes: Predicted before the launch.
        max_abs_error: Against the float64 oracle.
        error_bound: The largest error that passes.
        kv_heads: Key and value heads; None: as many as query heads.
        window: (left, right) of a sliding window, -1 unbounded; None: no window.
        kept_share: Pairs that all masks together keep, of all pairs: below 1 also for a causal one.
        block_mask: The block mask among them in words, empty without one.
        dense_tflops: FLOPs of the problem without its block mask over the median, TFLOP/s: what a kernel that
            skips nothing would have to reach. None without a block mask.
    """

    kernel: str
    backend: Backend
    seqlen: int
    seqlen_k: int
    batch: int
    heads: int
    head_dim: int
    dtype: Dtype
    causal: bool
    status: PointStatus
    reason: str
    predicted_bytes: int
    runtime_ms_median: float | None = None
    runtime_ms_q1: float | None = None
    runtime_ms_q3: float | None = None
    samples: int = 0
    cold: bool | None = None
    tflops: float | None = None
    footprint_bytes: int | None = None
    allocator_peak_bytes: int | None = None
    max_abs_error: float | None = None
    error_bound: float | None = None
    note: str = ""
    kv_heads: int | None = None
    window: tuple[int, int] | None = None
    kept_share: float = 1.0
    block_mask: str = ""
    dense_tflops: float | None = None


def rows(session: Session) -> list[PointRow]:
    """A row for each of the plan's kernels x problems, in running order; the drift check has none."""
    return [row(session.backend, state) for state in session.cells]


def row(backend: Backend, state: PointState) -> PointRow:
    """The row of one point."""
    problem, measured = state.point.problem, state.measurement
    base = PointRow(
        kernel=state.point.kernel,
        backend=backend,
        seqlen=problem.seqlen_q,
        seqlen_k=problem.seqlen_k,
        batch=problem.batch,
        heads=problem.heads,
        head_dim=problem.head_dim,
        dtype=problem.dtype,
        causal=problem.causal,
        status=state.status,
        reason=state.reason,
        predicted_bytes=state.predicted_bytes,
        kv_heads=problem.key_heads,
        window=problem.window,
        kept_share=problem.kept_share,
        block_mask=problem.block_mask.words if problem.block_mask else "",
    )
    if measured is None:
        return base
    times = quartiles(measured.samples)
    correct = measured.correctness
    return msgspec.structs.replace(
        base,
        runtime_ms_median=times and times.median,
        runtime_ms_q1=times and times.q1,
        runtime_ms_q3=times and times.q3,
        samples=times.samples if times else 0,
        cold=measured.cold,
        tflops=problem.flops / times.median / 1e9 if times else None,
        dense_tflops=_dense_tflops(problem, times.median) if times else None,
        footprint_bytes=measured.footprint.total,
        allocator_peak_bytes=measured.footprint.peak,
        max_abs_error=correct and correct.max_abs_error,
        error_bound=correct and correct.bound,
        note=measured.note,
    )


def _dense_tflops(problem: Problem, median_ms: float) -> float | None:
    return None if problem.block_mask is None else problem.dense_equivalent_flops / median_ms / 1e9
