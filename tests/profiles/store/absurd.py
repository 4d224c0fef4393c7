"""Sessions that no machine measured, each consistent: a recorder wrote it, and its digests are right."""

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from flashscope.kernels.catalogue.registry import KERNELS
from flashscope.kernels.workload.block_mask import BlockMask
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import DTYPES, Backend, Problem
from flashscope.profiles.plan.machine import Machine
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.wire.ceilings import EXPONENTIALS, LEVELS, Ceiling, Ceilings, matmul_key
from flashscope.profiles.wire.events import (
    CeilingsMeasured,
    Event,
    PlanFinished,
    PlanStarted,
    PointMeasured,
    PointStarted,
    Reading,
    Readings,
    SamplingStarted,
    TelemetryStarted,
)
from flashscope.profiles.wire.measurement import Correctness, Figure, Measurement, OutputError, Sample
from flashscope.profiles.wire.traffic import Traffic
from tests.profiles.sessions import MACHINE, ends_well
from tests.profiles.store.builders import plan_started, recorded

MOST = 2**63 - 1  # of an integer of SQLite
TIMES = tuple(1.0 + (k * 7919 % 1000) / 1e4 for k in range(12))
OURS = tuple(spec.name for spec in KERNELS if spec.family != "library")
FEW = ("standard", "flash1", "flash2")


def _samples(times: Sequence[float], count: int | None = None) -> tuple[Sample, ...]:
    taken = islice(cycle(times), count or len(times))
    return tuple(Sample(ms, round=k, t_ns=k, sm_clock_mhz=1500.0) for k, ms in enumerate(taken))


def _measurement(**fields: Any) -> Measurement:
    """What a point yields, unless it is said otherwise."""
    figures = dict.fromkeys(
        ("input_bytes", "output_bytes", "workspace_bytes"), Figure(value=4096, source="x")
    )
    errors = tuple(
        OutputError(output=name, error=1e-6, bound=1e-3, place=(0, 0, 0)) for name in ("O", "O of a row")
    )
    right = Correctness(outputs=errors, rows=1, passed=True)
    usual = Measurement(timer="x", cold=True, figures=figures, correctness=right, samples=_samples(TIMES))
    return replace(usual, **fields)


def sweep(
    *problems: Problem,
    kernels: Sequence[str] = FEW,
    backend: Backend = "cpu",
    measurement: Measurement | None = None,
    machine: Machine = MACHINE,
    more: Sequence[Event] = (),
    **protocol: Any,
) -> list[Event]:
    """A sweep in turns of these problems, of which every point is done."""
    plan = Plan(
        backend=backend,
        kernels=tuple(kernels),
        problems=problems or (Problem(seqlen_q=64, seqlen_k=64), Problem(seqlen_q=128, seqlen_k=128)),
        protocol=Protocol(**{"drift_check": False, **protocol}),
    )
    events: list[Event] = [replace(plan_started(plan), machine=machine), *more]
    for group in plan.groups():
        t_ns = 1000 * (group[0].index + 1)
        events += [PointStarted(index=point.index, t_ns=t_ns) for point in group]
        of_each = [ends_well(point.index, t_ns + 1, measurement or _measurement()) for point in group]
        events += [checked for checked, _done in of_each]
        events.append(SamplingStarted(indices=tuple(point.index for point in group), t_ns=t_ns + 1))
        events += [done for _checked, done in of_each]
    return [*events, PlanFinished(t_ns=10**9, outcome="finished")]


def _everywhere(problem: Problem) -> Callable[[], list[Event]]:
    """A problem of every kernel of ours on a GPU."""
    return lambda: sweep(problem, kernels=OURS, backend="cuda")


def _blocks(rows: int, columns: int) -> bytes:
    kept: bytes = (np.outer(np.arange(rows), 1 + np.arange(columns)) % 3 == 0).tobytes()
    return kept


