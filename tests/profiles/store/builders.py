"""Sessions to write, as the events an engine would send."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from flashscope.kernels.workload.audit import AttentionCall, AuditedCall, AuditedStep, ModelAudit
from flashscope.kernels.workload.backward_trace import BackwardTrace, BackwardTraceRequest, DqPass
from flashscope.kernels.workload.cut import Cut
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.landscape import CutLandscape, CutOutcome
from flashscope.kernels.workload.problem import Problem
from flashscope.kernels.workload.stalls import ISSUED, NO_LINE, StallProfile, StallRequest
from flashscope.kernels.workload.timeline import LOAD, QK, STORE, StageTimeline, TimelineRequest
from flashscope.kernels.workload.trace import Array, Trace, TraceRequest
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.results.model.remaining import remaining_of
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.store import Recorder
from flashscope.profiles.store.migrations import MIGRATIONS, Migration
from flashscope.profiles.store.migrations.v027_devices import keep_devices
from flashscope.profiles.store.schema import expected_schema, schema_of
from flashscope.profiles.wire.ceilings import COPY, EXPONENTIALS, Ceiling, Ceilings
from flashscope.profiles.wire.events import (
    AuditReady,
    BackwardTraceReady,
    CeilingsMeasured,
    Event,
    LandscapeReady,
    PlanFinished,
    PlanStarted,
    PointChecked,
    PointFailed,
    PointMeasured,
    PointStarted,
    RanksReady,
    Reading,
    Readings,
    SamplingStarted,
    StallsReady,
    TelemetryStarted,
    TimelineReady,
    TraceReady,
)
from flashscope.profiles.wire.measurement import Correctness, Figure, Measurement, OutputError, Sample
from tests.profiles import rank_results
from tests.profiles.sessions import ends_well, session_of

MACHINE = Machine(
    system="Linux 6.1",
    python="3.11.7",
    devices=(Device(backend="cpu", name="A CPU", memory_bytes=1 << 34),),
    free_bytes={"cpu": 1 << 33},
)
TELEMETRY = TelemetryStarted(source="psutil", device="A CPU", memory_total=1 << 34, missing={"power_w": "no"})
MEASUREMENT = Measurement(
    samples=(Sample(1.5, None, 0), Sample(9.0, "throttled", 1), Sample(1.25)),
    timer="perf_counter",
    cold=True,
    figures={
        "prepare_ms": Figure(value=0.5, source="perf_counter"),
        "input_bytes": Figure(value=3, source="shapes and dtypes"),
        "output_bytes": Figure(value=2, source="shapes and dtypes"),
        "workspace_bytes": Figure(value=1, source="the launch"),
        "peak_bytes": Figure(missing="nothing tells the peak here"),
        "a-key-of-a-newer-version": Figure(value=7.5, low=7.0, high=8.0, source="a counter"),
    },
    correctness=Correctness(
        outputs=(
            OutputError(output="O", error=1e-7, bound=1e-4),
            OutputError(output="LSE", error=0.0, bound=1e-5),
        ),
        rows=256,
        passed=True,
    ),
)

CEILINGS = Ceilings(
    rates={
        COPY: Ceiling(figure=Figure(value=40.0, low=39.0, high=41.5, source="perf_counter around a copy")),
        EXPONENTIALS: Ceiling(figure=Figure(missing="ValueError: no"), sm_clock_mhz=1500.0),
    },
    cache_bytes=1 << 25,
)


def plan(seqlens: tuple[int, ...] = (256, 512), kernels: tuple[str, ...] = ("standard", "flash2")) -> Plan:
    problems = tuple(Problem(seqlen_q=n, seqlen_k=n) for n in seqlens)
    protocol = Protocol(drift_check=False)
    return Plan(backend="cpu", kernels=kernels, problems=problems, protocol=protocol)


def measured(
    index: int, t_ns: int, measurement: Measurement = MEASUREMENT
) -> tuple[PointChecked, PointMeasured]:
    """The check of a point, and its end."""
    return ends_well(index, t_ns, measurement)


def plan_started(of: Plan | None = None) -> PlanStarted:
    of = of or plan()
    return PlanStarted(
        session_id="0123456789abcdef0123456789abcdef",
        plan=of,
        machine=MACHINE,
        started_at="2026-01-02T03:04:05+00:00",
        t_ns=1_000,
        predicted_bytes=tuple(range(len(of.points()))),
        telemetry=TELEMETRY,
    )


def reading(t_ns: int) -> Reading:
    return Reading(t_ns=t_ns, memory_used=123, utilisation=7.5, throttle=())


def readings(*t_ns: int) -> Readings:
    return Readings(readings=tuple(map(reading, t_ns)))


def trace() -> Trace:
    """One row and one tile of two keys, of which the first is masked."""
    problem = Problem(seqlen_q=1, seqlen_k=2, head_dim=1)
    row, cell, keys = (Array.of(np.zeros(shape, np.float32)) for shape in ((1,), (1, 1), (2, 1)))
    alike: dict[str, Any] = {
        **dict.fromkeys(("m", "l", "alpha", "q", "output", "exact_output"), cell),
        **dict.fromkeys(("k", "v"), keys),
        **dict.fromkeys(("lse", "exact_lse"), row),
    }
    return Trace(
        request=TraceRequest(problem=problem, block_q=1, block_k=2),
        device="A CPU",
        source="a test",
        tile=Array.of(np.zeros((1, 2), np.int32)),
        s=Array.of(np.array([[[-np.inf, 1.0]]], np.float32)),
        o=Array.of(np.zeros((1, 1, 1), np.float32)),
        **alike,
    )


def backward_trace(*, apart: bool = False) -> BackwardTrace:
    """Two heads of one row that meet two keys in a tile each; dQ in the tiles, or in a launch of its own."""
    problem = Problem(seqlen_q=1, seqlen_k=2, head_dim=1, heads=2, kv_heads=1, passes="backward")

    def zeros(*shape: int, dtype: Any = np.float32) -> Array:
        return Array.of(np.zeros(shape, dtype))

    tile, cells = Array.of(np.array([(0, 0, 0), (1, 0, 0)], np.int32)), zeros(2, 1, 2)
    one = DqPass(block_q=1, block_k=2, tile=tile, p=cells, dp=cells, ds=cells, dq=zeros(2, 1, 1))
    return BackwardTrace(
        request=BackwardTraceRequest(problem=problem, block_q=1, block_k=2),
        device="A CPU",
        source="a test",
        tile=tile,
        **dict.fromkeys(("p", "dp", "ds"), cells),
        delta=zeros(2, 1),
        dq=None if apart else zeros(2, 1, 1),
        **dict.fromkeys(("dk", "dv"), zeros(2, 2, 1)),
        **dict.fromkeys(("q", "grad_output", "output", "grad_q"), zeros(2, 1, 1)),
        **dict.fromkeys(("k", "v", "grad_k", "grad_v"), zeros(2, 1)),
        lse=zeros(2, 1),
        exact_q=zeros(2, 1, 1, dtype=np.float64),
        **dict.fromkeys(("exact_k", "exact_v"), zeros(2, 1, dtype=np.float64)),
        dq_pass=one if apart else None,
    )


def timeline() -> StageTimeline:
    """Two rows of one lane; two bars of a tile and its block's store on the first, one bar on the second."""
    problem = Problem(seqlen_q=2, seqlen_k=2, head_dim=1, batch=1, heads=2)

    def ints(*numbers: Any, dtype: Any = np.int64) -> Array:
        return Array.of(np.array(numbers, dtype))

    return StageTimeline(
        request=TimelineRequest(problem=problem, kernel="flash2", rounds=2),
        device="A CPU",
        source="a test",
        build="0123456789ab",
        block_q=2,
        block_k=1,
        row_kind="thread",
        rows=ints(0, 5, dtype=np.int32),
        lanes=("Python",),
        lane=ints(0, 0, 0, 1, dtype=np.int32),
        stage=ints(LOAD, QK, STORE, QK, dtype=np.uint8),
        tile=ints((0, 0, 0), (0, 0, 0), (0, 0, -1), (1, 0, 1), dtype=np.int32),
        begin=ints(0, 10, 40, 5),
        end=ints(10, 40, 60, 100),
        block_lane=ints(0, 1, dtype=np.int32),
        block=ints((0, 0), (1, 0), dtype=np.int32),
        block_begin=ints(0, 5),
        block_end=ints(60, 100),
        span_ns=100,
        clocked_ns=ints(100, 110),
        plain_ns=ints(99, 101),
    )


