"""On a real GPU: energy agrees with power, GPM's shares are shares, and points tell what surrounded them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import mean
from threading import Event, Thread

import pytest

from flashscope.kernels.cuda.device import describe
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.wire.events import Readings, TelemetryStarted
from flashscope.profiles.worker.instruments.bench import Bench
from flashscope.profiles.worker.sustain import sustain
from flashscope.profiles.worker.telemetry.gpu import NvmlSource
from tests.profiles.heard import Heard, done

pytestmark = pytest.mark.gpu

HOPPER = (9, 0)
LOOP_S = 4.0
PROBLEM = Problem(seqlen_q=8192, seqlen_k=8192, heads=16, head_dim=128, dtype="bfloat16")


@contextmanager
def powers_read() -> Iterator[list[float]]:
    """The GPU's power at 50 readings a second, in W."""
    source, read, ended = NvmlSource(describe().uuid), list[float](), Event()

    def poll() -> None:
        while not ended.wait(0.02):
            power = source.read().power_w
            read.extend([] if power is None else [power])

    thread = Thread(target=poll)
    thread.start()
    try:
        yield read
    finally:
        ended.set()
        thread.join()


def test_the_energy_of_a_loop_is_its_power_times_its_time_within_5_percent(cuda_bench: Bench) -> None:
    import cupy  # noqa: PLC0415 - absent without a GPU

    wide = cupy.random.default_rng(0).standard_normal((8192, 8192), cupy.float32).astype(cupy.float16)
    product = wide @ wide
    with powers_read() as powers:
        begun = time.monotonic()
        figures = sustain(cuda_bench, lambda: cupy.matmul(wide, wide, out=product), LOOP_S, lambda: None)
        assert time.monotonic() - begun < 2 * LOOP_S
    energy, power = figures["energy_mj"], figures["power_w"]
    assert energy.value is not None, energy.missing
    assert power.value is not None, power.missing
    assert power.value == pytest.approx(mean(powers), rel=0.05)
    assert energy.value == pytest.approx(mean(powers) * (figures["sustained_ms"].value or 0), rel=0.05)
    assert power.low is not None
    assert power.high is not None
    assert power.low <= power.value <= power.high < 1.05 * power.low
    assert 0 < power.value < 1.2 * (figures["power_limit_w"].value or 0)


def test_points_of_a_gpu_tell_their_energy_and_what_surrounded_their_samples(heard: Heard) -> None:
    protocol = Protocol(warmup=1, repeats=5, sustain_s=1.5, drift_check=False)
    plan = Plan(backend="cuda", kernels=("flash2",), problems=(PROBLEM,), protocol=protocol)
    (state,) = heard.sweep(plan)
    figures = done(state).figures
    assert figures["energy_mj"].value
    assert 0 <= (figures["slowed"].value or 0) <= 1
    assert 20 < (figures["temperature_c"].value or 0) < 100
    assert figures["other_processes"].value is not None or figures["other_processes"].missing
    assert PointRow.of("cuda", state).trust is not None


def test_shares_lie_between_0_and_1_and_tensor_cores_work_while_flash3_runs(heard: Heard) -> None:
    if (describe().compute_capability or HOPPER) < HOPPER:
        pytest.skip("GPM takes Hopper or newer")
    heard.engine.watch("cuda")
    assert "sm_share" not in heard.until(TelemetryStarted).missing
    protocol = Protocol(warmup=1, repeats=3, sustain_s=1.5, drift_check=False)
    plan = Plan(backend="cuda", kernels=("flash3",), problems=(PROBLEM,), protocol=protocol)
    done(*heard.sweep(plan))
    readings = [reading for event in heard.all(Readings) for reading in event.readings]
    for field in ("sm_share", "tensor_share", "dram_share"):
        shares = [share for reading in readings if (share := getattr(reading, field)) is not None]
        assert shares, field
        assert all(0 <= share <= 1 for share in shares), (field, max(shares))
        assert max(shares) > 0, field
    busiest = max(readings, key=lambda reading: reading.sm_share or 0)
    assert (busiest.sm_share or 0) > 0.5
    assert (busiest.tensor_share or 0) > 0.2