def _masked(seqlen_q: int, seqlen_k: int, block_q: int, block_k: int, **more: Any) -> Problem:
    shape = -(-seqlen_q // block_q), -(-seqlen_k // block_k)
    mask = BlockMask(block_q=block_q, block_k=block_k, shape=shape, kept=_blocks(*shape))
    return Problem(seqlen_q=seqlen_q, seqlen_k=seqlen_k, block_mask=mask, **more)


def _lengths(count: int, longest: int) -> tuple[int, ...]:
    return tuple(1 + k * 7919 % longest for k in range(count))


def _ragged(count: int, longest: int, **more: Any) -> Problem:
    lengths = (longest, *_lengths(count - 1, longest))
    return Problem(
        seqlen_q=longest, seqlen_k=longest, batch=count, query_lengths=lengths, key_lengths=lengths, **more
    )


def _figures(value: float, **more: Any) -> Callable[[], list[Event]]:
    """Every figure of every quantity has this value."""
    figures = {key: Figure(value=value, low=value, high=value, source="x") for key in QUANTITIES}
    return lambda: sweep(backend="cuda", measurement=_measurement(figures=figures), **more)


def _timed(*times: float) -> Callable[[], list[Event]]:
    return lambda: sweep(measurement=_measurement(samples=_samples(times, 12)))


def _judged(error: float, bound: float) -> Callable[[], list[Event]]:
    outputs = tuple(
        OutputError(output=name, error=error, bound=bound) for name in ("O", "LSE", "dQ", "O of a row")
    )
    right = Correctness(outputs=outputs, rows=MOST, passed=True)
    return lambda: sweep(measurement=_measurement(correctness=right))


def _reached(rate: float, cache: int | None) -> Callable[[], list[Event]]:
    keys = (*LEVELS, EXPONENTIALS, *map(matmul_key, DTYPES))
    rates = {key: Ceiling(figure=Figure(value=rate, source="x"), sm_clock_mhz=rate) for key in keys}
    told = CeilingsMeasured(ceilings=Ceilings(rates=rates, cache_bytes=cache, took_ms=rate))
    return lambda: sweep(more=[told])


def _read(*moments: int, **values: Any) -> Callable[[], list[Event]]:
    readings = tuple(Reading(t_ns=t_ns, **values) for t_ns in moments)
    watched = TelemetryStarted(
        source="x", device="x", memory_total=values.get("memory_used"), power_limit_w=values.get("power_w")
    )
    return lambda: sweep(more=[watched, Readings(readings=readings)])


def _at(start: int, sampling: int, end: int) -> Callable[[], list[Event]]:
    """Every moment of every point, and of its samples."""

    def events() -> list[Event]:
        told: list[Event] = []
        for event in sweep():
            match event:
                case PointStarted():
                    told.append(replace(event, t_ns=start))
                case SamplingStarted():
                    told.append(replace(event, t_ns=sampling))
                case PointMeasured():
                    samples = tuple(replace(one, t_ns=end, sm_clock_mhz=None) for one in event.samples)
                    told.append(replace(event, t_ns=end, samples=samples))
                case PlanFinished():
                    told.append(replace(event, t_ns=end))
                case _:
                    told.append(event)
        return told

    return events


def _counted(bin_ns: int, run_ns: int, amount: int, bins: int) -> Callable[[], list[Event]]:
    curve = Traffic(bin_ns=bin_ns, run_ns=run_ns, bins=((amount, amount),) * bins)
    return lambda: sweep(backend="cuda", measurement=_measurement(traffic=curve))


def _predicted() -> list[Event]:
    started, *others = sweep()
    assert isinstance(started, PlanStarted)
    return [replace(started, predicted_bytes=(MOST,) * 6), *others]


def _on(**fields: Any) -> Callable[[], list[Event]]:
    """On a device of these numbers."""
    device = Device(**{"backend": "cuda", "name": "x", "memory_bytes": 1, **fields})
    return lambda: sweep(
        backend="cuda", machine=replace(MACHINE, devices=(device,), free_bytes={"cuda": device.memory_bytes})
    )


ABSURD: Mapping[str, Callable[[], list[Event]]] = {
    "one query and 2^52 keys": _everywhere(Problem(seqlen_q=1, seqlen_k=1 << 52)),
    "2^52 queries and one key": _everywhere(Problem(seqlen_q=1 << 52, seqlen_k=1, dtype="bfloat16")),
    "2^52 queries and one key on a CPU": lambda: sweep(Problem(seqlen_q=1 << 52, seqlen_k=1), kernels=OURS),
    "2^30 queries and one key on a CPU": lambda: sweep(Problem(seqlen_q=1 << 30, seqlen_k=1), kernels=OURS),
    "a square of 2^29": _everywhere(Problem(seqlen_q=1 << 29, seqlen_k=1 << 29, head_dim=8, dtype="float16")),
    "a causal square of 2^29": _everywhere(
        Problem(seqlen_q=1 << 29, seqlen_k=1 << 29, head_dim=8, causal=True)
    ),
    "a window in a rectangle": _everywhere(
        Problem(
            seqlen_q=(1 << 40) + 7,
            seqlen_k=(1 << 17) + 3,
            head_dim=16,
            window=(1000, 1 << 16),
            dtype="bfloat16",
        )
    ),
    "a window wider than all": _everywhere(
        Problem(seqlen_q=1 << 20, seqlen_k=1 << 20, window=(1 << 62, 1 << 62))
    ),
    "2^31 sequences": _everywhere(Problem(seqlen_q=16, seqlen_k=16, batch=(1 << 31) - 1, dtype="bfloat16")),
    "2^40 sequences of one token": lambda: sweep(
        Problem(seqlen_q=1, seqlen_k=1, batch=1 << 40), kernels=OURS
    ),
    "2^40 heads on one": _everywhere(
        Problem(seqlen_q=1, seqlen_k=1, heads=1 << 40, kv_heads=1, head_dim=8, dtype="float16")
    ),
    "a head dim of 2^50": _everywhere(Problem(seqlen_q=1, seqlen_k=1, head_dim=1 << 50)),
    "backward of 2^50 rows": _everywhere(
        Problem(seqlen_q=1 << 50, seqlen_k=2, passes="both", dtype="bfloat16")
    ),
    "2^40 pages": _everywhere(
        Problem(seqlen_q=1, seqlen_k=1 << 44, page_size=16, head_dim=64, dtype="bfloat16")
    ),
    "a block of 2^50 keys": _everywhere(_masked(1, 1 << 52, 1, 1 << 50)),
    "blocks of one pair": lambda: sweep(_masked(1500, 1500, 1, 1), _masked(1501, 1501, 1, 1, causal=True)),
    "blocks of one pair on a GPU": _everywhere(_masked(1000, 1000, 1, 1, dtype="bfloat16")),
    "blocks over 2^40 rows": _everywhere(_masked(1 << 40, 1 << 10, 1 << 30, 1, dtype="bfloat16")),
    "5,000 lengths": _everywhere(_ragged(5_000, 8191, dtype="bfloat16")),
    "lengths of 2^26": _everywhere(_ragged(50, 1 << 26, head_dim=16, dtype="bfloat16")),
    "50,000 sequences in a batch": lambda: sweep(_ragged(50_000, 500)),
    "a scale that overflows": lambda: sweep(Problem(seqlen_q=8, seqlen_k=8, scale=3.3e38)),
    "10,000 rounds": lambda: sweep(measurement=_measurement(samples=_samples(TIMES, 10_000))),
    "50,000 rounds": lambda: sweep(
        Problem(seqlen_q=64, seqlen_k=64),
        kernels=FEW[:2],
        measurement=_measurement(samples=_samples(TIMES, 50_000)),
    ),
    "1,000 rounds of every kernel": lambda: sweep(
        Problem(seqlen_q=64, seqlen_k=64),
        kernels=OURS,
        measurement=_measurement(samples=_samples(TIMES, 1000)),
    ),
    "rounds that are numbered without end": lambda: sweep(
        measurement=_measurement(
            samples=tuple(replace(one, round=MOST - k) for k, one in enumerate(_samples(TIMES)))
        )
    ),
    "one round for all": lambda: sweep(
        measurement=_measurement(samples=tuple(replace(one, round=7) for one in _samples(TIMES)))
    ),
    "every sample rejected": lambda: sweep(
        measurement=_measurement(samples=tuple(replace(one, rejected="no") for one in _samples(TIMES)))
    ),
    "times of 1e-300": _timed(1e-300),
    "times of 1.7e308": _timed(1.7e308),
    "times next to 0 and to all": _timed(5e-324, 1.7e308, 1.0),
    "times from a femtosecond to years": _timed(1e-9, 1e9),
    "alike times": _timed(1.0),
    "negative errors": _judged(-1.0, 1.0),
    "negative bounds": _judged(-2.0, -1.0),
    "errors of 0": _judged(0.0, 0.0),
    "errors of 1e308": _judged(1e308, 1.7e308),
    "figures of 0": _figures(0),
    "negative figures": _figures(-5),
    "figures of -1e308": _figures(-1e308),
    "figures of 1.7e308": _figures(1.7e308),
    "figures of 5e-324": _figures(5e-324),
    "figures of 2^63 - 1": _figures(MOST),
    "figures of -2^63": _figures(-MOST - 1),
    "figures that are NaN": _figures(float("nan")),
    "infinite figures": _figures(float("inf")),
    "rates of 1e-300": _reached(1e-300, 0),
    "rates of 1.7e308": _reached(1.7e308, MOST),
    "rates below 0": _reached(-1.0, -1),
    "rates beyond all": _reached(float("inf"), 1 << 70),
    "readings of 0": _read(0, 0, 0, memory_used=0, power_w=0.0, sm_clock_mhz=0.0, throttle=()),
    "readings of all there is": _read(
        -MOST - 1,
        0,
        MOST,
        memory_used=MOST,
        power_w=1.7e308,
        utilisation=1.7e308,
        temperature_c=-1e308,
        sm_clock_mhz=1.7e308,
        throttle=("x" * 500,) * 5,
        sm_share=1e300,
        dram_share=-1e300,
        tensor_share=5e-324,
    ),
    "readings backwards": _read(*range(10_000, 0, -1), memory_used=-1, power_w=-1e300, temperature_c=1e300),
    "moments of all there is": _at(-MOST - 1, 0, MOST),
    "ends before begins": _at(MOST, 0, -MOST - 1),
    "one moment": _at(0, 0, 0),
    "traffic of all there is": _counted(MOST, MOST, MOST, 1),
    "traffic in bins of 1 ns": _counted(1, MOST, 1 << 61, 2000),
    "traffic of nothing": _counted(1, 1, 0, 0),
    "a device of nothing": _on(memory_bytes=0, multiprocessors=0, l2_bytes=0, compute_capability=(0, 0)),
    "a device of all there is": _on(
        memory_bytes=MOST, multiprocessors=MOST, l2_bytes=MOST, compute_capability=(MOST, MOST)
    ),
    "a device below 0": _on(
        memory_bytes=-MOST, multiprocessors=-1, l2_bytes=-MOST, compute_capability=(-1, -1)
    ),
    "no device at all": lambda: sweep(machine=replace(MACHINE, devices=(), free_bytes={})),
    "a protocol without end": lambda: sweep(
        repeats=1 << 70,
        warmup=1 << 70,
        time_cap_s=1e308,
        deadline_s=1e308,
        sustain_s=1e308,
        fit_margin=-1e308,
    ),
    "60 kernels": lambda: sweep(kernels=[f"kernel {k}" for k in range(60)]),
    "100 problems": lambda: sweep(
        *(Problem(seqlen_q=n, seqlen_k=n) for n in range(1, 101)), kernels=["flash2"]
    ),
    "lengths as far apart as can be": lambda: sweep(
        Problem(seqlen_q=1, seqlen_k=1),
        Problem(seqlen_q=1 << 28, seqlen_k=1 << 28),
        Problem(seqlen_q=1, seqlen_k=1 << 50),
    ),
    "predicted bytes of all there is": _predicted,
}


def absurd(folder: Path, name: str) -> Path:
    """The file of one of them, alone in a folder."""
    folder.mkdir(exist_ok=True)
    return recorded(folder / "absurd.flashscope", *ABSURD[name]())