def stalls() -> StallProfile:
    """Three instructions, the first two of one line; most samples wait for products."""

    def ints(*numbers: Any, dtype: Any = np.int32) -> Array:
        return Array.of(np.array(numbers, dtype))

    return StallProfile(
        request=StallRequest(problem=Problem(seqlen_q=64, seqlen_k=64, dtype="float16"), kernel="flash2"),
        device="NVIDIA H100",
        sampler="Nsight Compute 2025.3.1",
        build="0123456789ab",
        file="flash2.cu",
        source="0123456789abcdef",
        entry="flash2",
        others=3,
        interval=128,
        launches=1,
        reasons=(ISSUED, "wait", "barrier"),
        address=ints(0, 16, 48),
        text=("HMMA R1, R2", "BAR.SYNC 0x0", "EXIT"),
        line=ints(7, 7, NO_LINE),
        samples=ints((2, 6, 0), (1, 1, 10), (0, 0, 0)),
        idle=ints(4, 8, 0),
        plain_ns=ints(900, 1000, 1100, dtype=np.int64),
        profiled_ns=1000,
        sampled_ns=1020,
    )


def audit() -> ModelAudit:
    """A model of four layers, two with a window, one step of which was timed with two implementations."""
    full = AttentionCall(
        q_shape=(1, 4, 64, 16), k_shape=(1, 2, 64, 16), v_dim=16, dtype="float32", mask="causal", causal=True
    )
    window = replace(full, mask="window", window=(15, -1), dropout=0.5)
    return ModelAudit(
        model="small",
        architecture="SmallForCausalLM",
        implementation="sdpa",
        weights="random",
        parameters=1000,
        weight_bytes=4000,
        layers=4,
        layers_in_all=32,
        device=Device(backend="cpu", name="A CPU", memory_bytes=1 << 30),
        dtype="float32",
        threads=1,
        inputs={"input_ids": (1, 64)},
        versions={"torch": "2.13.0"},
        calls=(
            AuditedCall(
                phase="prefill",
                call=full,
                layers=("model.layers.0.self_attn", "model.layers.2.self_attn"),
                ran="flash",
                operators=("_scaled_dot_product_flash_attention_for_cpu",),
                took_ms=(3.0, 3.1, 3.2),
            ),
            AuditedCall(
                phase="prefill",
                call=window,
                layers=("model.layers.1.self_attn", "model.layers.3.self_attn"),
                ran="math",
                why_not=("No argument.",),
                took_ms=(1.0, 1.1, 1.2),
            ),
        ),
        steps=(
            AuditedStep(
                phase="prefill",
                implementation="sdpa",
                step_ms=(10.0, 11.0, 10.5, 10.2, 10.1),
                profiled_ms=(12.0, 12.5, 12.2),
                attention_ms=(4.0, 4.2, 4.4),
                ran=("flash",),
            ),
            AuditedStep(phase="prefill", implementation="eager", refused="It has none."),
        ),
        unseen=("prefill: 2 × _softmax of 1 × 4 × 64",),
    )


