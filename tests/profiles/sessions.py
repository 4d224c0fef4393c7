"""Sessions built from the events of scripted sweeps, and what any session is built with."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Plan, Point
from flashscope.profiles.plan.request import Request
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.wire.events import (
    Event,
    FailedStatus,
    MachineFound,
    PlanFinished,
    PlanStarted,
    PointChecked,
    PointFailed,
    PointMeasured,
    PointProgress,
    PointStarted,
    Reading,
    Readings,
    SamplingStarted,
    TelemetryStarted,
)
from flashscope.profiles.wire.measurement import Correctness, Figure, Measurement, OutputError, Sample

T0 = 5_000_000_000
GIB = 1 << 30
GPU = Device(
    backend="cuda",
    name="NVIDIA H200",
    memory_bytes=141 * GIB,
    compute_capability=(9, 0),
    shared_memory_per_block=232448,
    multiprocessors=132,
    uuid="GPU-0",
)
CPU = Device(backend="cpu", name="a CPU", memory_bytes=64 * GIB, multiprocessors=8)
MACHINE = Machine(
    system="Debian 12",
    python="3.11.2",
    devices=(CPU, GPU),
    driver="580.95",
    cuda="13.0",
    packages={"numpy": "2.3.4", "cupy": "14.2"},
    free_bytes={"cpu": 48 * GIB, "cuda": 139 * GIB},
)
TELEMETRY = TelemetryStarted(source="NVML", device=GPU.name, memory_total=141 * GIB, power_limit_w=700.0)
CPU_TELEMETRY = TelemetryStarted(
    source="psutil",
    device=CPU.name,
    memory_total=64 * GIB,
    missing={"power_w": "psutil does not read power", "sm_clock_mhz": "only GPUs have SMs"},
)
RATES = {"standard": 90.0, "flash1": 160.0, "flash2": 330.0}  # TFLOP/s at long lengths, for shape only
MOST_READINGS = 1_000  # of one point: what takes hours in the script is told of in wider steps
Failure = tuple[FailedStatus, str]


def make_plan(
    kernels: Sequence[str] = ("standard",),
    seqlens: Sequence[int] = (512, 1024, 2048),
    backend: Backend = "cuda",
) -> Plan:
    return Request.of(
        backend,
        kernels=tuple(kernels),
        seqlens=tuple(seqlens),
        dtype="float16" if backend == "cuda" else "float32",
        heads=16,
    ).plan()


def started(plan: Plan) -> PlanStarted:
    predicted = tuple(predicted_bytes(plan, point) for point in plan.points())
    return PlanStarted(
        session_id="f" * 32,
        plan=plan,
        machine=MACHINE,
        started_at="2026-11-21T10:00:00+00:00",
        t_ns=T0,
        predicted_bytes=predicted,
    )


def predicted_bytes(plan: Plan, point: Point) -> int:
    return find_kernel(point.kernel).predicted_bytes(point.problem, plan.backend)


def median_ms(point: Point) -> float:
    rate = RATES.get(point.kernel, 200.0) * point.problem.seqlen_q / (point.problem.seqlen_q + 2000)
    return point.problem.flops / rate / 1e9 + 0.012


def measured(plan: Plan, point: Point) -> Measurement:
    middle = median_ms(point)
    spread = (0.96, 0.98, 0.99, 1.0, 1.0, 1.0, 1.01, 1.03, 1.07, 1.12)
    problem = point.problem
    workspace = predicted_bytes(plan, point) - problem.input_bytes - problem.output_bytes
    figures = {
        "prepare_ms": 30.0,
        "first_run_ms": middle * 3,
        "input_bytes": problem.input_bytes,
        "output_bytes": problem.output_bytes,
        "workspace_bytes": workspace,
        "peak_bytes": predicted_bytes(plan, point),
    }
    return Measurement(
        samples=tuple(Sample(middle * factor, sm_clock_mhz=1900.0 + 40 * factor) for factor in spread),
        timer="CUDA events",
        cold=True,
        figures={key: Figure(value=value, source="a script") for key, value in figures.items()},
        correctness=Correctness(
            outputs=(
                OutputError(output="O", error=3e-4, bound=2e-3),
                OutputError(output="LSE", error=1e-5, bound=1e-3),
            ),
            rows=1024,
            passed=True,
        ),
    )


def ends_well(index: int, t_ns: int, measurement: Measurement) -> tuple[PointChecked, PointMeasured]:
    """The check of a point, and its end."""
    tried = replace(measurement, samples=())
    return (
        PointChecked(index=index, t_ns=t_ns, measurement=tried, free_bytes=GIB),
        PointMeasured(index=index, t_ns=t_ns, samples=measurement.samples),
    )


def script(
    plan: Plan,
    failures: dict[tuple[str, int], Failure] | None = None,
    *,
    stop_before: int | None = None,
    in_flight: bool = False,
    telemetry: TelemetryStarted = TELEMETRY,
) -> list[Event]:
    """Every event of a sweep; `stop_before` leaves it running at that point, `in_flight` inside it."""
    events: list[Event] = [MachineFound(machine=MACHINE), started(plan), telemetry]
    now = T0 + 400_000_000
    events.append(_readings(T0, now, None, plan, telemetry))
    for point in plan.points():
        if point.index == stop_before:
            return [*events, *(_begun(plan, point, now, telemetry) if in_flight else ())]
        ended = now + 250_000_000 + round(median_ms(point) * 20e6)
        failure = (failures or {}).get((point.kernel, point.problem.seqlen_q))
        events.append(PointStarted(index=point.index, t_ns=now))
        if failure is None:
            events.append(_readings(now, ended, point, plan, telemetry))
            events += ends_well(point.index, ended, measured(plan, point))
        else:
            events.append(PointFailed(index=point.index, t_ns=ended, status=failure[0], reason=failure[1]))
        events.append(_readings(ended, ended + 150_000_000, None, plan, telemetry))
        now = ended + 150_000_000
    return [*events, PlanFinished(t_ns=now, outcome="finished")]


def turns_of(plan: Plan) -> list[Event]:
    """The first problem's kernels after their checks, in the middle of their turns."""
    now = T0 + 500_000_000
    points = plan.groups()[0]
    begun = [PointStarted(index=point.index, t_ns=now + point.index * 100_000_000) for point in points]
    sampling = SamplingStarted(
        indices=tuple(point.index for point in points), t_ns=now + len(points) * 100_000_000
    )
    told = [
        PointProgress(index=point.index, phase="measure", done=4, total=10, last_ms=median_ms(point))
        for point in points
    ]
    return [*begun, sampling, *told, _readings(T0, now + 900_000_000, None, plan, TELEMETRY)]