def landscape() -> CutLandscape:
    """Four tiles of flash2 in NumPy: two that were timed anew, one that was not, and one that is none."""
    shipped, other, slow = (Cut(kernel="numpy", groups=rows, block_k=16) for rows in (16, 32, 64))
    too_large = Cut(kernel="numpy", groups=128, block_k=16)
    return CutLandscape(
        problem=Problem(seqlen_q=64, seqlen_k=64, head_dim=16),
        rows="groups",
        device=Device(backend="cpu", name="A CPU", memory_bytes=1 << 30),
        timer="a test",
        build="0123456789ab",
        shipped=shipped,
        cells=(
            CutOutcome(cut=shipped, first_ms=(2.0, 2.1), anew_ms=(2.0, 2.0, 2.1, 2.2, 2.1)),
            CutOutcome(cut=other, first_ms=(1.0, 1.1), anew_ms=(1.0, 1.1, 1.0, 1.2, 1.1)),
            CutOutcome(cut=slow, first_ms=(4.0, 4.1)),
            CutOutcome(cut=too_large, refused=("128 query rows are more than the 64 that there are.",)),
        ),
    )


def whole_sweep() -> Iterator[Event]:
    """A sweep of four points: two measured, one out of memory, one never reached; with all else there is."""
    yield plan_started()
    yield CeilingsMeasured(ceilings=CEILINGS)
    yield PointStarted(index=0, t_ns=2_000)
    yield readings(2_100, 2_200)
    yield PointStarted(index=1, t_ns=2_300)
    checked, done = measured(0, 3_000)
    yield checked
    yield SamplingStarted(indices=(0, 1), t_ns=2_400)
    yield done
    yield PointFailed(index=1, t_ns=4_000, status="oom", reason="Out of memory.", detail="1 + 1 > 1")
    yield PointStarted(index=2, t_ns=4_100)
    yield PointFailed(index=2, t_ns=5_000, status="wrong", reason="NaN.", measurement=MEASUREMENT)
    yield TraceReady(trace=trace())
    yield TimelineReady(timeline=timeline())
    yield StallsReady(profile=stalls())
    yield LandscapeReady(landscape=landscape())
    yield AuditReady(audit=audit())
    yield BackwardTraceReady(trace=backward_trace())
    yield RanksReady(result=rank_results.result())
    yield readings(5_100)
    yield PlanFinished(t_ns=6_000, outcome="cancelled")


def recorded(path: Path, *events: Event) -> Path:
    """The file that a recorder makes of these events; of none, of a whole sweep's."""
    if not events:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(_whole_file())
        return path
    recorder = Recorder(path)
    for event in events:
        recorder.record(event)
    recorder.close()
    return path


@cache  # to record it takes 20 ms, and waits for the disk a hundred times
def _whole_file() -> bytes:
    with TemporaryDirectory() as folder:
        return recorded(Path(folder) / "whole.flashscope", *whole_sweep()).read_bytes()


def measurement(samples: tuple[Sample, ...]) -> Measurement:
    return msgspec.structs.replace(MEASUREMENT, samples=samples)


def first_part() -> Iterator[Event]:
    """Of four points one is done, one has timed out after its check, one was running when the writer died."""
    yield plan_started()
    yield PointStarted(index=0, t_ns=2_000)
    yield from measured(0, 3_000)
    yield PointStarted(index=1, t_ns=3_100)
    yield measured(1, 3_200)[0]
    yield PointFailed(index=1, t_ns=4_000, status="timeout", reason="Too slow.")
    yield PointStarted(index=2, t_ns=4_100)
    yield measured(2, 4_200)[0]
    yield readings(4_300)


def next_part(session: Session) -> list[Event]:
    """The whole next part of a session: its begin, its repeats, what is left, its end."""
    rest = remaining_of(session)
    events: list[Event] = [rest.begin(MACHINE, TELEMETRY)]
    for point in (point for group in rest.groups(session.plan) for point in group):
        events += [PointStarted(index=point.index, t_ns=rest.t_ns), readings(rest.t_ns)]
        events += measured(point.index, rest.t_ns + 1, measurement((Sample(7.0),) * 3))
    return [*events, PlanFinished(t_ns=rest.t_ns + 2, outcome="finished")]


def resumed() -> Session:
    """A session of two parts."""
    events = list(first_part())
    return session_of([*events, *next_part(session_of(events))])


def make_older(path: Path, migration: Migration) -> None:
    """Make a file one of the version before a migration that adds a table: what came later goes."""
    version = MIGRATIONS.index(migration)
    known = {name for _, name, _ in expected_schema(version)}
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        if version <= MIGRATIONS.index(keep_devices):
            for table, column in (("session", "others"), ("readings", "device")):
                connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        for later in {name for _, name, _ in schema_of(connection)} - known:
            connection.execute(f"DROP TABLE {later}")
            connection.execute("DELETE FROM batches WHERE name = ?", (later,))
        connection.execute(f"PRAGMA user_version = {version}")