def session_of(events: Iterable[Event]) -> Session:
    """The session these events make."""
    session: Session | None = None
    for event in events:
        if isinstance(event, PlanStarted):
            session = Session.begin(event)
        elif session is not None:
            session.apply(event)
    assert session is not None
    return session


def _begun(plan: Plan, point: Point, now: int, telemetry: TelemetryStarted) -> list[Event]:
    return [
        PointStarted(index=point.index, t_ns=now),
        _readings(now, now + 700_000_000, point, plan, telemetry),
        PointProgress(index=point.index, phase="measure", done=4, total=10, last_ms=median_ms(point) * 1.02),
    ]


def _readings(start: int, end: int, point: Point | None, plan: Plan, telemetry: TelemetryStarted) -> Readings:
    busy = point is not None
    held = predicted_bytes(plan, point) if point is not None else 0
    power = 120.0 if point is None else 300.0 + RATES.get(point.kernel, 200.0)
    values: dict[str, float | None] = {
        "utilisation": 99.0 if busy else 0.0,
        "power_w": power,
        "temperature_c": 44.0 if busy else 36.0,
        "sm_clock_mhz": 1980.0 if busy else 345.0,
    }
    known = {name: None if name in telemetry.missing else value for name, value in values.items()}
    return Readings(
        readings=tuple(
            Reading(
                t_ns=t,
                memory_used=int(0.8 * GIB) + held,
                utilisation=known["utilisation"],
                power_w=known["power_w"],
                temperature_c=known["temperature_c"],
                sm_clock_mhz=known["sm_clock_mhz"],
            )
            for t in range(start, end, max(50_000_000, (end - start) // MOST_READINGS))
        )
    )
